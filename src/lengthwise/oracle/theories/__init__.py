"""One file a theory: what it has to say about a task with an encoding, as opinions for the card."""
