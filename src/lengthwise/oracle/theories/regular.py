"""Regular tasks: the decision whether a C-RASP program answers all that is asked, without positions and with them.

Languages bring their automaton. What is asked depends on the task: after prefixes of words which symbols may come next,
or after words of the lengths that have both answers whether they belong. For other tasks with answers of one symbol an
automaton is guessed; that the task is this automaton is then an assumption.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.decide import Decision, decide
from lengthwise.oracle.crasp.guess import GuessedDecision, guess_automaton
from lengthwise.oracle.crasp.promise import Promise, mixed_lengths, prefixes
from lengthwise.oracle.crasp.promised import PromisedDecision, decide_absolute, decide_promised
from lengthwise.oracle.crasp.quick import quick_test
from lengthwise.oracle.opinion import EXPRESSED, HUANG, MET, Advice, Opinion, Outlook, Question, Theory, decoder_theory
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.verify import symbols
from lengthwise.records import Assumption
from lengthwise.tasks.formulations.formulation import Formulation
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
_OUTLOOKS: dict[bool | None, Outlook] = {True: "can hold", False: "cannot hold", None: "unknown"}
_LONGEST_WHY = 520  # characters
_FEW_ACTIONS = 5_000  # of words on states, up to which the quick test is made


def automaton_of(task: Task) -> Dfa | None:
    """The minimal automaton of a regular task that brings one."""
    return task.automaton if isinstance(task, RegularLanguage | RegularMembership) else None


def decided_with_positions(task: Task) -> Decision | None:
    """The decision that counting with positions answers what a regular task asks, where there is one."""
    dfa = automaton_of(task)
    return None if dfa is None else _decide_absolute(dfa, isinstance(task, RegularLanguage)).found


def opinions(question: Question) -> list[Opinion]:
    """The decision for the question's encoding, where the task is regular and the theory is about the encoding."""
    dfa = automaton_of(question.task)
    if dfa is None or question.family not in THEORY.families:
        return []
    tagged = isinstance(question.task, RegularLanguage)
    if question.family == "absolute":
        decision = _decide_absolute(dfa, tagged)
        found = decision.explain()
        if decision.found is not None:
            needs = _needs(decision.found)
            found[0] = sentence("crasp.counting_with" if needs else "crasp.counting_alone", {"needs": needs})
        return [_opinion(question, THEORY, decision, _short(found), found, (STEPS,))]
    decision = _decide(dfa, tagged)
    reason = found = decision.explain()
    if isinstance(decision, Decision):  # the quick test is about all words
        quick = quick_test(dfa, _FEW_ACTIONS)
        if quick.witness and decision.member is False:
            # What the quick test finds is the simplest to see by hand, so it goes before the reason of the decision.
            reason = [found[0], quick.witness.explain(), *found[1:]]
        found = [*found, *quick.explain()]
    change = STEPS
    if not decision.member and (placed := _decide_absolute(dfa, tagged).found) is not None:
        change = Advice("encoding", "advice.positions", ("learned+offset",), {"needs": _needs(placed)})
    return [_opinion(question, THEORY, decision, _short(reason), found, (change,))]


def asked_of(dfa: Dfa, task: Task) -> Promise:
    """What a regular task asks of its automaton."""
    return _asked(dfa, isinstance(task, RegularLanguage))


@functools.lru_cache(maxsize=256)
def _asked(dfa: Dfa, tagged: bool) -> Promise:
    return prefixes(dfa) if tagged else mixed_lengths(dfa)


@functools.lru_cache(maxsize=256)
def _decide(dfa: Dfa, tagged: bool) -> Decision | PromisedDecision:
    """Where every word is asked the plain decision has more to show."""
    promise = _asked(dfa, tagged)
    return decide(dfa) if promise.whole else decide_promised(promise)


@functools.lru_cache(maxsize=256)
def _decide_absolute(dfa: Dfa, tagged: bool) -> PromisedDecision:
    return decide_absolute(_asked(dfa, tagged))


def _opinion(
    question: Question,
    theory: Theory,
    decision: Decision | PromisedDecision | GuessedDecision,
    why: str,
    details: Sequence[str],
    changes: tuple[Advice, ...],
) -> Opinion:
    member = decision.member
    # What lies between a program that exists, or does not, and a trained model.
    assumptions = () if member is None else (EXPRESSED,) if member else (MET,)
    if theory is THEORY and member and not question.quick:
        assumptions += _run(question)
    rests = {"assumptions": assumptions, "reference": HUANG, "details": tuple(details)}
    return question.opinion(
        theory, _OUTLOOKS[member], why, decision.claim(), changes=() if member else changes, **rests
    )


def _run(question: Question) -> tuple[Assumption, ...]:
    """The program of the decision, run against the solver; nothing where it would be too large."""
    found = find_program(question.task, "none" if question.family == "none" else "absolute")
    if found is not None and not found.right:
        raise AssertionError(f"the program of the decision is wrong: {found.explain()[-1]}")
    if found is None or not found.verified.exhaustive:
        return ()
    return (Assumption("crasp.program_run", "checked", {"length": found.verified.checked_to}),)


def _needs(decision: Decision) -> str:
    values = {"period": decision.period, "symbols": symbols(decision.locality)}
    if decision.period == 1:
        return sentence("crasp.needs_window", values) if decision.locality else ""
    return sentence("crasp.needs_both" if decision.locality else "crasp.needs_period", values)


def _short(sentences: list[str]) -> str:
    """The verdict and as many of the sentences after it as a card has room for."""
    text = sentences[0]
    for another in sentences[1:]:
        if len(text) + len(another) > _LONGEST_WHY:
            break
        text += " " + another
    return text


def guessed_opinions(question: Question) -> list[Opinion]:
    """The decision for a guessed automaton, where one is found. Positions would change it, or else another task."""
    if question.family not in GUESSED.families or automaton_of(question.task) is not None:
        return []
    seconds = 1.0 if question.quick else 5.0
    found = _decided(question.task, question.family == "absolute", seconds)
    if found is None:
        return []
    answer, part = found.deciding
    values = {"decision": _short(part.explain()), "answer": answer, "guess": found.guess.assumption().statement}
    change = STEPS
    if not found.member and question.family == "none":
        placed = _decided(question.task, True, seconds)
        if placed is not None and placed.member:
            change = Advice("encoding", "advice.guessed_positions", ("learned+offset",))
    why = sentence("crasp.about_answer", values)
    return [_opinion(question, GUESSED, found, why, found.explain(), (change,))]


@functools.lru_cache(maxsize=256)
def _decided(task: Task, with_positions: bool, seconds: float) -> GuessedDecision | None:
    labels = task.readout == "tags" and not isinstance(task, Formulation)  # whose labels may depend on what follows
    guess = guess_of(task, seconds=seconds, labels=labels)
    return guess and guess.decide(with_positions)


guess_of = functools.lru_cache(maxsize=256)(guess_automaton)
