"""D_n: one kind of bracket nested to a bounded depth."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.facts import HUANG, Facts, huang
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import RegularLanguage

MEASURED = {2: 50, 3: 50, 4: 100, 12: 100}  # the depths with published results: trained to, and bins of, this length


@tasks.register("d_2", "D_2", depth=2)
@tasks.register("d_3", "D_3", depth=3)
@tasks.register("d_4", "D_4", depth=4)
@tasks.register("d_12", "D_12", depth=12)
@tasks.register("d_n")
@dataclass(frozen=True)
class NestedBrackets(RegularLanguage):
    """Tag the prefixes of words of D_n, brackets a b at most `depth` deep: D_n = (a D_(n-1) b)*.

    `d_2`: `a a b b` → `{a,$} {a,b} {b} {a,b} {a,$}`. Words have even length.
    """

    depth: int = 2
    facts = Facts(circuit_class="AC0", crasp={"learned+offset": True, "none": True}, references=(HUANG,))

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise UsageError(f"brackets are nested at least 1 deep, not {self.depth}")
        if self.depth in MEASURED:
            object.__setattr__(self, "facts", _published(MEASURED[self.depth]))

    def build(self) -> Dfa:
        dead = self.depth + 1  # the other states are the numbers of open brackets
        rows = [(height + 1, height - 1 if height else dead) for height in range(dead)]
        return Dfa(("a", "b"), (*rows, (dead, dead)), 0, frozenset([0]))


def _published(length: int) -> Facts:
    return huang(
        circuit_class="AC0",
        offset=(100, 100, 100),
        none=(100, 100, 100),
        regularised=(100, 100, 100),
        crasp=(True, True),
        trained=length,
        step=length,
    )
