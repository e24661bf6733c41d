"""Tables of the ladder reports."""
