"""What is inside a trained model: its parts, how far they stretch distances, and what an index shift does."""
