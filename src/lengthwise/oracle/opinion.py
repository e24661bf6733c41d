"""What a theory says about a task with an encoding, and what several theories say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.records import Claim

Outlook = Literal["can hold", "cannot hold", "unknown"]
Family = Literal["none", "absolute", "table", "other"]


@dataclass(frozen=True)
class Opinion:
    """One theory's outlook on a task with an encoding.

    `why` is a sentence or two that can be checked by hand; `claim` is the prediction, and `grounds` what it follows
    from: a theorem's condition that was proved, certified, measured or only guessed to hold. `details` are further
    sentences for `--explain`; `changes` say what would turn the outlook.
    """

    theory: str
    outlook: Outlook
    why: str
    claim: Claim
    grounds: Claim | None = None
    details: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        return {
            "theory": self.theory,
            "outlook": self.outlook,
            "why": self.why,
            "details": list(self.details),
            "changes": list(self.changes),
            "claim": self.claim.plain(),
            "grounds": None if self.grounds is None else self.grounds.plain(),
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
        return self.opinions[0].why if self.opinions else "no theory here speaks about this task with this encoding"

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


def encoding_names(encoding: str) -> tuple[str, ...]:
    """`learned:rows=60+offset` → ("learned", "offset"): the encoding and its wrappers, without their settings."""
    return tuple(part.split(":")[0].strip() for part in encoding.split("+"))


def family(encoding: str) -> Family:
    """Which theory a position spec falls under.

    "none": no encoding, where C-RASP without positions is the theory. "absolute": a learned table trained with random
    offsets, where C-RASP[periodic, local] is. "table": a learned table without offsets, whose rows beyond the training
    range are never trained. "other": encodings no theory here speaks about.
    """
    base, *wrappers = encoding_names(encoding)
    if base == "none":
        return "none"
    if base == "learned":
        return "absolute" if wrappers[:1] == ["offset"] else "other" if wrappers else "table"
    return "other"
