"""How much a decoder must remember across a cut of its text, as the text grows.

A C-RASP[periodic, local] program with k global counts passes a cut of a text of N tokens with k log2(N + 1) bits and a
constant (`docs/explanation/programs.md` has the proof), and a limit transformer of fixed precision with O(log N) bits
(Huang et al., Theorem 12). A task that needs bits in proportion to N is therefore out of reach for both. What is
measured here is the need at each size, which is certain; that it keeps growing is an extrapolation unless an argument
proves it.
"""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.cuts import CROSSED, DRAWN, Cut, CutWitness, all_prompts, alphabets, best_cut, drawn_prompts
from lengthwise.oracle.programs.prompts import largest_size
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.algorithmic import Addition, CopyRepeat
from lengthwise.tasks.chomsky.binary import BinaryAddition, BinaryMultiplication, ComputeSqrt
from lengthwise.tasks.chomsky.strings import DuplicateString, OddsFirst, ReverseString, StackManipulation
from lengthwise.tasks.languages.regular import RegularLanguage, RegularMembership
from lengthwise.tasks.task import Task

HUANG = Reference("huang2025", "Theorem 12: an O(log N)-bit protocol across every cut")
LEMMA = Reference("docs/explanation/programs.md", "what a program remembers at a cut")
_POINTS = 4  # sizes without which no growth is judged
_SLOPE = 0.2  # bits per symbol, below which growth is not called linear
_STEADY = 0.85  # of the slope at the small half of the sizes that the large half must keep
_FAR = 0.9  # of drawn beginnings at a distant size that must be distinguished, as they would be if the growth continued
_CLEAR = 0.6  # of the residual against log N that the residual against N must stay below
_SIZES, _DRAWN_SIZES = 14, 5  # examined at most, and among them those whose prompts are drawn
explain(
    {
        "cuts.linear": "memory across a cut grows linearly with the size",
        "cuts.continues": "the growth seen at the sizes measured continues at all sizes",
        "cuts.automaton": "An automaton of {states} states passes every cut with {bits} bits.",
        "cuts.bounded": "The alphabet bounds the sizes, so no growth can be measured.",
        "cuts.large_alphabet": "No part of the alphabet is small enough to examine all prompts over it.",
        "cuts.few_sizes": "Only {sizes} sizes could be examined, too few to judge the growth.",
        "cuts.stops": "At a larger size only {far:.0%} of drawn beginnings must be distinguished.",
        "cuts.proved": "The memory needed grows linearly with the size; an argument proves it for every size.",
        "cuts.flat": "The memory needed hardly grows: {slope:.2f} bits per symbol.",
        "cuts.unclear": "The memory needed grows by {slope:.2f} bits per symbol on average, but N does not fit it "
        "clearly better than log N.",
        "cuts.slows": "The growth of {slope:.2f} bits per symbol on average slows down to {steadiness:.0%} of what it "
        "was.",
        "cuts.steady": "The memory needed grows steadily by {slope:.2f} bits per symbol, unlike log N.",
        "cuts.need": "In prompts of {size} symbols, cut {place}, any two of {rows} beginnings must be distinguished, "
        "so {bits} bits must be remembered.",
        "cuts.example": "Two of them: {witness}.",
        "cuts.fit": "Bits against N: {linear_slope:.2f} per symbol, residual {linear_residual:.2f}; against log2 N: "
        "{logarithmic_slope:.2f}, residual {logarithmic_residual:.2f}; at the largest size the need is {ratio:.1f} "
        "log2 N.",
        "cuts.every_size": "For every size n: {argument}.",
        "cuts.whole": "the answer determines the prompt, and all 2^n strings of two symbols are prompts",
        "cuts.addition": "x + 0 = has the answer x, for each of the 2^(n-4) numbers x of n - 3 bits that begin with 1",
        "cuts.binary_addition": "x + 1 has a different answer for each of the 2^(n-2) - 1 positive numbers x of n - 2 "
        "bits",
        "cuts.multiplication": "x * 1 has the answer x, for each of the 2^(n-2) - 1 positive numbers x of n - 2 bits",
        "cuts.root": "every r from 1 to 2^(n/2 rounded down) - 1 is the root of r * r, which has at most n bits",
        "cuts.stack": "a stack of n - 1 bits and push0 is written backwards after a 0, for each of the 2^(n-1) stacks",
    }
)


@dataclass(frozen=True)
class CutProof:
    """Why there are at least `answers(n)` different answers to prompts of n symbols, under its key. Prompts with
    different answers are distinguished after the prompt, which takes at least log2 of that many bits."""

    key: str
    answers: Callable[[int], int]

    def exceeds(self, bits: int) -> int:
        """The smallest n at which the prompts of n symbols need more than `bits` bits."""
        return bisect.bisect(range(4 * bits + 64), bits, key=lambda n: (max(1, self.answers(n)) - 1).bit_length())


_WHOLE = CutProof("cuts.whole", lambda n: 2**n)
_PROOFS: dict[type[Task], CutProof] = {
    **dict.fromkeys((CopyRepeat, ReverseString, DuplicateString, OddsFirst), _WHOLE),
    Addition: CutProof("cuts.addition", lambda n: 2 ** (n - 4)),
    BinaryAddition: CutProof("cuts.binary_addition", lambda n: 2 ** (n - 2) - 1),
    BinaryMultiplication: CutProof("cuts.multiplication", lambda n: 2 ** (n - 2) - 1),
    ComputeSqrt: CutProof("cuts.root", lambda n: 2 ** (n // 2) - 1),
    StackManipulation: CutProof("cuts.stack", lambda n: 2 ** (n - 1)),
}


@dataclass(frozen=True)
class GrowthFit:
    """Least squares of the bits against N and against log2 N: slopes and root mean square residuals. `steadiness`: the
    slope over the larger half of the sizes as a share of that over the smaller half, about 1 for linear growth and less
    for logarithmic. `ratio`: bits needed at the largest size over log2 of that size."""

    linear_slope: float
    linear_residual: float
    logarithmic_slope: float
    logarithmic_residual: float
    steadiness: float
    ratio: float


@dataclass(frozen=True)
class CutGrowth:
    """The need at each size: beginnings examined, how many of them are pairwise distinguished, and the bits that takes.

    `flags` is True when the need grows linearly, False when it was not seen to, None when nothing can be said; `reason`
    is the key of the sentence that says why, with its `values`. `far` is the share of drawn beginnings distinguished at
    a much larger size, `proof` the argument for all sizes; `refuted` says that linear growth is impossible, not unseen.
    """

    reason: str
    values: Mapping[str, Any] = field(default_factory=dict)
    flags: bool | None = None
    sizes: tuple[int, ...] = ()
    cuts: tuple[Cut, ...] = ()
    fit: GrowthFit | None = None
    far: float | None = None
    proof: CutProof | None = None
    refuted: bool = False

    @property
    def distinguished(self) -> tuple[int, ...]:
        return tuple(cut.distinguished for cut in self.cuts)

    @property
    def bits(self) -> tuple[int, ...]:
        return tuple(map(_bits, self.distinguished))

    @property
    def witness(self) -> CutWitness | None:
        return next((cut.witness for cut in reversed(self.cuts) if cut.witness), None)

    def claim(self) -> Claim:
        """Whether the need grows linearly with the size, and so whether the task is out of reach of C-RASP."""
        certain = self.proof is not None if self.flags else self.refuted
        evidence = {
            "reason": sentence(self.reason, self.values),
            "sizes": list(self.sizes),
            "rows": [cut.rows for cut in self.cuts],
            "distinguished": list(self.distinguished),
            "bits": list(self.bits),
            "far": self.far,
            "fit": self.fit and vars(self.fit),
            "witness": str(self.witness) if self.witness else None,
            "proof": self.proof and sentence(self.proof.key),
        }
        given = ("proved", (), LEMMA) if certain else ("heuristic", (Assumption("cuts.continues"),), HUANG)
        kind, assumptions, reference = given
        status = "holds" if self.flags else "refuted" if self.refuted else "unknown"
        return Claim("cuts.linear", self.flags, "", kind, status, None, assumptions, reference, evidence)

    def explain(self) -> list[str]:
        found = [sentence(self.reason, self.values)]
        if self.cuts:
            last = {"size": self.sizes[-1], "place": self.cuts[-1].where, "rows": self.cuts[-1].distinguished}
            found.append(sentence("cuts.need", {**last, "bits": self.bits[-1]}))
        if self.witness:
            found.append(sentence("cuts.example", {"witness": self.witness}))
        if self.fit:
            found.append(sentence("cuts.fit", vars(self.fit)))
        if self.proof:
            found.append(sentence("cuts.every_size", {"argument": sentence(self.proof.key)}))
        return found


def cut_growth(task: Task, *, sizes: Sequence[int] | None = None, budget_seconds: float = 5.0) -> CutGrowth:
    """The need at growing sizes, and whether it grows linearly. Without `sizes`, the task's smallest are taken, as far
    as all their prompts, or enough of them, can be examined. In the result a size is the number of symbols in the
    prompt. The middle and the end of the prompt are tried as cuts."""
    if task.readout == "numbers":
        raise UsageError("a cut is about what is written next, and this task asks for numbers")
    if sizes is not None and not (sizes and all(map(task.has, sizes))):
        raise UsageError(f"the task has no items of some of the sizes {list(sizes)}")
    if isinstance(task, RegularLanguage | RegularMembership):
        states = len(task.automaton.transitions)
        values = {"states": states, "bits": _bits(states)}
        return CutGrowth("cuts.automaton", values, flags=False, refuted=True)
    if largest_size(task) is not None:
        return CutGrowth("cuts.bounded")
    deadline = time.process_time() + budget_seconds
    best: CutGrowth | None = None
    parts = alphabets(task, time.process_time() + budget_seconds / 4)
    for number, symbols in enumerate(parts):
        share = time.process_time() + (deadline - time.process_time()) / (len(parts) - number)
        points = dict(_points(task, symbols, sizes, share))
        found = _judged(task, points) if points else None
        if found and (best is None or (found.flags and not best.flags)):
            best = found
        if best and best.flags:
            break
    return best or CutGrowth("cuts.large_alphabet")


def _points(
    task: Task, symbols: Sequence[str], sizes: Sequence[int] | None, deadline: float
) -> Iterator[tuple[int, Cut]]:
    """The best cut at each size: over all prompts where they are few, then over drawn ones while these suffice."""
    low = task.axes[0].smallest
    inside, drawn = True, 0
    for size in sizes or task.sizes(low, low + 6 * _SIZES)[:_SIZES]:
        length = len(drawn_prompts(task, size, 1)[0].prompt)
        items = all_prompts(task, symbols, length)
        complete = items is not None
        if items is None:
            drawn += 1
            if drawn > _DRAWN_SIZES or (inside and task.readout == "answer"):
                return  # a cut inside the prompt needs all ends for each beginning
            items = [one for one in drawn_prompts(task, size, DRAWN) if set(one.prompt) <= set(symbols)]
        if len(items) > 1:
            cut = best_cut(task, items, complete)
            # Many distinguished among few drawn means that more would be; such a point would bend the curve.
            limit = DRAWN / 6 if task.readout == "answer" else CROSSED / 3
            if complete or cut.distinguished <= limit:
                inside = cut.place is not None
                yield length, cut
        if time.process_time() > deadline:
            return


def _judged(task: Task, points: dict[int, Cut]) -> CutGrowth:
    ordered = sorted(points)
    cuts = tuple(points[size] for size in ordered)
    fit = _fit(ordered, [math.log2(cut.distinguished) for cut in cuts]) if len(ordered) >= _POINTS else None
    proof = _PROOFS.get(type(task))  # of these very classes, as a subclass may ask something else
    flags, far = None, None
    reason, values = "cuts.few_sizes", {"sizes": len(ordered)}
    if fit is not None:
        values = {"slope": fit.linear_slope, "steadiness": fit.steadiness}
        unclear = fit.linear_residual > _CLEAR * fit.logarithmic_residual
        steady = "cuts.steady" if fit.steadiness >= _STEADY else "cuts.slows"
        reason = "cuts.flat" if fit.linear_slope < _SLOPE else "cuts.unclear" if unclear else steady
        flags = reason == "cuts.steady"
        if flags and (far := _far(task, 3 * ordered[-1])) is not None and far < _FAR:
            flags, reason, values = False, "cuts.stops", {"far": far}
    if proof is not None:
        flags, reason = True, "cuts.proved"
    return CutGrowth(reason, values, flags, tuple(ordered), cuts, fit, far, proof)


def _far(task: Task, length: int) -> float | None:
    """The share of drawn beginnings that are distinguished at about this size; None if there are no such items."""
    sizes = task.sizes(length, length + 12)
    if not sizes:
        return None
    items = drawn_prompts(task, sizes[0], CROSSED)
    if len(items) < 8:
        return None
    cut = best_cut(task, items, complete=False)
    return cut.distinguished / min(cut.rows, CROSSED)


def _fit(sizes: Sequence[int], bits: Sequence[float]) -> GrowthFit:
    lengths, values = np.array(sizes, dtype=float), np.array(bits)
    (linear, spread), (logarithmic, log_spread) = _line(lengths, values), _line(np.log2(lengths), values)
    half = len(lengths) // 2 + 1
    early, late = _line(lengths[:half], values[:half])[0], _line(lengths[-half:], values[-half:])[0]
    steadiness = late / early if early > 0 else 1.0
    ratio = float(values[-1] / max(1.0, np.log2(lengths[-1])))
    return GrowthFit(linear, spread, logarithmic, log_spread, steadiness, ratio)


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and root mean square residual of the least-squares line."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(np.sqrt(np.mean((y - slope * x - intercept) ** 2)))


def _bits(count: int) -> int:
    """ceil(log2 count), exactly."""
    return (count - 1).bit_length()
