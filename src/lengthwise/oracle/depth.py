"""How many layers a trace with backtracking asks for: thresholds, each for the class of models it holds for.

A search that pushes a choice and takes it back is a word of brackets: a push of choice c opens a bracket of kind c,
taking it back closes it, and a path that succeeds stays open at the end. k is the number of kinds, D the depth. There
is no bound that grows with D for all Transformers: Dyck languages are in TC0, and two soft layers generate bounded
depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dyck_k import DyckK
from lengthwise.tasks.languages.nested import NestedBrackets
from lengthwise.tasks.task import Task

YAO = "yao2021"
ABSTRACT = Assumption("quoted from an abstract or a secondary source; the proof was not checked here")
USUAL = {"(": ")", "[": "]", "<": ">", "{": "}"}


@dataclass(frozen=True)
class Nesting:
    """The shape of a trace: its kinds of brackets and how deep they nest."""

    kinds: int
    depth: int

    def __post_init__(self) -> None:
        if self.kinds < 1 or self.depth < 1:
            raise UsageError(f"kinds and depth are at least 1, not {self.kinds} and {self.depth}")

    @property
    def configurations(self) -> int:
        """How many stacks of at most D brackets of k kinds there are: 1 + k + ... + k^D."""
        return (self.kinds ** (self.depth + 1) - 1) // (self.kinds - 1) if self.kinds > 1 else self.depth + 1

    @property
    def stack_bits(self) -> float:
        """log2 of that, also where it is too large for a float."""
        count = self.configurations
        shift = max(count.bit_length() - 64, 0)
        return math.log2(count >> shift) + shift

    def claims(self) -> list[Claim]:
        """The four thresholds."""
        return [self._peeling(), self._hops(), self._soft(), self._counting()]

    def explain(self) -> list[str]:
        return [
            f"brackets of {self.kinds} kinds nest {self.depth} deep",
            f"peeling one level a layer takes {self.depth + 1} layers of hard attention, which is enough",
            f"following a pointer {self.depth} times is believed to take {hops(self.depth)} layers",
            "two layers of soft attention generate bounded depth, if numbers tell all places apart",
            f"there are {self._written()} stacks, so a single state vector needs {self.stack_bits:.4g} bits",
        ]

    def plain(self) -> dict[str, Any]:
        claims = [claim.plain() for claim in self.claims()]
        return {"kinds": self.kinds, "depth": self.depth, "stack_bits": self.stack_bits, "claims": claims}

    def _written(self) -> str:
        """The number of stacks, or its size where it has many digits."""
        return f"{self.configurations:,}" if self.stack_bits < 64 else f"2^{self.stack_bits:.6g}"

    def _evidence(self) -> dict[str, Any]:
        return {"kinds": self.kinds, "depth": self.depth}

    def _peeling(self) -> Claim:
        return Claim(
            "layers that are enough with hard attention",
            self.depth + 1,
            "layers",
            "predicted",
            assumptions=(
                Assumption("class: hard attention, memory of O(log k) a place; enough for this class, not needed"),
                Assumption("deleting adjacent pairs takes exactly D rounds (peeling lemma, docs/limit.md)", "checked"),
                ABSTRACT,
            ),
            reference=Reference(YAO, "hard attention, D + 1 layers"),
            evidence={**self._evidence(), "rounds of peeling": self.depth},
        )

    def _hops(self) -> Claim:
        return Claim(
            "layers needed to follow the stack by pointers",
            hops(self.depth),
            "layers",
            "heuristic",
            assumptions=(
                Assumption("class: Transformers of width and precision sublinear in the length, following D pointers"),
                Assumption("the one-cycle-or-two conjecture of parallel computing"),
                Assumption("the stack is read by pointers; a model may find another way"),
                Assumption("the order is a logarithm; the factor 1 in ceil(log2 D) is a choice"),
                ABSTRACT,
            ),
            reference=Reference("sanford2024", "k-hop needs of the order of log k layers"),
            evidence=self._evidence(),
        )

    def _soft(self) -> Claim:
        return Claim(
            "layers that are enough with soft attention",
            2,
            "layers",
            "predicted",
            assumptions=(
                Assumption("class: soft attention, memory of O(log k) a place, generation at bounded depth"),
                Assumption("numbers have about log2 n bits, to tell n places apart"),
                ABSTRACT,
            ),
            reference=Reference(YAO, "soft attention, two layers"),
            evidence=self._evidence(),
        )

    def _counting(self) -> Claim:
        return Claim(
            "bits that a state which is all of the memory needs",
            self.stack_bits,
            "bits",
            "proved",
            assumptions=(
                Assumption("class: models whose next step sees one vector of width · precision bits and nothing else"),
                Assumption("a Transformer that looks back at the trace is not of this class"),
            ),
            reference=Reference("lengthwise", "docs/limit.md, counting stacks"),
            evidence={**self._evidence(), "configurations": self._written()},
        )


def hops(depth: int) -> int:
    """ceil(log2 D): doubling the reach of a pointer layer by layer."""
    return (depth - 1).bit_length()


def must_collide(nesting: Nesting, width: int, precision: int) -> Claim:
    """Whether a single state of `width` numbers of `precision` bits must give two different stacks one vector."""
    if width < 1 or precision < 1:
        raise UsageError(f"width and precision are at least 1, not {width} and {precision}")
    collides = 2 ** (width * precision) < nesting.configurations
    return Claim(
        "two stacks share a state vector",
        collides,
        "",
        "proved",
        assumptions=(Assumption("the state is the only memory; a Transformer that looks back is not bound by this"),),
        reference=Reference("lengthwise", "docs/limit.md, counting stacks"),
        evidence={"bits": width * precision, "bits_needed": nesting.stack_bits},
    )


def depth_claims(task: Task) -> list[Claim]:
    """The thresholds of a task of nested brackets of a known depth; none for any other task."""
    if isinstance(task, DyckK):
        return Nesting(task.kinds, task.depth).claims()
    return Nesting(1, task.depth).claims() if isinstance(task, NestedBrackets) else []


def read_trace(trace: str | Sequence[str]) -> Nesting:
    """Kinds and depth of a trace of brackets, by peeling. What is open at its end is closed first.

    Brackets are ( ) [ ] < > { }, or numbered ones such as (4 )4; a text without spaces is read letter by letter.
    """
    tokens = trace.split() if isinstance(trace, str) and len(trace.split()) > 1 else list(trace)
    word = [*tokens, *_open_at_end(tokens)]
    if not word:
        raise UsageError("a trace holds at least one bracket")
    kinds = len({token for token in word if closing(token)})
    return Nesting(kinds, peeling_rounds(word))


def closing(token: str) -> str | None:
    """The bracket that closes this one; None if it does not open."""
    pair = USUAL.get(token[:1])
    return pair + token[1:] if pair and (not token[1:] or token[1:].isdigit()) else None


def peeling_rounds(word: Sequence[str]) -> int:
    """How often all adjacent pairs of a bracket and its partner can be deleted, all at once, until nothing is left.

    It is the depth of the word (peeling lemma). A word that is not balanced is a usage error.
    """
    left, rounds = list(word), 0
    while left:
        kept: list[str] = []
        place = 0
        while place < len(left):
            if place + 1 < len(left) and closing(left[place]) == left[place + 1]:
                place += 2
            else:
                kept.append(left[place])
                place += 1
        if len(kept) == len(left):
            raise UsageError(f"the trace is not balanced: {' '.join(left[:8])} remains")
        left, rounds = kept, rounds + 1
    return rounds


def _open_at_end(tokens: Sequence[str]) -> list[str]:
    """The brackets that close what is open at the end, innermost first."""
    stack: list[str] = []
    for place, token in enumerate(tokens, start=1):
        partner = closing(token)
        if partner:
            stack.append(partner)
        elif stack and stack[-1] == token:
            stack.pop()
        else:
            expected = f"{stack[-1]!r} or an opening bracket" if stack else "an opening bracket"
            raise UsageError(f"token {place} of the trace is {token!r} where {expected} is needed")
    return stack[::-1]
