"""What each theory says about a task with an encoding, as opinions for the card."""
