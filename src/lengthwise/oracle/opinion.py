"""What a theory says about a task with an encoding, what several say together, and the advice that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lengthwise.messages import explain, sentence
from lengthwise.records import Claim, Kind

Outlook = Literal["can hold", "cannot hold", "unknown"]
_KINDS: tuple[Kind, ...] = ("proved", "certified", "measured", "predicted", "heuristic")  # of grounds, strongest first
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
        "advice.use": "use {encodings}: {text}",
        "advice.measure": "measure {encodings}: {text}",
        "advice.solution": "{known}; run it to see whether training finds it",
        "advice.solution_proved": "a solution exists that works at every length",
        "advice.solution_certified": "a solution is right on all short inputs, which were all checked",
        "advice.solution_measured": "a solution fits the sizes that were examined; nothing is known beyond them",
        "advice.solution_predicted": "a solution exists if the task is what it looks like on short inputs",
        "advice.solution_heuristic": "a solution is likely to exist",
        "advice.change": "no encoding here is known to hold; {change}",
        "advice.undecided": "theory does not decide here, so measure it",
        "advice.none": "none of these encodings can hold, and no change that would help is known",
        "advice.not_will": "Can hold does not mean will hold, because training may miss the solution. In published "
        "curves of runs that were perfect up to length 50, 10 % of 1,298 held at 9 times that length where a solution "
        "exists, and none of 4,420 where none does. Of six regular languages tried with the default recipe, two held "
        "with learned+offset at 3 times the training length.",
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


@dataclass(frozen=True)
class Advice:
    """What to do. `key` says which kind of change it is, `reason` is the key of the sentence that says what or why, and
    `encodings` are those it recommends.

    >>> Advice("encoding", "advice.solution_proved", ("learned+offset",)).sentence
    'use learned+offset: a solution exists that works at every length'
    """

    key: str
    reason: str
    encodings: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def text(self) -> str:
        return sentence(self.reason, self.values)

    @property
    def sentence(self) -> str:
        if not self.encodings:
            return self.text
        *others, last = self.encodings
        names = f"{', '.join(others)} or {last}" if others else last
        key = "advice.measure" if self.key == "measure" else "advice.use"
        return sentence(key, {"encodings": names, "text": self.text})

    def plain(self) -> dict[str, Any]:
        return {"key": self.key, "encodings": list(self.encodings), "sentence": self.sentence}


def first_advice(verdicts: Mapping[str, Verdict], changes: Sequence[Advice]) -> Advice:
    """The encodings that can hold, by the strongest grounds; else the first change to what is not on the card; else to
    measure, as theory does not decide. `changes` recommend nothing that cannot hold."""
    can, unknown = (
        tuple(name for name, verdict in verdicts.items() if verdict.outlook == outlook)
        for outlook in ("can hold", "unknown")
    )
    for kind in _KINDS:
        if best := tuple(name for name in can if _grounds(verdicts[name]) == kind):
            return Advice("use", "advice.solution", best, {"known": sentence(f"advice.solution_{kind}")})
    change = next((one for one in changes if not set(one.encodings) & set(unknown)), None)
    if change is not None and change.encodings:
        return Advice("change", change.reason, change.encodings, change.values)
    if change is not None:
        return Advice("change", "advice.change", values={"change": change.text})
    if unknown:
        better = tuple(name for name in unknown if not _points_elsewhere(verdicts[name]))
        return Advice("measure", "advice.undecided", better or unknown)
    return Advice("none", "advice.none")


def _grounds(verdict: Verdict) -> Kind:
    deciding = verdict.deciding
    return "heuristic" if deciding is None or deciding.grounds is None else deciding.grounds.kind


def _points_elsewhere(verdict: Verdict) -> bool:
    """Whether another encoding is recommended instead."""
    return any(change.encodings for opinion in verdict.opinions for change in opinion.changes)
