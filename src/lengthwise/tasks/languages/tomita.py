"""Tomita's seven languages over 0 and 1, the third in two readings.

`regular_member:language=tomita_3` asks whether a word belongs to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lengthwise.records import Reference
from lengthwise.tasks import tasks
from lengthwise.tasks.facts import Facts, huang
from lengthwise.tasks.languages.regular import NamedLanguage

TOMITA = Reference("tomita1982")


class _Tomita(NamedLanguage):
    letters: ClassVar[str] = "01"


@tasks.register("tomita_1")
@dataclass(frozen=True)
class Tomita1(_Tomita):
    """Tag every prefix of a word of 1s, over the alphabet 0 1, with the symbols that may come next.

    `1 1` → `{1,$} {1,$} {1,$}`. One word a length.
    """

    expression = "1*"
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(100, 100, 100),
        none=(100, 100, 100),
        regularised=(100, 100, 100),
        crasp=(True, True),
        references=(TOMITA,),
    )


@tasks.register("tomita_2")
@dataclass(frozen=True)
class Tomita2(_Tomita):
    """Tag every prefix of a word of the language (10)* with the symbols that may come next.

    `1 0` → `{1,$} {0} {1,$}`. One word at every even length.
    """

    expression = "(10)*"
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(100, 100, 100),
        none=(100, 100, 100),
        regularised=(100, 100, 100),
        crasp=(True, True),
        references=(TOMITA,),
    )


@tasks.register("tomita_3")
@dataclass(frozen=True)
class Tomita3(_Tomita):
    """Tag the prefixes of words without an odd run of 1s that an odd run of 0s directly follows.

    `1 0 0` → `{0,1,$} {0,1,$} {0} {0,1,$}`: after `1 0` the run of 0s must become even. The parity of a run follows
    from the parities of the places where it begins and ends, hence AC0. This is the language of Bhattamishra et al. and
    of Huang et al.; others forbid the odd run of 0s anywhere after the odd run of 1s, which is `tomita_3_later`.
    """

    expression = "(0|1((00)+1)*1)*(1((00)+1)*(00)*)?"
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(60.45, 7.7, 0),
        none=(21.1, 0, 0),
        regularised=(57.1, 6.9, 0),
        crasp=(False, False),
        references=(TOMITA,),
    )


@tasks.register("tomita_3_later")
@dataclass(frozen=True)
class Tomita3Later(_Tomita):
    """Tag the prefixes of words without an odd run of 1s and, anywhere after it, an odd run of 0s.

    `1 0 0 1 0` → `{0,1,$} {0,1,$} {0} {0,1,$} {0,1,$} {0}`. Unlike `tomita_3` it has a C-RASP program with period 2: as
    long as all runs of 1s were even, there are as many 1s at even as at odd places.
    """

    expression = "(0|11)*(1(00(1|00)*)?)?"
    facts = Facts(circuit_class="AC0", crasp={"learned+offset": True, "none": False}, references=(TOMITA,))


@tasks.register("tomita_4")
@dataclass(frozen=True)
class Tomita4(_Tomita):
    """Tag every prefix of a word without 000 with the symbols that may come next.

    `0 0 1` → `{0,1,$} {0,1,$} {1,$} {0,1,$}`.
    """

    expression = "(1|01|001)*(0|00)?"
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(100, 85.4, 84.4),
        none=(100, 16.45, 0),
        regularised=(100, 81.3, 79.3),
        crasp=(True, False),
        references=(TOMITA,),
    )


@tasks.register("tomita_5")
@dataclass(frozen=True)
class Tomita5(_Tomita):
    """Tag every prefix of a word with evenly many 0s and evenly many 1s with what may come next.

    `0 1 1 0` → `{0,1,$} {0,1} {0,1} {0,1} {0,1,$}`.
    """

    expression = "(00|11|(01|10)(00|11)*(01|10))*"
    facts = huang(
        trained=100,
        circuit_class="ACC0, not AC0",
        offset=(54.4, 0, 0),
        none=(7.1, 0, 0),
        regularised=(52.1, 0, 0),
        crasp=(False, False),
        references=(TOMITA,),
    )


@tasks.register("tomita_6")
@dataclass(frozen=True)
class Tomita6(_Tomita):
    """Tag the prefixes of words whose numbers of 0s and of 1s differ by a multiple of 3.

    `0 0 0` → `{0,1,$} {0,1} {0,1} {0,1,$}`.
    """

    expression = "(0(01)*(1|00)|1(10)*(0|11))*"
    facts = huang(
        trained=100,
        circuit_class="ACC0, not AC0",
        offset=(59.6, 0, 0),
        none=(2.4, 0, 0),
        regularised=(58.6, 0, 0),
        crasp=(False, False),
        references=(TOMITA,),
    )


@tasks.register("tomita_7")
@dataclass(frozen=True)
class Tomita7(_Tomita):
    """Tag every prefix of a word of the language 0*1*0*1* with the symbols that may come next.

    `1 0 1` → `{0,1,$} {0,1,$} {0,1,$} {1,$}`.
    """

    expression = "0*1*0*1*"
    facts = huang(
        trained=100,
        circuit_class="AC0",
        offset=(100, 94.2, 93.2),
        none=(100, 87.5, 76.2),
        regularised=(100, 91.2, 90.9),
        crasp=(True, True),
        references=(TOMITA,),
    )
