"""Tasks with answers of one symbol that behave like an automaton: the decision about the automaton that was found.

That the task is this automaton is an assumption, checked on all short words and on some long ones.
"""

from __future__ import annotations

import functools

from lengthwise.messages import explain, sentence
from lengthwise.oracle.advice import Advice
from lengthwise.oracle.crasp.guess import Guess, GuessedDecision, guess_automaton
from lengthwise.oracle.opinion import Opinion
from lengthwise.oracle.question import HUANG, Question, decoder_theory
from lengthwise.oracle.theories.regular import OUTLOOKS, STEPS, assumed, automaton_of, short
from lengthwise.tasks.task import Task

THEORY = decoder_theory("guessed", "C-RASP, by a guessed automaton")
explain(
    {
        "crasp.about_answer": "{decision} This concerns the words with the answer `{answer}` and assumes that {guess}.",
        "advice.guessed_positions": "positions are enough for the automaton that was found",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """The decision for a guessed automaton, where one is found."""
    if question.family not in THEORY.families or automaton_of(question.task) is not None:
        return []
    found = _decided(question.task, question.family == "absolute", _seconds(question))
    if found is None:
        return []
    answer, part = found.deciding
    values = {"decision": short(part.explain()), "answer": answer, "guess": found.guess.assumption().statement}
    return [
        question.opinion(
            THEORY,
            OUTLOOKS[found.member],
            sentence("crasp.about_answer", values),
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
            return (Advice("encoding", "advice.guessed_positions", ("learned+offset",)),)
    return (STEPS,)


def _seconds(question: Question) -> float:
    return 1.0 if question.quick else 5.0


@functools.lru_cache(maxsize=256)
def _decided(task: Task, with_positions: bool, seconds: float) -> GuessedDecision | None:
    guess = _guess(task, seconds)
    if guess is None:
        return None
    return guess.decide_absolute() if with_positions else guess.decide()


@functools.lru_cache(maxsize=256)
def _guess(task: Task, seconds: float) -> Guess | None:
    return guess_automaton(task, seconds=seconds)
