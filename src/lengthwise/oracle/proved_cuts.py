"""Tasks whose bound is known at every size by an argument, not only where it was measured.

All arguments count answers: prompts with different answers are told apart after the prompt (`cuts.cut_after_prompt`),
so a task that has A different answers at a size needs at least log2 A bits there. docs/programs.md spells them out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lengthwise.tasks.algorithmic.addition import Addition
from lengthwise.tasks.algorithmic.copy_repeat import CopyRepeat
from lengthwise.tasks.chomsky.binary_addition import BinaryAddition
from lengthwise.tasks.chomsky.binary_multiplication import BinaryMultiplication
from lengthwise.tasks.chomsky.compute_sqrt import ComputeSqrt
from lengthwise.tasks.chomsky.duplicate_string import DuplicateString
from lengthwise.tasks.chomsky.odds_first import OddsFirst
from lengthwise.tasks.chomsky.reverse_string import ReverseString
from lengthwise.tasks.chomsky.stack_manipulation import StackManipulation
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class Proof:
    """`argument` says why there are at least `answers(n)` different answers to prompts of n symbols."""

    argument: str
    answers: Callable[[int], int]


_WHOLE = "the answer determines the prompt, and all 2^n strings of two symbols are prompts"
_PROOFS: dict[type[Task], Proof] = {
    CopyRepeat: Proof(_WHOLE, lambda n: 2**n),
    ReverseString: Proof(_WHOLE, lambda n: 2**n),
    DuplicateString: Proof(_WHOLE, lambda n: 2**n),
    OddsFirst: Proof(_WHOLE, lambda n: 2**n),
    Addition: Proof(
        "x + 0 = has the answer x, for each of the 2^(n-4) numbers x of n - 3 bits that begin with 1",
        lambda n: 2 ** (n - 4),
    ),
    BinaryAddition: Proof(
        "x + 1 has another answer for each of the 2^(n-2) - 1 positive numbers x of n - 2 bits",
        lambda n: 2 ** (n - 2) - 1,
    ),
    BinaryMultiplication: Proof(
        "x * 1 has the answer x, for each of the 2^(n-2) - 1 positive numbers x of n - 2 bits",
        lambda n: 2 ** (n - 2) - 1,
    ),
    ComputeSqrt: Proof(
        "every r from 1 to 2^(n/2 rounded down) - 1 is the root of r * r, which has at most n bits",
        lambda n: 2 ** (n // 2) - 1,
    ),
    StackManipulation: Proof(
        "a stack of n - 1 bits and push0 is written backwards after a 0, for each of the 2^(n-1) stacks",
        lambda n: 2 ** (n - 1),
    ),
}


def proof_for(task: Task) -> Proof | None:
    """The argument for a task; only for the very classes above, as a subclass may ask something else."""
    return _PROOFS.get(type(task))
