"""The sections of a report on ladders of shifts: one section a file, from the evidence of a study and its findings."""
