"""Published languages named by their expression: periodic, piecewise and flip-flop ones."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.tasks import tasks
from lengthwise.tasks.facts import huang
from lengthwise.tasks.languages.regular import NamedLanguage


@tasks.register("aa_star", "(aa)*")
@dataclass(frozen=True)
class EvenAs(NamedLanguage):
    """Tag every prefix of a word of the language (aa)* with the symbols that may come next.

    `a a` → `{a,$} {a} {a,$}`. One word at every even length.
    """

    expression = "(aa)*"
    # Narrow heads and much weight decay: without them the training range is learned by heart and the period lost.
    preset = {"depth": 1, "heads": 16, "batch": 32, "rate": 2e-3, "weight_decay": 1.0, "steps": 8000}
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(100, 100, 100),
        none=(100, 0, 0),
        regularised=(100, 100, 100),
        crasp=(True, False),
    )


@tasks.register("aaaa_star", "(aaaa)*")
@dataclass(frozen=True)
class FourthAs(NamedLanguage):
    """Tag every prefix of a word of the language (aaaa)* with the symbols that may come next.

    `a a a a` → `{a,$} {a} {a} {a} {a,$}`. One word at every multiple of 4.
    """

    expression = "(aaaa)*"
    facts = huang(
        trained=500,
        step=100,
        circuit_class="AC0",
        offset=(100, 92.3, 86.7),
        none=(100, 0, 0),
        regularised=(100, 100, 100),
        crasp=(True, False),
    )


@tasks.register("abab_star", "(abab)*")
@dataclass(frozen=True)
class TwicePairs(NamedLanguage):
    """Tag every prefix of a word of the language (abab)* with the symbols that may come next.

    `a b a b` → `{a,$} {b} {a} {b} {a,$}`. One word at every multiple of 4.
    """

    expression = "(abab)*"
    facts = huang(
        trained=500,
        step=100,
        circuit_class="AC0",
        offset=(100, 89.4, 82.3),
        none=(100, 0, 0),
        regularised=(100, 100, 100),
        crasp=(True, False),
    )


@tasks.register("012_star_02_star", "{0,1,2}*02*")
@dataclass(frozen=True)
class LastIsZero(NamedLanguage):
    """Tag every prefix of a word of {0,1,2}*02* with the symbols that may come next.

    `1 0 2` → `{0,1,2} {0,1,2} {0,1,2,$} {0,1,2,$}`: the word may end when its last 0 or 1 is a 0, whatever the number
    of 2s since, which is a memory of one bit.
    """

    expression = "{0,1,2}*02*"
    facts = huang(
        circuit_class="AC0",
        offset=(99.7, 24.4, 1.2),
        none=(18.2, 11.2, 0),
        regularised=(99.6, 25.6, 2.1),
        crasp=(False, False),
    )


@tasks.register("ab_star_d_bc_star", "{a,b}*d{b,c}*")
@dataclass(frozen=True)
class OneD(NamedLanguage):
    """Tag every prefix of a word of {a,b}*d{b,c}* with the symbols that may come next.

    `a d c` → `{a,b,d} {a,b,d} {b,c,$} {b,c,$}`.
    """

    expression = "{a,b}*d{b,c}*"
    facts = huang(
        circuit_class="AC0",
        offset=(100, 99.8, 98.5),
        none=(100, 99.8, 98.5),
        regularised=(100, 100, 100),
        crasp=(True, True),
    )


@tasks.register("aa_star_bb_star_cc_star_dd_star_ee_star", "aa*bb*cc*dd*ee*")
@dataclass(frozen=True)
class FiveBlocks(NamedLanguage):
    """Tag every prefix of a word of aa*bb*cc*dd*ee* with the symbols that may come next.

    `a b c d e` → `{a} {a,b} {b,c} {c,d} {d,e} {e,$}`. The shortest word has 5 letters.
    """

    expression = "aa*bb*cc*dd*ee*"
    facts = huang(
        trained=200,
        step=100,
        circuit_class="AC0",
        offset=(100, 100, 100),
        none=(100, 100, 100),
        regularised=(100, 100, 100),
        crasp=(True, True),
    )
