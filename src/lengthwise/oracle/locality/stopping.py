"""Whether windows settle where a chain stops, apart from whether they settle its steps.

A model that is run on its own output has to leave a finished state as it is, or to end its text. A layout whose every
step is local can still fail there: a mark that flips at each step flips for ever unless the model sees that the whole
state is finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.oracle.locality.settle import WIDTHS, Locality, settle
from lengthwise.oracle.locality.steps import Steps, is_end, without_ends
from lengthwise.records import Claim


@dataclass(frozen=True)
class Stopping:
    """`local`: windows settle where to stop; None: not known, since the steps themselves are not settled or no chain
    ends. `steps` is the locality of the steps without their ends, where this is what differs."""

    local: bool | None
    sentence: str
    steps: Locality | None = None

    def claim(self, name: str) -> Claim:
        return Claim(
            key=f"{name}: stopping is local",
            value=self.local,
            unit="",
            kind="measured",
            status="unknown" if self.local is None else "holds" if self.local else "refuted",
            evidence={"note": self.sentence},
        )


def stopping(
    found: Locality, steps: Steps, sizes: Sequence[int], widths: Sequence[int] = WIDTHS, most: int = 4
) -> Stopping:
    """Whether stopping is local, given the locality of the steps with their ends."""
    if not any(is_end(move) for size in sizes for move in steps.moves(size)):
        return Stopping(None, "No chain ends in these steps, so that stopping is not judged.")
    if found.window is not None:
        return Stopping(True, "The same windows settle where to stop.")
    inner = settle(without_ends(steps), sizes, widths, most)
    if inner.window is None:
        return Stopping(None, "Windows do not settle the steps before the last either.")
    n, r = inner.window
    windows = f"one window of {r} columns settles" if n == 1 else f"{n} windows of {r} columns settle"
    if found.verdict != "REFUTED":
        return Stopping(None, f"Before the last step {windows} every step; for the last this is not known.", inner)
    return Stopping(False, f"Stopping is what no windows settle: {windows} every step before the last.", inner)
