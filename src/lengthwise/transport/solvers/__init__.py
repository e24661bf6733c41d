"""One way to solve a transport problem a file."""
