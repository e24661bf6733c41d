"""Two places that no number of windows tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.locality.steps import written
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.tasks.formulations.formulation import State


@dataclass(frozen=True)
class Witness:
    """Two places with the same anchor window and different labels, and all windows of the first state in the second."""

    r: int
    state: State
    position: int
    label: str
    other_state: State
    other_position: int
    other_label: str
    guessed: bool = False

    def holds(self) -> bool:
        """Looked at from the beginning, on the states themselves."""
        one, other = windows_of(self.state, self.r), windows_of(self.other_state, self.r)
        same_anchor = one[self.position] == other[self.other_position]
        return same_anchor and self.label != self.other_label and set(one) <= set(other)

    def explain(self) -> list[str]:
        return [
            f"`{written(self.state, self.position)}` needs {self.label!r} at the place in brackets, and",
            f"`{written(self.other_state, self.other_position)}` needs {self.other_label!r} there;",
            f"the windows of {self.r} around both places are the same, and every window of {self.r} of the first "
            "occurs in the second, so no number of windows tells them apart.",
            *(
                ["The labels were found by comparing states; the file can give its own (labels)."]
                if self.guessed
                else []
            ),
        ]

    def plain(self) -> dict[str, Any]:
        return {
            "r": self.r,
            "state": written(self.state, self.position),
            "label": self.label,
            "other_state": written(self.other_state, self.other_position),
            "other_label": self.other_label,
        }
