"""What a ladder of shifts shows: from the points of many models and the distances of the levels to claims."""
