"""Tasks with answers of one symbol that behave like an automaton: the decision about the automaton that was found.

That the task is this automaton is an assumption, checked on all short words and on some long ones.
"""

from __future__ import annotations

import functools

from lengthwise.oracle.crasp.guess import Guess, GuessedDecision, guess_automaton
from lengthwise.oracle.opinion import Advice, Opinion, Theory
from lengthwise.oracle.theories.question import DECODERS, HUANG, Question
from lengthwise.oracle.theories.regular import OUTLOOKS, STEPS, assumed, automaton_of, short
from lengthwise.tasks.task import Task

THEORY = Theory("C-RASP, by a guessed automaton", DECODERS, frozenset({"none", "absolute"}))


def opinions(question: Question) -> list[Opinion]:
    """The decision for a guessed automaton, where one is found."""
    if question.family not in THEORY.families or automaton_of(question.task) is not None:
        return []
    found = _decided(question.task, question.family == "absolute", _seconds(question))
    if found is None:
        return []
    return [
        question.opinion(
            THEORY,
            OUTLOOKS[found.member],
            _why(found),
            found.claim(),
            assumptions=assumed(found.member),
            reference=HUANG,
            details=tuple(found.explain()),
            changes=() if found.member else _changes(question),
        )
    ]


def _changes(question: Question) -> tuple[Advice, ...]:
    """Positions, where they are enough; else another task."""
    if question.family == "none":
        found = _decided(question.task, True, _seconds(question))
        if found is not None and found.member:
            return (Advice("encoding", "positions are enough for the automaton that was found", ("learned+offset",)),)
    return (STEPS,)


def _seconds(question: Question) -> float:
    return 1.0 if question.quick else 5.0


def _why(found: GuessedDecision) -> str:
    answer, part = found.deciding
    taken = found.guess.assumption().statement
    return f"{short(part.explain())} This is about the words with the answer `{answer}`; {taken}."


@functools.lru_cache(maxsize=256)
def _decided(task: Task, with_positions: bool, seconds: float) -> GuessedDecision | None:
    guess = _guess(task, seconds)
    if guess is None:
        return None
    return guess.decide_absolute() if with_positions else guess.decide()


@functools.lru_cache(maxsize=256)
def _guess(task: Task, seconds: float) -> Guess | None:
    return guess_automaton(task, seconds=seconds)
