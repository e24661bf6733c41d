"""What a theory says about a task with an encoding, and what several theories say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.records import Claim, Kind

Outlook = Literal["can hold", "cannot hold", "unknown"]
Family = Literal["none", "absolute", "table", "other"]


@dataclass(frozen=True)
class Theory:
    """A theory by its name, and what it binds: `binds` says in words which models it is about, `families` which
    encodings. About all others it gives no opinion."""

    name: str
    binds: str
    families: frozenset[Family]


@dataclass(frozen=True)
class Advice:
    """What to do, as data: `encodings` are those it recommends, in which case `text` says why.

    >>> Advice("encoding", "a period of 2 is enough", ("learned+offset",)).sentence
    'use learned+offset: a period of 2 is enough'
    """

    key: str
    text: str
    encodings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        verb = "measure" if self.key == "measure" else "use"
        return f"{verb} {either(self.encodings)}: {self.text}" if self.encodings else self.text

    def plain(self) -> dict[str, Any]:
        return {"key": self.key, "encodings": list(self.encodings), "sentence": self.sentence}


@dataclass(frozen=True)
class Opinion:
    """One theory's outlook on a task with an encoding.

    `why` is a sentence or two that can be checked by hand; `claim` is the prediction, and `grounds` what it follows
    from: the condition of a theorem that was proved, certified, measured or only guessed to hold. `binds` are the
    models that the theory is about. `details` are further sentences for `--explain`; `changes` say what would turn the
    outlook.
    """

    theory: str
    outlook: Outlook
    why: str
    claim: Claim
    grounds: Claim | None = None
    details: tuple[str, ...] = ()
    changes: tuple[Advice, ...] = ()
    binds: str = ""

    @property
    def standing(self) -> str:
        """What is known and what is assumed, in words; empty where nothing was decided."""
        return "" if self.grounds is None else _STANDING[self.outlook].get(self.grounds.kind, "")

    def plain(self) -> dict[str, Any]:
        return {
            "theory": self.theory,
            "binds": self.binds,
            "outlook": self.outlook,
            "why": self.why,
            "standing": self.standing,
            "details": list(self.details),
            "changes": [change.plain() for change in self.changes],
            "claim": self.claim.plain(),
            "grounds": None if self.grounds is None else self.grounds.plain(),
        }


_STANDING: dict[Outlook, dict[Kind, str]] = {
    "can hold": {
        "proved": "a solution is proved to exist; that training finds it is not",
        "certified": "a solution was checked on all short inputs; that training finds it is not known",
        "measured": "a solution fits all that was looked at; that training finds it is not known",
        "predicted": "a solution exists if the task is what it looks like on short inputs",
    },
    "cannot hold": {
        "proved": "the obstruction is proved; that training meets it is assumed",
        "certified": "the obstruction was checked on all short inputs; that training meets it is assumed",
        "measured": "the obstruction was seen on short inputs; that it goes on is assumed",
        "predicted": "there is an obstruction if the task is what it looks like on short inputs",
    },
    "unknown": {},
}


@dataclass(frozen=True)
class Verdict:
    """All opinions on a task with one encoding, the strongest first; the first that is decided gives the outlook."""

    encoding: str
    opinions: tuple[Opinion, ...]

    @property
    def deciding(self) -> Opinion | None:
        return next((opinion for opinion in self.opinions if opinion.outlook != "unknown"), None)

    @property
    def outlook(self) -> Outlook:
        return self.deciding.outlook if self.deciding else "unknown"

    @property
    def why(self) -> str:
        if self.deciding:
            return self.deciding.why
        return self.opinions[0].why if self.opinions else "no theory here is about this task with this encoding"

    @property
    def dissent(self) -> tuple[Opinion, ...]:
        """The decided opinions that contradict the outlook."""
        return tuple(opinion for opinion in self.opinions if opinion.outlook not in ("unknown", self.outlook))

    def plain(self) -> dict[str, Any]:
        return {
            "encoding": self.encoding,
            "outlook": self.outlook,
            "why": self.why,
            "opinions": [opinion.plain() for opinion in self.opinions],
        }


def either(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def encoding_names(encoding: str) -> tuple[str, ...]:
    """`learned:rows=60+offset` → ("learned", "offset"): the encoding and its wrappers, without their settings."""
    return tuple(part.split(":")[0].strip() for part in encoding.split("+"))


def family(encoding: str) -> Family:
    """Which theory a position spec falls under.

    "none": no encoding, where C-RASP without positions is the theory. "absolute": a learned table trained with random
    offsets, where C-RASP[periodic, local] is. "table": a learned table without offsets, whose rows beyond the training
    range are never trained. "other": encodings for which no theory here says which tasks hold.
    """
    base, *wrappers = encoding_names(encoding)
    if base == "none":
        return "none"
    if base == "learned":
        return "absolute" if wrappers[:1] == ["offset"] else "other" if wrappers else "table"
    return "other"
