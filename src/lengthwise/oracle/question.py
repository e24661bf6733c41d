"""What is asked of every theory: a task, an encoding, the sizes of training and use, and what the task's preset says.

The usual values are those of the recipe, the architecture and the attention `window`; a test keeps them equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lengthwise.messages import explain, sentence
from lengthwise.oracle.opinion import Advice, Opinion, Outlook
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.registry import parse_spec
from lengthwise.tasks.task import Task

Family = Literal["none", "absolute", "table", "other"]
STEPS, BATCH = 2000, 64
DEPTH, WINDOW = 2, 8
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
    }
)


@dataclass(frozen=True)
class Theory:
    """A theory under its key, and which families of encodings it covers. About all others it gives no opinion. The
    catalogue has its name (`theory.KEY`) and which models it binds (`theory.KEY_binds`)."""

    key: str
    families: frozenset[Family]


def theory(key: str, name: str, binds: str, *families: Family) -> Theory:
    """A theory whose name and models are entered in the catalogue."""
    explain({f"theory.{key}": name, f"theory.{key}_binds": binds})
    return Theory(key, frozenset(families))


def decoder_theory(key: str, name: str) -> Theory:
    """A theory of causal decoders without positions or with learned ones and random offsets."""
    return theory(key, name, sentence("oracle.decoders"), "none", "absolute")


@dataclass(frozen=True)
class Case:
    """What an opinion is about."""

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
        resting = assumptions + (grounds.assumptions if grounds else ())
        evidence = {name: getattr(self, name) for name in ("name", "encoding", "train_size", "test_size")}
        claim = Claim(
            "oracle.outlook",
            None if outlook == "unknown" else outlook,
            "",
            "predicted",
            "unknown" if outlook == "unknown" else "holds",
            assumptions=tuple(dict.fromkeys(resting)),
            reference=reference,
            evidence={**evidence, "theory": theory.key, "binds": sentence(f"theory.{theory.key}_binds")},
        )
        return Opinion(theory.key, outlook, why, claim, grounds, details, changes)


@dataclass(frozen=True)
class Question(Case):
    """The task asked about, and how many training items are planned. `quick` asks for an answer within about a second,
    with smaller searches and checks to shorter lengths; `decoder` about a layout of steps that a causal decoder writes
    out, seeing all earlier states."""

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
