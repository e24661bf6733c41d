"""Whether the tokens of a formulation come to an end as the sizes grow."""

from __future__ import annotations

from collections.abc import Iterable

from lengthwise.oracle.locality.steps import Steps


def new_tokens(steps: Steps, sizes: Iterable[int]) -> dict[int, int]:
    """How many tokens come for the first time at each size."""
    known: set[str] = set()
    counts = {}
    for size in sizes:
        before = len(known)
        known.update(token for move in steps.moves(size) for column in move.state for token in column)
        counts[size] = len(known) - before
    return counts


def alphabet_note(counts: dict[int, int], last: int = 3) -> str | None:
    """A sentence if each of the last sizes still brought new tokens: then no finite set of windows covers the steps."""
    sizes = list(counts)[-last:]
    if len(counts) <= last or not all(counts[size] for size in sizes):
        return None
    return (
        f"new tokens keep coming as the size grows ({', '.join(f'{counts[size]} at {size}' for size in sizes)}): over "
        "an alphabet without end no finite set of windows covers every step (Theorem 3.1.2); write numbers in digits"
    )
