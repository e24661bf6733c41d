"""Regular tasks: the decision whether a C-RASP program answers all that is asked, without positions and with them.

Languages bring their automaton. What is asked depends on the task: after prefixes of words which symbols may come next,
or after words of the lengths that have both answers whether they belong. For other tasks with answers of one symbol an
automaton is guessed; that the task is this automaton is then an assumption.
"""

from __future__ import annotations

import functools

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.absolute import AbsoluteDecision, decide_absolute
from lengthwise.oracle.crasp.decide import Decision, decide
from lengthwise.oracle.crasp.guess import Guess, GuessedDecision, guess_automaton
from lengthwise.oracle.crasp.promise import Promise, mixed_lengths, prefixes
from lengthwise.oracle.crasp.promised import PromisedDecision, decide_promised
from lengthwise.oracle.crasp.quick import quick_test
from lengthwise.oracle.opinion import Advice, Opinion, Outlook
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.verify import symbols
from lengthwise.oracle.question import EXPRESSED, HUANG, MET, Question, decoder_theory
from lengthwise.records import Assumption
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import RegularLanguage, RegularMembership
from lengthwise.tasks.task import Task

THEORY = decoder_theory("crasp", "C-RASP")
GUESSED = decoder_theory("guessed", "C-RASP, by a guessed automaton")
STEPS = Advice("steps", "advice.local_steps")
explain(
    {
        "crasp.counting_alone": "Counting alone distinguishes all states that need different answers.",
        "crasp.counting_with": "Counting with {needs} distinguishes all states that need different answers.",
        "crasp.needs_period": "a period of {period}",
        "crasp.needs_window": "a window of {symbols}",
        "crasp.needs_both": "a period of {period} and a window of {symbols}",
        "crasp.program_run": "its program was run against the solver on all prompts of up to {length} symbols",
        "crasp.about_answer": "{decision} This concerns the words with the answer `{answer}` and assumes that {guess}.",
        "advice.guessed_positions": "positions are enough for the automaton that was found",
        "advice.local_steps": "write the task as reasoning steps (a chain of thought), each of which is local",
        "advice.positions": "{needs} is enough",
    }
)
OUTLOOKS: dict[bool | None, Outlook] = {True: "can hold", False: "cannot hold", None: "unknown"}
_LONGEST_WHY = 520  # characters
_FEW_ACTIONS = 5_000  # of words on states, up to which the quick test is made


def automaton_of(task: Task) -> Dfa | None:
    """The minimal automaton of a regular task that brings one."""
    return task.automaton if isinstance(task, RegularLanguage | RegularMembership) else None


def decided_with_positions(task: Task) -> AbsoluteDecision | None:
    """The decision with positions about what a regular task asks; None if it brings no automaton."""
    dfa = automaton_of(task)
    return None if dfa is None else _decide_absolute(dfa, isinstance(task, RegularLanguage))


def opinions(question: Question) -> list[Opinion]:
    """The decision for the question's encoding, where the task is regular and the theory is about the encoding."""
    dfa = automaton_of(question.task)
    if dfa is None or question.family not in THEORY.families:
        return []
    return [_without_positions(question, dfa) if question.family == "none" else _with_positions(question)]


@functools.lru_cache(maxsize=256)
def _asked(dfa: Dfa, tagged: bool) -> Promise:
    return prefixes(dfa) if tagged else mixed_lengths(dfa)


@functools.lru_cache(maxsize=256)
def _decide(dfa: Dfa, tagged: bool) -> Decision | PromisedDecision:
    """Where every word is asked the plain decision has more to show."""
    promise = _asked(dfa, tagged)
    return decide(dfa) if promise.whole else decide_promised(promise)


@functools.lru_cache(maxsize=256)
def _decide_absolute(dfa: Dfa, tagged: bool) -> AbsoluteDecision:
    return decide_absolute(_asked(dfa, tagged))


def _without_positions(question: Question, dfa: Dfa) -> Opinion:
    decision = _decide(dfa, isinstance(question.task, RegularLanguage))
    reason = found = decision.explain()
    if isinstance(decision, Decision):  # the quick test is about all words
        quick = quick_test(dfa, _FEW_ACTIONS)
        if quick.witness and decision.member is False:
            # What the quick test finds is the simplest to see by hand, so it goes before the reason of the decision.
            reason = [found[0], quick.witness.explain(), *found[1:]]
        found = [*found, *quick.explain()]
    return question.opinion(
        THEORY,
        OUTLOOKS[decision.member],
        short(reason),
        decision.claim(),
        assumptions=assumed(decision.member) + _run(question, decision.member),
        reference=HUANG,
        details=tuple(found),
        changes=() if decision.member else _with_an_encoding(decided_with_positions(question.task)),
    )


def _with_positions(question: Question) -> Opinion:
    decision = decided_with_positions(question.task)
    assert decision is not None
    found = decision.explain()
    if decision.found is not None:
        needs = _needs(decision.found)
        found[0] = sentence("crasp.counting_with" if needs else "crasp.counting_alone", {"needs": needs})
    return question.opinion(
        THEORY,
        OUTLOOKS[decision.member],
        short(found),
        decision.claim(),
        assumptions=assumed(decision.member) + _run(question, decision.member),
        reference=HUANG,
        details=tuple(found),
        changes=() if decision.member else (STEPS,),
    )


def assumed(member: bool | None) -> tuple[Assumption, ...]:
    """What lies between a program that exists, or does not, and a trained model."""
    return () if member is None else (EXPRESSED,) if member else (MET,)


def _run(question: Question, member: bool | None) -> tuple[Assumption, ...]:
    """The program of the decision, run against the solver on all short words and on some long ones; nothing where it
    would be too large, or where time is short."""
    if not member or question.quick:
        return ()
    found = find_program(question.task, "none" if question.family == "none" else "absolute")
    if found is None:
        return ()
    if not found.right:
        raise AssertionError(f"the program of the decision is wrong: {found.explain()[-1]}")
    if not found.verified.exhaustive:
        return ()
    return (Assumption("crasp.program_run", "checked", {"length": found.verified.checked_to}),)


def _with_an_encoding(decision: AbsoluteDecision | None) -> tuple[Advice, ...]:
    if decision is None or decision.found is None:
        return (STEPS,)
    return (Advice("encoding", "advice.positions", ("learned+offset",), {"needs": _needs(decision.found)}),)


def _needs(decision: Decision) -> str:
    values = {"period": decision.period, "symbols": symbols(decision.locality)}
    if decision.period == 1:
        return sentence("crasp.needs_window", values) if decision.locality else ""
    return sentence("crasp.needs_both" if decision.locality else "crasp.needs_period", values)


def short(sentences: list[str]) -> str:
    """The verdict and as many of the sentences after it as a card has room for."""
    text = sentences[0]
    for another in sentences[1:]:
        if len(text) + len(another) > _LONGEST_WHY:
            break
        text += " " + another
    return text


def guessed_opinions(question: Question) -> list[Opinion]:
    """The decision for a guessed automaton, where one is found."""
    if question.family not in GUESSED.families or automaton_of(question.task) is not None:
        return []
    found = _decided(question.task, question.family == "absolute", _seconds(question))
    if found is None:
        return []
    answer, part = found.deciding
    values = {"decision": short(part.explain()), "answer": answer, "guess": found.guess.assumption().statement}
    return [
        question.opinion(
            GUESSED,
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
