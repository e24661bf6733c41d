"""The locality of a formulation: R, the windows that settle a step, and a proof where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.locality.consistency import Consistency, Verdict, consistency
from lengthwise.oracle.locality.distance import Distance, distance
from lengthwise.oracle.locality.machines import Comparison, compare, machine_of
from lengthwise.oracle.locality.proof import Proof, prove
from lengthwise.oracle.locality.steps import Steps, formulation_steps
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.formulations.formulation import Formulation

WIDTHS = (1, 3, 5, 7, 9, 11)
_LONG = 4  # instances ten times as long on which a bimachine is compared with the step


@dataclass(frozen=True)
class Locality:
    """Everything found about one formulation. `by_width` has one entry for each width looked at, narrow to wide."""

    name: str
    distance: Distance
    by_width: tuple[Consistency, ...]
    proof: Proof | None = None
    comparison: Comparison | None = None

    @property
    def best(self) -> Consistency | None:
        """The fewest windows, and of these the narrowest; a width whose windows were all seen goes before others."""
        settled = [found for found in self.by_width if found.settled]
        return min(settled, key=lambda found: (found.least_size is None, found.n or 0, found.r), default=None)

    @property
    def verdict(self) -> Verdict | None:
        """PROVED by a bimachine; CONSISTENT with the best windows; REFUTED at every width that the sizes can judge, one
        of which is wider than a column; None: unknown, as when the number of windows grows."""
        if self.proof is not None and self.proof.radius is not None:
            return "PROVED"
        if self.best is not None:
            return "CONSISTENT"
        judged = [found for found in self.by_width if not found.thin]
        refuted = all(found.verdict == "REFUTED" for found in judged) and any(found.r > 1 for found in judged)
        return "REFUTED" if refuted else None

    @property
    def window(self) -> tuple[int, int] | None:
        """(n, r): the proved one where there is one, else the best one found."""
        if self.proof is not None and self.proof.r is not None:
            return 1, self.proof.r
        return None if self.best is None or self.best.n is None else (self.best.n, self.best.r)

    def claims(self) -> list[Claim]:
        claims = [self.distance.claim(), *(found.claim() for found in self.by_width)]
        return [self._proved(), *claims] if self.proof is not None else claims

    def claim(self) -> Claim:
        """The deciding one: the proof, the best window, or the last width."""
        if self.proof is not None:
            return self._proved()
        return (self.best or self.by_width[-1]).claim() if self.by_width else self.distance.claim()

    def _proved(self) -> Claim:
        assert self.proof is not None
        claim = self.proof.claim(self.name)
        if self.comparison is None:
            return claim
        looked = f"{self.comparison.states} states, all up to size {self.comparison.up_to} and long random ones"
        checked = Assumption(f"the bimachine is the step, and its domain holds the states ({looked})", "checked")
        return Claim(
            claim.title, claim.value, claim.unit, claim.kind, claim.status,
            assumptions=(checked,), reference=claim.reference, evidence=claim.evidence,
        )  # fmt: skip

    def explain(self) -> list[str]:
        lines = list(self.distance.explain())
        if self.proof is not None:
            lines += self.proof.explain()
        for found in self.by_width:
            lines += found.explain()
        return lines

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verdict": self.verdict,
            "window": None if self.window is None else list(self.window),
            "distance": self.distance.plain(),
            "by_width": [found.plain() for found in self.by_width],
            "proof": None if self.proof is None else self.proof.plain(),
        }


def settle(
    subject: Formulation | Steps,
    sizes: Sequence[int],
    widths: Sequence[int] = WIDTHS,
    most: int = 4,
    steps: Steps | None = None,
    finished: bool = False,
    further: Sequence[int] = (),
) -> Locality:
    """R, and for growing widths how many windows settle a step, until one window does or the states are too short.

    The steps of a formulation are all of these sizes, unless others are given as `steps`. `finished` counts leaving a
    finished state as it is as a step too, which a model that is run on its own output has to know.
    What is settled at these sizes is put to the test at the `further` ones, and counts only if it is settled there too.
    A formulation with a known bimachine is also proved or refuted for all sizes, without further ones; its bimachine is
    compared with the step at these sizes and on random states ten times as long.
    """
    machine = machine_of(subject, finished) if isinstance(subject, Formulation) else None
    steps = steps or (formulation_steps(subject, finished=finished) if isinstance(subject, Formulation) else subject)
    found = []
    for r in widths:
        found.append(consistency(steps, r, sizes, most))
        if (found[-1].settled or found[-1].thin) and further and machine is None:
            found[-1] = consistency(steps, r, [*sizes, *further], most)
        if found[-1].thin or (found[-1].settled and found[-1].n == 1):
            break
    proof = comparison = None
    if isinstance(subject, Formulation) and machine is not None:
        comparison = compare(machine, steps, sizes)
        compare(machine, formulation_steps(subject, _LONG, finished=finished), [10 * max(sizes)])
        proof = prove(machine)
    return Locality(steps.name, distance(steps, sizes), tuple(found), proof, comparison)
