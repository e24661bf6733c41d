"""What a theory says about a task with an encoding, and what several theories say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.messages import explain, sentence
from lengthwise.oracle.advice import Advice
from lengthwise.records import Claim

Outlook = Literal["can hold", "cannot hold", "unknown"]
explain(
    {
        "outlook.can_hold": "can hold",
        "outlook.cannot_hold": "cannot hold",
        "outlook.unknown": "unknown",
        "oracle.nothing_said": "No theory here covers this task with this encoding.",
        "standing.can_hold_proved": "a solution is proved to exist; that training finds it is not",
        "standing.can_hold_certified": "a solution was checked on all short inputs; whether training finds it is not "
        "known",
        "standing.can_hold_measured": "a solution fits everything examined; whether training finds it is not known",
        "standing.can_hold_predicted": "a solution exists if the task is what it looks like on short inputs",
        "standing.cannot_hold_proved": "the obstruction is proved; that training meets it is assumed",
        "standing.cannot_hold_certified": "the obstruction was checked on all short inputs; that training meets it is "
        "assumed",
        "standing.cannot_hold_measured": "the obstruction was seen on short inputs; that it persists is assumed",
        "standing.cannot_hold_predicted": "there is an obstruction if the task is what it looks like on short inputs",
    }
)


def outlook_words(outlook: Outlook) -> str:
    """An outlook as people read it."""
    return sentence(f"outlook.{outlook.replace(' ', '_')}")


@dataclass(frozen=True)
class Opinion:
    """One theory's outlook on a task with an encoding.

    `key` names the theory. `why` is a sentence or two that can be checked by hand; `claim` is the prediction, and
    `grounds` what it follows from: the condition of a theorem that was proved, certified, measured or only guessed to
    hold. `details` are further sentences for `--explain`; `changes` say what would change the outlook.
    """

    key: str
    outlook: Outlook
    why: str
    claim: Claim
    grounds: Claim | None = None
    details: tuple[str, ...] = ()
    changes: tuple[Advice, ...] = ()

    @property
    def theory(self) -> str:
        """The name of the theory."""
        return sentence(f"theory.{self.key}")

    @property
    def binds(self) -> str:
        """The models that the theory is about."""
        return sentence(f"theory.{self.key}_binds")

    @property
    def standing(self) -> str:
        """What is known and what is assumed, in words; empty where nothing was decided."""
        if self.outlook == "unknown" or self.grounds is None or self.grounds.kind == "heuristic":
            return ""
        return sentence(f"standing.{self.outlook.replace(' ', '_')}_{self.grounds.kind}")

    def plain(self) -> dict[str, Any]:
        return {
            "key": self.key,
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


@dataclass(frozen=True)
class Verdict:
    """All opinions on a task with one encoding, the strongest first; the first that is decided gives the outlook."""

    encoding: str
    opinions: tuple[Opinion, ...]

    @property
    def deciding(self) -> Opinion | None:
        return next((opinion for opinion in self.opinions if opinion.outlook != "unknown"), None)

    @property
    def leading(self) -> Opinion | None:
        """The opinion that gives the reason: the deciding one, else the first."""
        return self.deciding or next(iter(self.opinions), None)

    @property
    def outlook(self) -> Outlook:
        return self.deciding.outlook if self.deciding else "unknown"

    @property
    def why(self) -> str:
        return self.leading.why if self.leading else sentence("oracle.nothing_said")

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
