"""How much a decoder must remember across a cut of its text, as the text grows.

A C-RASP[periodic, local] program with k global counts passes a cut of a text of N tokens with k log2(N + 1) bits and a
constant (`docs/programs.md` has the proof), and a limit transformer of fixed precision with O(log N) bits (Huang et
al., Theorem 12). A task that needs bits in proportion to N is therefore out of reach for both. What is measured here is
the need at each size, which is certain; that it goes on growing is an extrapolation unless an argument proves it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.cut_fit import Fit, fit_growth
from lengthwise.oracle.cut_samples import CROSSED, DRAWN, all_prompts, alphabets, best_cut, drawn_prompts
from lengthwise.oracle.cuts import AFTER, Cut, Witness
from lengthwise.oracle.programs.prompts import largest_size
from lengthwise.oracle.proved_cuts import Proof, proof_for
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.membership import RegularMembership
from lengthwise.tasks.languages.regular import RegularLanguage
from lengthwise.tasks.task import Task

HUANG = Reference("huang2025", "Theorem 12: an O(log N)-bit protocol across every cut")
LEMMA = Reference("docs/programs.md", "what a program remembers at a cut")
_POINTS = 4  # sizes without which no growth is judged
_SLOPE = 0.2  # bits a symbol, below which growth is not called linear
_STEADY = 0.85  # of the slope at the small half of the sizes that the large half must keep
_FAR = 0.9  # of drawn beginnings at a far size that must be told apart, as they would be if the growth went on
_CLEAR = 0.6  # of the residual against log N that the residual against N must stay below
_SIZES, _DRAWN_SIZES = 14, 5  # looked at at most, and among them those whose prompts are drawn


@dataclass(frozen=True)
class CutGrowth:
    """The need at each size: beginnings looked at, how many are pairwise told apart, and the bits that takes.

    `flags` is True when the need grows linearly, False when it was not seen to, None when nothing can be said; `reason`
    says why in a sentence. `far` is the share of drawn beginnings told apart at a much larger size. `proof` is the
    argument for all sizes, if there is one; `refuted` says that linear growth is impossible, not merely unseen.
    """

    sizes: tuple[int, ...]
    rows: tuple[int, ...]
    told_apart: tuple[int, ...]
    bits: tuple[int, ...]
    fit: Fit | None
    flags: bool | None
    witness: Witness | None
    reason: str
    place: str = ""
    far: float | None = None
    proof: Proof | None = None
    refuted: bool = False

    def claim(self) -> Claim:
        """Whether the need grows linearly with the size, and so whether the task is out of reach of C-RASP."""
        certain = self.proof is not None if self.flags else self.refuted
        growth = Assumption("the growth seen at the sizes measured goes on at all sizes", "assumed")
        return Claim(
            "memory across a cut grows linearly with the size",
            self.flags,
            "",
            "proved" if certain else "heuristic",
            "holds" if self.flags else "refuted" if self.refuted else "unknown",
            assumptions=() if certain else (growth,),
            reference=LEMMA if certain else HUANG,
            evidence=self.plain(),
        )

    def claims(self) -> tuple[Claim, ...]:
        """The growth, and the need at the largest size, which is certain."""
        if not self.sizes:
            return (self.claim(),)
        certain = Claim(
            f"memory needed across a cut at size {self.sizes[-1]}",
            self.bits[-1],
            "bits",
            "certified",
            reference=LEMMA,
            evidence={"told_apart": self.told_apart[-1], "witness": str(self.witness)},
        )
        return (self.claim(), certain)

    def explain(self) -> list[str]:
        sentences = [self.reason]
        if self.sizes:
            sentences.append(
                f"In prompts of {self.sizes[-1]} symbols, cut {self.place}, {self.told_apart[-1]} beginnings are "
                f"pairwise told apart, so {self.bits[-1]} bits must be remembered."
            )
        if self.witness:
            sentences.append(f"Two of them: {self.witness}.")
        if self.fit:
            sentences.append(
                f"Bits against N: {self.fit.linear_slope:.2f} a symbol, residual {self.fit.linear_residual:.2f}; "
                f"against log2 N: {self.fit.logarithmic_slope:.2f}, residual {self.fit.logarithmic_residual:.2f}; the "
                f"{self.fit.better} fit is better, and at the largest size the need is {self.fit.ratio:.1f} log2 N."
            )
        if self.proof:
            sentences.append(f"For every size n: {self.proof.argument}.")
        return sentences

    def plain(self) -> dict[str, Any]:
        fit = self.fit
        return {
            "sizes": list(self.sizes),
            "rows": list(self.rows),
            "told_apart": list(self.told_apart),
            "bits": list(self.bits),
            "cut": self.place,
            "flags": self.flags,
            "reason": self.reason,
            "far": self.far,
            "fit": fit and {**vars(fit), "better": fit.better},
            "witness": str(self.witness) if self.witness else None,
            "proof": self.proof.argument if self.proof else None,
        }


def cut_growth(task: Task, *, sizes: Sequence[int] | None = None, budget_seconds: float = 5.0) -> CutGrowth:
    """The need at growing sizes, and whether it grows linearly.

    Without `sizes`, the task's smallest are taken, as far as all their prompts, or enough of them, can be looked at. In
    the result a size is the number of symbols in the prompt. The middle and the end of the prompt are tried as cuts.
    """
    if task.readout == "numbers":
        raise UsageError("a cut is about what is written next, and this task asks for numbers")
    if sizes is not None and not (sizes and all(map(task.has, sizes))):
        raise UsageError(f"the task has no items of some of the sizes {list(sizes)}")
    if isinstance(task, RegularLanguage | RegularMembership):
        states = len(task.automaton.transitions)
        return _silent(f"An automaton of {states} states passes every cut with {_bits(states)} bits.", refuted=True)
    if largest_size(task) is not None:
        return _silent("The alphabet bounds the sizes, so no growth can be measured.")
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
    return best or _silent("No part of the alphabet is small enough to look at all prompts over it.")


def _silent(reason: str, refuted: bool = False) -> CutGrowth:
    return CutGrowth((), (), (), (), None, False if refuted else None, None, reason, refuted=refuted)


def _points(
    task: Task, symbols: Sequence[str], sizes: Sequence[int] | None, deadline: float
) -> Iterator[tuple[int, Cut]]:
    """The best cut at each size: over all prompts where they are few, then over drawn ones while these suffice."""
    low = task.axes[0].smallest
    place, drawn = "", 0
    for size in sizes or task.sizes(low, low + 6 * _SIZES)[:_SIZES]:
        length = len(drawn_prompts(task, size, 1)[0].prompt)
        items = all_prompts(task, symbols, length)
        complete = items is not None
        if items is None:
            drawn += 1
            if drawn > _DRAWN_SIZES or (place != AFTER and task.readout == "answer"):
                return  # a cut inside the prompt needs all ends for each beginning
            items = [one for one in drawn_prompts(task, size, DRAWN) if set(one.prompt) <= set(symbols)]
        if len(items) > 1:
            cut = best_cut(task, items, complete)
            # So many told apart among so few drawn means that more would be; such a point would bend the curve.
            limit = DRAWN / 6 if task.readout == "answer" else CROSSED / 3
            if complete or cut.told_apart <= limit:
                place = cut.place
                yield length, cut
        if time.process_time() > deadline:
            return


def _judged(task: Task, points: dict[int, Cut]) -> CutGrowth:
    ordered = sorted(points)
    cuts = [points[size] for size in ordered]
    fit = fit_growth(ordered, [math.log2(cut.told_apart) for cut in cuts]) if len(ordered) >= _POINTS else None
    proof = proof_for(task)
    far = None
    if fit is None:
        flags, reason = None, f"Only {len(ordered)} sizes could be looked at, too few to judge the growth."
    else:
        flags, reason = _verdict(fit)
        if flags:
            far = _far(task, 3 * ordered[-1])
            if far is not None and far < _FAR:
                flags, reason = False, f"At a larger size only {far:.0%} of drawn beginnings are told apart."
    if proof is not None:
        flags, reason = True, "The need grows linearly with the size, by an argument for every size."
    return CutGrowth(
        tuple(ordered),
        tuple(cut.rows for cut in cuts),
        tuple(cut.told_apart for cut in cuts),
        tuple(_bits(cut.told_apart) for cut in cuts),
        fit,
        flags,
        next((cut.witness for cut in reversed(cuts) if cut.witness), None),
        reason,
        cuts[-1].place,
        far,
        proof,
    )


def _verdict(fit: Fit) -> tuple[bool, str]:
    slope = f"{fit.linear_slope:.2f} bits a symbol"
    if fit.linear_slope < _SLOPE:
        return False, f"The need hardly grows: {slope}."
    if fit.linear_residual > _CLEAR * fit.logarithmic_residual:
        return False, f"The need grows by {slope} on average, but N does not fit it clearly better than log N."
    if fit.steadiness < _STEADY:
        return False, f"The growth of {slope} on average slows down to {fit.steadiness:.0%} of what it was."
    return True, f"The need grows steadily by {slope}, which log N does not."


def _far(task: Task, length: int) -> float | None:
    """The share of drawn beginnings that are told apart at about this size; None if there are no such items."""
    sizes = task.sizes(length, length + 12)
    if not sizes:
        return None
    items = drawn_prompts(task, sizes[0], CROSSED)
    if len(items) < 8:
        return None
    cut = best_cut(task, items, complete=False)
    return cut.told_apart / min(cut.rows, CROSSED)


def _bits(count: int) -> int:
    """ceil(log2 count), exactly."""
    return (count - 1).bit_length()
