"""The eight algorithmic tasks of Huang et al. 2025, with their sampling choices."""
