"""What is asked of every theory: a task, an encoding, and the sizes of training and use."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.oracle.opinion import Advice, Family, Opinion, Outlook, Theory, family
from lengthwise.oracle.theories.preset import BATCH, STEPS
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.task import Task

HUANG = Reference("huang2025", "a task is learned at every length if and only if a limit transformer expresses it")
DECODERS = (
    "causal decoders with `none` or `learned+offset`, in the limit of long inputs: without positions those that round "
    "to fixed precision except inside attention [yang2025], with them those that the theorem on limit transformers is "
    "about [huang2025]"
)
EXPRESSED = Assumption("the model is large enough for the program; that training finds it is not claimed")
MET = Assumption("a model that holds at every length does what some program of the theory does")


@dataclass(frozen=True)
class Asked:
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
        claim = Claim(
            key=f"{self.name} with {self.encoding}, trained to {self.train_size}, at {self.test_size}",
            value=None if outlook == "unknown" else outlook,
            unit="",
            kind="predicted",
            status="unknown" if outlook == "unknown" else "holds",
            assumptions=tuple(dict.fromkeys(resting)),
            reference=reference,
            evidence={"theory": theory.name, "binds": theory.binds},
        )
        return Opinion(theory.name, outlook, why, claim, grounds, details, changes, theory.binds)


@dataclass(frozen=True)
class Question(Asked):
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
