"""How much of a study was learned: what must be said before anything is said about longer inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.studies.cells import Cell


@dataclass(frozen=True)
class Learning:
    """The cells with a finished run: learned, not learned, and those of tasks whose answers are drawn at random."""

    learned: tuple[Cell, ...]
    not_learned: tuple[Cell, ...]
    drawn: tuple[Cell, ...]

    @property
    def judged(self) -> int:
        """How many cells were learned or not."""
        return len(self.learned) + len(self.not_learned)

    @property
    def little(self) -> bool:
        """Whether fewer than half of the cells were learned, which is then the first thing to say."""
        return 2 * len(self.learned) < self.judged

    @property
    def sentence(self) -> str:
        """How many cells were learned, what the others mean, and what to do; empty where all were learned."""
        learned, judged = len(self.learned), self.judged
        if learned == judged:
            return ""
        cells = f"{judged} {'cell' if judged == 1 else 'cells'} (a task with an encoding)"
        if learned:
            start = f"{'Only ' if self.little else ''}{learned} of {cells} {'was' if learned == 1 else 'were'} learned"
        else:
            start = f"None of {cells} was learned" if judged > 1 else f"The only {cells[2:]} was not learned"
        others = "in the others " if learned else ""
        return (
            f"{start}: {others}exact match falls below {THRESHOLD:.0%} inside the training range, which says nothing "
            f"about longer inputs. To learn more, {ADVICE}."
        ).replace("%", " %")

    @property
    def about_drawn(self) -> str:
        """What exact match says of tasks whose answers are drawn at random; empty where there are none."""
        tasks = list(dict.fromkeys(cell.task for cell in self.drawn))
        if not tasks:
            return ""
        verb = "draws its" if len(tasks) == 1 else "draw their"
        return (
            f"{' and '.join(tasks)} {verb} answers at random, so that no model has them all right: exact match and "
            "reach are not meaningful there; the loss is."
        )

    def plain(self) -> dict[str, Any]:
        return {
            "learned": len(self.learned),
            "not_learned": len(self.not_learned),
            "answers_drawn": len(self.drawn),
            "little": self.little,
        }


def learning(cells: Iterable[Cell]) -> Learning:
    """What was learned of these cells; those without a finished run are left out."""
    done = [cell for cell in cells if cell.done]
    return Learning(
        learned=tuple(cell for cell in done if cell.learned),
        not_learned=tuple(cell for cell in done if cell.learned is False),
        drawn=tuple(cell for cell in done if not cell.certain),
    )
