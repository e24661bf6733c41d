"""What a run really does: accuracy by size with intervals, the reach, and the spread over seeds."""
