"""The locality of a formulation: R, the windows that settle a step, a proof where there is one, and whether windows
also settle where a chain stops.

A model that is run on its own output has to leave a finished state as it is, or to end its text. A layout whose every
step is local can still fail there: a mark that flips at each step flips forever unless the model sees that the whole
state is finished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.consistency import Consistency, Verdict, consistency
from lengthwise.oracle.locality.distance import Distance, distance
from lengthwise.oracle.locality.machines import MachineCheck, compare, machine_of
from lengthwise.oracle.locality.proof import WindowProof, prove
from lengthwise.oracle.locality.steps import Steps, formulation_steps, is_end, without_ends
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.formulations.formulation import Formulation

WIDTHS = (1, 3, 5, 7, 9, 11)
_LONG = 4  # instances ten times as long on which a bimachine is compared with the step
explain(
    {
        "locality.machine_checked": "the bimachine is the step, and its domain contains the states (checked on "
        "{states} states, all up to size {up_to} and long random ones)",
        "locality.stopping": "{name}: stopping is local",
        "locality.no_end": "No chain ends in these steps, so stopping is not judged.",
        "locality.stops_alike": "The same windows settle where to stop.",
        "locality.steps_unsettled": "Windows do not settle the steps before the last either.",
        "locality.stop_unknown": "{windows} every step before the last; for the last this is not known.",
        "locality.stop_unsettled": "No windows settle where to stop; {windows} every step before that.",
        "locality.one_settles": "one window of {r} columns settles",
        "locality.several_settle": "{n} windows of {r} columns settle",
    }
)


@dataclass(frozen=True)
class Locality:
    """Everything found about one formulation. `by_width` has one entry for each width examined, narrow to wide."""

    name: str
    distance: Distance
    by_width: tuple[Consistency, ...]
    proof: WindowProof | None = None
    comparison: MachineCheck | None = None

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

    def claim(self) -> Claim:
        """The deciding one: the proof, the best window, or the last width."""
        if self.proof is not None:
            return self._proved(self.proof)
        return (self.best or self.by_width[-1]).claim() if self.by_width else self.distance.claim()

    def _proved(self, proof: WindowProof) -> Claim:
        if self.comparison is None:
            return proof.claim(self.name)
        looked = {"states": self.comparison.states, "up_to": self.comparison.up_to}
        return proof.claim(self.name, Assumption("locality.machine_checked", "checked", looked))

    def explain(self) -> list[str]:
        parts = (self.distance, *([self.proof] if self.proof is not None else []), *self.by_width)
        return [line for part in parts for line in part.explain()]


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
    What is settled at these sizes is tested at the `further` ones, and counts only if it is settled there too.
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


@dataclass(frozen=True)
class Stopping:
    """`local`: windows settle where to stop; None: not known, since the steps themselves are not settled or no chain
    ends. `steps` is the locality of the steps without their ends, where this is what differs; `reason` is the key of
    the sentence that says why."""

    local: bool | None
    reason: str
    steps: Locality | None = None

    @property
    def sentence(self) -> str:
        n, r = (self.steps and self.steps.window) or (0, 0)
        windows = sentence("locality.one_settles" if n == 1 else "locality.several_settle", {"n": n, "r": r})
        text = sentence(self.reason, {"windows": windows})
        return text[:1].upper() + text[1:]

    def claim(self, name: str) -> Claim:
        status = "unknown" if self.local is None else "holds" if self.local else "refuted"
        evidence = {"name": name, "note": self.sentence}
        return Claim("locality.stopping", self.local, "", "measured", status, evidence=evidence)


def stopping(
    found: Locality, steps: Steps, sizes: Sequence[int], widths: Sequence[int] = WIDTHS, most: int = 4
) -> Stopping:
    """Whether stopping is local, given the locality of the steps with their ends."""
    if not any(is_end(move) for size in sizes for move in steps.moves(size)):
        return Stopping(None, "locality.no_end")
    if found.window is not None:
        return Stopping(True, "locality.stops_alike")
    inner = settle(without_ends(steps), sizes, widths, most)
    if inner.window is None:
        return Stopping(None, "locality.steps_unsettled")
    if found.verdict != "REFUTED":
        return Stopping(None, "locality.stop_unknown", inner)
    return Stopping(False, "locality.stop_unsettled", inner)
