"""What the commands do: one module per command, imported when its options have been read, and what they share."""
