"""The program of a task, if the library has one for it."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, get_args

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.programs import automata, library
from lengthwise.oracle.programs.syntax import EncodingClass, Program
from lengthwise.oracle.programs.verify import Verified, symbols, verify_program
from lengthwise.records import Claim
from lengthwise.tasks.algorithmic import BinaryMajority, CopyUnique, InterleavedMajority, Majority, Sort
from lengthwise.tasks.chomsky.strings import BucketSort, EvenPairs
from lengthwise.tasks.languages.counters import BoundedDyckK, DyckOne, EqualBlocks, ShuffleTwo
from lengthwise.tasks.languages.next_symbol import END
from lengthwise.tasks.languages.regular import RegularLanguage, RegularMembership
from lengthwise.tasks.retrieval import AssociativeRecall, Induction, Kgram
from lengthwise.tasks.task import Task

explain(
    {
        "program.small_wrong": "For a small alphabet the same program is wrong: {mismatch}.",
        "program.small_right": "For a small alphabet the same program is right on every prompt of up to {prompt}.",
    }
)
_PAIRS = 30_000  # counts in a program; above it a program would take longer to run than a user waits
_SMALL: dict[type[Task], dict[str, Any]] = {  # settings at which all prompts of several lengths can be tried
    Majority: {"letters": 3},
    Sort: {"alphabet": 5},
    CopyUnique: {"alphabet": 5},
    BucketSort: {"alphabet": 3},
    AssociativeRecall: {"keys": 2, "values": 2},
    Induction: {"letters": 3},
}


@dataclass(frozen=True)
class LibraryProgram:
    """A library program, checked on the task itself and, where its alphabet is large, on the task with a small one."""

    program: Program
    verified: Verified
    small: Verified | None = None

    @property
    def right(self) -> bool:
        return self.verified.mismatch is None and (self.small is None or self.small.mismatch is None)

    def claim(self) -> Claim:
        """The claim about the task, with what was found on the small alphabet as further evidence."""
        claim = self.verified.claim()
        if self.small is None:
            return claim
        if self.small.mismatch is not None:
            claim = self.small.claim()
        return dataclasses.replace(claim, evidence={**claim.evidence, "small_alphabet": self.small.plain()})

    def explain(self) -> list[str]:
        found = self.verified.explain()
        if self.small is not None:
            key = "program.small_wrong" if self.small.mismatch else "program.small_right"
            values = {"mismatch": self.small.mismatch, "prompt": symbols(self.small.checked_to)}
            found.append(sentence(key, values))
        return found


def find_program(task: Task, encoding_class: EncodingClass, *, budget_seconds: float = 0.4) -> LibraryProgram | None:
    """The program of a task, verified; None if the library has none."""
    program = program_for(task, encoding_class)
    if program is None:
        return None
    settings = _SMALL.get(type(task), {})
    few = None
    if any(getattr(task, key) > value for key, value in settings.items()):
        few = dataclasses.replace(task, **settings)  # pyright: ignore[reportArgumentType]  # every task is a dataclass
    return _verified(program, task, few and program_for(few, encoding_class), few, budget_seconds)


@functools.lru_cache(maxsize=64)
def _verified(
    program: Program, task: Task, small_program: Program | None, few: Task | None, budget_seconds: float
) -> LibraryProgram:
    """Checked once for all encodings that it serves: how far a check gets in its time differs from one to the next."""
    small = None
    if small_program is not None and few is not None:
        small = verify_program(small_program, few, budget_seconds=budget_seconds / 2)
    rest = budget_seconds / 2 if small else budget_seconds
    return LibraryProgram(program, verify_program(program, task, budget_seconds=rest), small)


def program_for(task: Task, encoding_class: EncodingClass) -> Program | None:
    """The library's program for a task and an encoding class; None is no proof that there is none. A program that needs
    no position serves both classes. For a regular language it is made from the automaton."""
    if encoding_class not in get_args(EncodingClass):
        raise UsageError(
            f"the encoding class must be one of {', '.join(get_args(EncodingClass))}, not {encoding_class!r}"
        )
    if isinstance(task, RegularLanguage):
        mark = END
        while mark in task.automaton.alphabet:
            mark += END
        return automata.tags_program(task.automaton, mark, encoding_class)
    if isinstance(task, RegularMembership):
        return automata.member_program(task.automaton, task.symbols[-2:], encoding_class)
    match task:
        case BinaryMajority() | Majority() | InterleavedMajority(period=1):
            return library.majority(task.symbols)
        case Sort() | BucketSort():
            return library.sort(task.symbols)
        case DyckOne():
            return library.dyck_one()
        case ShuffleTwo():
            return library.shuffle_two()
        case EqualBlocks():
            return library.equal_blocks(task.letters, END)
        case BoundedDyckK():
            return library.bounded_brackets(task.pairs, task.depth, END)
        case _ if encoding_class == "none":
            return None
        case InterleavedMajority():
            return library.interleaved_majority(task.period)
        case EvenPairs():
            return library.even_pairs()
        case CopyUnique() if task.alphabet**2 <= _PAIRS:
            return library.copy_unique(task.symbols)
        case AssociativeRecall() if task.queries == 1 and task.keys * task.values <= _PAIRS:
            return library.successor(task.symbols[: task.keys], task.symbols[task.keys :])
        case Induction():
            return library.successor(task.symbols, task.symbols)
        case Kgram() if task.letters ** (task.k + 1) <= 1000:
            return library.kgram(task.symbols, task.k)
    return None
