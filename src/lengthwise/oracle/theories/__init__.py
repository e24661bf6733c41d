"""One file per theory: what it says about a task with an encoding, as opinions for the card."""
