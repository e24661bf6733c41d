"""Theorem 3.5 of Xiao and Liu, checked on the states of a formulation instead of taken for granted.

The theorem says that windows of 4R + 1 columns settle a step if R is finite and every column takes part in at most one
step. Its premise is counted here from the sources of each step, and its conclusion is tested by looking for two
positions with the same window and different labels. Where the premise holds and the conclusion does not, the layout is
a counterexample: reducing only the leftmost part of an expression is one, as what comes first is not a local question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.steps import Steps, without_ends
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.formulation import State, StepMove

THEOREM = Reference("xiao2024", "Theorem 3.5, as secondary sources report it")
explain(
    {
        "premise.one_step": "{name}: most steps of one state that a column takes part in (Theorem 3.5 asks for 1)",
        "premise.four_r": "{name}: one window of 4R + 1 = {r} columns settles every step, as Theorem 3.5 says",
        "premise.examined": "the states of the sizes {sizes}, which were examined",
        "premise.shared": "In `{state}` the column in brackets is read by {steps} steps.",
        "premise.clash": "In `{one}` and `{other}` the columns in brackets have the same window of {r}, but the labels "
        "{label!r} and {other_label!r}: a counterexample to the theorem as it is stated.",
        "premise.not_met": "The premise is not met, so the theorem says nothing here.",
        "premise.confirmed": "No two positions with the same window have different labels.",
    }
)


@dataclass(frozen=True)
class Clash:
    """Two positions with the same window and different labels."""

    r: int
    one: tuple[State, int, str]
    other: tuple[State, int, str]

    @property
    def real(self) -> bool:
        """Looked at again, from the two states alone."""
        (state, place, label), (second, at, said) = self.one, self.other
        return windows_of(state, self.r)[place] == windows_of(second, self.r)[at] and label != said


def most_shared(steps: Steps, sizes: Sequence[int]) -> tuple[int, str]:
    """The largest number of steps of one state that one column takes part in, and the sentence that shows where. A
    step is a column that is computed and not carried over."""
    most, example = 0, ""
    for size in sizes:
        for move in steps.moves(size):
            readers = Counter(source for place in computed(move) for source in move.sources[place])
            for place, count in readers.items():
                if count > most:
                    values = {"state": written(move.state, place), "steps": count}
                    most, example = count, sentence("premise.shared", values)
    return most, example


def computed(move: StepMove) -> list[int]:
    """The columns of the next state that a step made, without those that it carried over."""
    return [
        place
        for place, sources in enumerate(move.sources)
        if not (len(sources) == 1 and move.after[place] == move.state[sources[0]])
    ]


def find_clash(steps: Steps, r: int, sizes: Sequence[int]) -> Clash | None:
    """The first two positions with the same window of r columns and different labels."""
    seen: dict[State, tuple[State, int, str]] = {}
    for size in sizes:
        for move in steps.moves(size):
            for place, (window, label) in enumerate(zip(windows_of(move.state, r), move.labels, strict=True)):
                if label is None:
                    continue
                before = seen.setdefault(window, (move.state, place, label))
                if before[2] != label:
                    return Clash(r, before, (move.state, place, label))
    return None


def premise_claims(steps: Steps, sizes: Sequence[int], distance: int | None) -> list[Claim]:
    """Whether a column takes part in at most one step and, where R is finite, whether windows of 4R + 1 settle every
    step before the last."""
    if not steps.sourced or not sizes:
        return []
    steps = without_ends(steps)
    most, example = most_shared(steps, sizes)
    met = most <= 1
    examined = Assumption("premise.examined", "checked", {"sizes": f"{sizes[0]} to {sizes[-1]}"})
    evidence = {"name": steps.name, "sizes": list(sizes)}
    status = "holds" if met else "refuted"
    note = {} if met else {"note": example}
    found = [Claim("premise.one_step", most, "", "measured", status, None, (examined,), THEOREM, {**evidence, **note})]
    if distance is None:
        return found
    r = 4 * distance + 1
    evidence |= {"r": r, "distance": distance}
    clash = find_clash(steps, r, sizes) if met else None
    if not met:
        evidence["note"] = sentence("premise.not_met")
        claim = Claim("premise.four_r", None, "", "measured", "vacuous", None, (examined,), THEOREM, evidence)
    elif clash is None:
        evidence["note"] = sentence("premise.confirmed")
        claim = Claim("premise.four_r", True, "", "measured", "holds", None, (examined,), THEOREM, evidence)
    else:
        assert clash.real
        states = {"one": written(*clash.one[:2]), "other": written(*clash.other[:2])}
        labels = {"label": clash.one[2], "other_label": clash.other[2]}
        evidence |= {**states, **labels, "note": sentence("premise.clash", {"r": r, **states, **labels})}
        claim = Claim("premise.four_r", False, "", "proved", "refuted", None, (examined,), THEOREM, evidence)
    return [*found, claim]
