"""Published regular languages by their names: Tomita's seven, periodic and piecewise ones, and nested brackets.

`regular_member:language=tomita_3` asks whether a word belongs to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.tasks import tasks
from lengthwise.tasks.facts import HUANG, Bins, Facts, huang
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regex import automaton
from lengthwise.tasks.languages.regular import RegularLanguage

TOMITA = Reference("tomita1982")
_ALL: Bins = (100, 100, 100)


@dataclass(frozen=True)
class NamedLanguage(RegularLanguage):
    """A regular language known by a name: the subclass gives its expression, and letters the expression leaves out."""

    expression: ClassVar[str]
    letters: ClassVar[str] = ""

    def build(self) -> Dfa:
        return automaton(self.expression, self.letters)


class _Tomita(NamedLanguage):
    letters = "01"


def _tomita(circuit_class: str, *bins: Bins, crasp: tuple[bool, bool]) -> Facts:
    return huang(circuit_class, *bins, crasp=crasp, references=(TOMITA,), trained=100)


@tasks.register("tomita_1")
class Tomita1(_Tomita):
    """Tag every prefix of a word of 1s, over the alphabet 0 1, with the symbols that may come next.

    `1 1` → `{1,$} {1,$} {1,$}`. One word a length.
    """

    expression = "1*"
    facts = _tomita("AC0", _ALL, _ALL, _ALL, crasp=(True, True))


@tasks.register("tomita_2")
class Tomita2(_Tomita):
    """Tag every prefix of a word of the language (10)* with the symbols that may come next.

    `1 0` → `{1,$} {0} {1,$}`. One word at every even length.
    """

    expression = "(10)*"
    facts = _tomita("AC0", _ALL, _ALL, _ALL, crasp=(True, True))


@tasks.register("tomita_3")
class Tomita3(_Tomita):
    """Tag the prefixes of words without an odd run of 1s that an odd run of 0s directly follows.

    `1 0 0` → `{0,1,$} {0,1,$} {0} {0,1,$}`: after `1 0` the run of 0s must become even. The parity of a run follows
    from the parities of the places where it begins and ends, hence AC0. This is the language of Bhattamishra et al. and
    of Huang et al.; others forbid the odd run of 0s anywhere after the odd run of 1s, which is `tomita_3_later`.
    """

    expression = "(0|1((00)+1)*1)*(1((00)+1)*(00)*)?"
    facts = _tomita("AC0", (60.45, 7.7, 0), (21.1, 0, 0), (57.1, 6.9, 0), crasp=(False, False))


@tasks.register("tomita_3_later")
class Tomita3Later(_Tomita):
    """Tag the prefixes of words without an odd run of 1s and, anywhere after it, an odd run of 0s.

    `1 0 0 1 0` → `{0,1,$} {0,1,$} {0} {0,1,$} {0,1,$} {0}`. Unlike `tomita_3` it has a C-RASP program with period 2: as
    long as all runs of 1s were even, there are as many 1s at even as at odd places.
    """

    expression = "(0|11)*(1(00(1|00)*)?)?"
    facts = Facts(circuit_class="AC0", crasp={"learned+offset": True, "none": False}, references=(TOMITA,))


@tasks.register("tomita_4")
class Tomita4(_Tomita):
    """Tag every prefix of a word without 000 with the symbols that may come next.

    `0 0 1` → `{0,1,$} {0,1,$} {1,$} {0,1,$}`.
    """

    expression = "(1|01|001)*(0|00)?"
    facts = _tomita("AC0", (100, 85.4, 84.4), (100, 16.45, 0), (100, 81.3, 79.3), crasp=(True, False))


@tasks.register("tomita_5")
class Tomita5(_Tomita):
    """Tag every prefix of a word with evenly many 0s and evenly many 1s with what may come next.

    `0 1 1 0` → `{0,1,$} {0,1} {0,1} {0,1} {0,1,$}`.
    """

    expression = "(00|11|(01|10)(00|11)*(01|10))*"
    facts = _tomita("ACC0, not AC0", (54.4, 0, 0), (7.1, 0, 0), (52.1, 0, 0), crasp=(False, False))


@tasks.register("tomita_6")
class Tomita6(_Tomita):
    """Tag the prefixes of words whose numbers of 0s and of 1s differ by a multiple of 3.

    `0 0 0` → `{0,1,$} {0,1} {0,1} {0,1,$}`.
    """

    expression = "(0(01)*(1|00)|1(10)*(0|11))*"
    facts = _tomita("ACC0, not AC0", (59.6, 0, 0), (2.4, 0, 0), (58.6, 0, 0), crasp=(False, False))


@tasks.register("tomita_7")
class Tomita7(_Tomita):
    """Tag every prefix of a word of the language 0*1*0*1* with the symbols that may come next.

    `1 0 1` → `{0,1,$} {0,1,$} {0,1,$} {1,$}`.
    """

    expression = "0*1*0*1*"
    facts = _tomita("AC0", (100, 94.2, 93.2), (100, 87.5, 76.2), (100, 91.2, 90.9), crasp=(True, True))


@tasks.register("aa_star", "(aa)*")
class EvenAs(NamedLanguage):
    """Tag every prefix of a word of the language (aa)* with the symbols that may come next.

    `a a` → `{a,$} {a} {a,$}`. One word at every even length.
    """

    expression = "(aa)*"
    # Narrow heads and much weight decay: without them the training range is learned by heart and the period lost.
    preset = {"depth": 1, "heads": 16, "batch": 32, "rate": 2e-3, "weight_decay": 1.0, "steps": 8000}
    facts = huang("AC0", _ALL, (100, 0, 0), _ALL, crasp=(True, False), trained=100)


@tasks.register("aaaa_star", "(aaaa)*")
class FourthAs(NamedLanguage):
    """Tag every prefix of a word of the language (aaaa)* with the symbols that may come next.

    `a a a a` → `{a,$} {a} {a} {a} {a,$}`. One word at every multiple of 4.
    """

    expression = "(aaaa)*"
    facts = huang("AC0", (100, 92.3, 86.7), (100, 0, 0), _ALL, crasp=(True, False), trained=500, step=100)


@tasks.register("abab_star", "(abab)*")
class TwicePairs(NamedLanguage):
    """Tag every prefix of a word of the language (abab)* with the symbols that may come next.

    `a b a b` → `{a,$} {b} {a} {b} {a,$}`. One word at every multiple of 4.
    """

    expression = "(abab)*"
    facts = huang("AC0", (100, 89.4, 82.3), (100, 0, 0), _ALL, crasp=(True, False), trained=500, step=100)


@tasks.register("012_star_02_star", "{0,1,2}*02*")
class LastIsZero(NamedLanguage):
    """Tag every prefix of a word of {0,1,2}*02* with the symbols that may come next.

    `1 0 2` → `{0,1,2} {0,1,2} {0,1,2,$} {0,1,2,$}`: the word may end when its last 0 or 1 is a 0, whatever the number
    of 2s since, which is a memory of one bit.
    """

    expression = "{0,1,2}*02*"
    facts = huang("AC0", (99.7, 24.4, 1.2), (18.2, 11.2, 0), (99.6, 25.6, 2.1), crasp=(False, False))


@tasks.register("ab_star_d_bc_star", "{a,b}*d{b,c}*")
class OneD(NamedLanguage):
    """Tag every prefix of a word of {a,b}*d{b,c}* with the symbols that may come next.

    `a d c` → `{a,b,d} {a,b,d} {b,c,$} {b,c,$}`.
    """

    expression = "{a,b}*d{b,c}*"
    facts = huang("AC0", (100, 99.8, 98.5), (100, 99.8, 98.5), _ALL, crasp=(True, True))


@tasks.register("aa_star_bb_star_cc_star_dd_star_ee_star", "aa*bb*cc*dd*ee*")
class FiveBlocks(NamedLanguage):
    """Tag every prefix of a word of aa*bb*cc*dd*ee* with the symbols that may come next.

    `a b c d e` → `{a} {a,b} {b,c} {c,d} {d,e} {e,$}`. The shortest word has 5 letters.
    """

    expression = "aa*bb*cc*dd*ee*"
    facts = huang("AC0", _ALL, _ALL, _ALL, crasp=(True, True), trained=200, step=100)


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
            raise UsageError(f"brackets must be nested at least 1 deep, not {self.depth}")
        if length := MEASURED.get(self.depth):
            facts = huang("AC0", _ALL, _ALL, _ALL, crasp=(True, True), trained=length, step=length)
            object.__setattr__(self, "facts", facts)

    def build(self) -> Dfa:
        dead = self.depth + 1  # the other states are the numbers of open brackets
        rows = [(height + 1, height - 1 if height else dead) for height in range(dead)]
        return Dfa(("a", "b"), (*rows, (dead, dead)), 0, frozenset([0]))
