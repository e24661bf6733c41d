"""What is asked of every theory, what it says, what several say together, and the advice that follows.

The question is a task, an encoding, the sizes of training and use, and what the task's preset says. The usual values
are those of the recipe, the architecture and the attention `window`; a test keeps them equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Kind, Reference
from lengthwise.registry import parse_spec
from lengthwise.tasks.task import Task

Family = Literal["none", "absolute", "table", "other"]
Outlook = Literal["can hold", "cannot hold", "unknown"]
STEPS, BATCH = 2000, 64
DEPTH, HEADS, WINDOW = 2, 4, 8
INCLUDED = "included"  # the key of the theory that an encoding can be switched off
_OFFSETS_ONLY = ("none", "rope", "alibi", "kerple", "t5")  # encodings that show at most how far apart two tokens are
HUANG = Reference("huang2025", "a task is learned at every length if and only if a limit transformer expresses it")
EXPRESSED = Assumption("oracle.expressed")
MET = Assumption("oracle.met")
explain(
    {
        "oracle.outlook": "{name} with {encoding}, trained to {train_size}, at {test_size}",
        "oracle.expressed": "the model is large enough for the program; that training finds it is not claimed",
        "oracle.met": "a model that holds at every length computes what some program of the theory computes",
        "oracle.decoders": "causal decoders with `none` or `learned+offset`, in the limit of long inputs: without "
        "positions those that round to fixed precision except inside attention [yang2025], with positions those that "
        "the theorem on limit transformers covers [huang2025]",
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
        "advice.change": "nothing here is known to hold; {change}",
        "advice.undecided": "theory does not decide here, so measure it",
        "advice.none": "none of these can hold, and no change that would help is known",
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
        names = ("key", "theory", "binds", "outlook", "why", "standing")
        return {
            **{name: getattr(self, name) for name in names},
            "details": list(self.details),
            "changes": [change.plain() for change in self.changes],
            "claim": self.claim.plain(),
            "grounds": None if self.grounds is None else self.grounds.plain(),
        }


@dataclass(frozen=True)
class Verdict:
    """All opinions on a task with one encoding, the strongest first; the first that is decided gives the outlook.
    Where a model other than our Transformer was asked about, its text stands in `encoding`."""

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

    @property
    def grounds(self) -> Kind:
        """How strong the grounds of the outlook are."""
        return self.deciding.grounds.kind if self.deciding and self.deciding.grounds else "heuristic"

    @property
    def included(self) -> bool:
        """Whether it can hold because a solution without positions is one with this encoding, too."""
        return self.deciding is not None and self.deciding.key == INCLUDED

    @property
    def changes(self) -> tuple[Advice, ...]:
        return tuple(change for opinion in self.opinions for change in opinion.changes)

    def plain(self) -> dict[str, Any]:
        opinions = [opinion.plain() for opinion in self.opinions]
        return {"encoding": self.encoding, "outlook": self.outlook, "why": self.why, "opinions": opinions}


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
    """The encodings that can hold, by the strongest grounds, before those that can if they are switched off; else the
    first change to what is not on the card; else to measure, as theory does not decide. `changes` recommend nothing
    that cannot hold."""
    can, unknown = (
        tuple(name for name, verdict in verdicts.items() if verdict.outlook == outlook)
        for outlook in ("can hold", "unknown")
    )
    for kind in get_args(Kind):  # the strongest first
        if best := tuple(name for name in can if verdicts[name].grounds == kind):
            best = tuple(name for name in best if not verdicts[name].included) or best
            return Advice("use", "advice.solution", best, {"known": sentence(f"advice.solution_{kind}")})
    change = next((one for one in changes if not set(one.encodings) & set(unknown)), None)
    if change is not None and change.encodings:
        return Advice("change", change.reason, change.encodings, change.values)
    if change is not None:
        return Advice("change", "advice.change", values={"change": change.text})
    if unknown:
        better = tuple(name for name in unknown if not any(change.encodings for change in verdicts[name].changes))
        return Advice("measure", "advice.undecided", better or unknown)
    return Advice("none", "advice.none")


@dataclass(frozen=True)
class Theory:
    """A theory under its key, and which families of encodings it covers. About all others it gives no opinion. The
    catalogue has its name (`theory.KEY`) and which models it binds (`theory.KEY_binds`)."""

    key: str
    families: frozenset[Family]


def theory(key: str, name: str, families: Sequence[Family], binds: str) -> Theory:
    """A theory whose name and models are entered in the catalogue."""
    explain({f"theory.{key}": name, f"theory.{key}_binds": binds})
    return Theory(key, frozenset(families))


def decoder_theory(key: str, name: str) -> Theory:
    """A theory of causal decoders without positions or with learned ones and random offsets."""
    return theory(key, name, ("none", "absolute"), sentence("oracle.decoders"))


@dataclass(frozen=True)
class Case:
    """What an opinion is about: a task with an encoding, or with another model, whose text then is the `encoding`."""

    name: str
    encoding: str
    train_size: int
    test_size: int

    def opinion(
        self,
        theory: Theory,
        outlook: Outlook,
        why: str,
        grounds: Claim | None = None,
        *,
        assumptions: tuple[Assumption, ...] = (),
        reference: Reference | None = None,
        details: tuple[str, ...] = (),
        changes: tuple[Advice, ...] = (),
    ) -> Opinion:
        """A theory's outlook as a prediction that rests on its grounds and on what they assume."""
        resting = tuple(dict.fromkeys(assumptions + (grounds.assumptions if grounds else ())))
        evidence = {name: getattr(self, name) for name in ("name", "encoding", "train_size", "test_size")}
        evidence |= {"theory": theory.key, "binds": sentence(f"theory.{theory.key}_binds")}
        value, status = (None, "unknown") if outlook == "unknown" else (outlook, "holds")
        claim = Claim("oracle.outlook", value, "", "predicted", status, None, resting, reference, evidence)
        return Opinion(theory.key, outlook, why, claim, grounds, details, changes)


@dataclass(frozen=True)
class Question(Case):
    """The task asked about, and how many training items are planned. `quick` asks for an answer within about a second;
    `decoder` about a layout of steps that a causal decoder writes out, seeing all earlier states."""

    task: Task
    items: int = STEPS * BATCH
    seed: int = 0
    quick: bool = False
    decoder: bool = False

    @property
    def family(self) -> Family:
        return family(self.encoding)


def planned_items(task: Task) -> int:
    """How many items training shows unless the user says otherwise: steps x batch."""
    return int(task.preset.get("steps", STEPS)) * int(task.preset.get("batch", BATCH))


def columns_seen(task: Task, encoding: str) -> int | None:
    """How many columns, centred on its own, an output can depend on when attention is limited to a window: one layer
    reaches size - 1 columns to either side. None where it can depend on all, or on its position."""
    name, settings = parse_spec(str(task.preset.get("attention", "softmax")))
    base, *wrappers = encoding_names(encoding)
    if name != "window" or base not in _OFFSETS_ONLY or wrappers or "dynamic" in encoding:
        return None
    return 2 * int(task.preset.get("depth", DEPTH)) * (int(settings.get("size", WINDOW)) - 1) + 1


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
