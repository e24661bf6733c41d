"""Regular tasks: the decision whether a C-RASP program exists, without positions and with them.

Languages bring their automaton. For other tasks whose answer is one symbol an automaton is looked for by asking the
solver, and that it is the task is then an assumption.
"""

from __future__ import annotations

import functools

from lengthwise.oracle.crasp.absolute import AbsoluteDecision, decide_absolute
from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.decision import Decision
from lengthwise.oracle.crasp.quick import quick_test
from lengthwise.oracle.crasp.tags import decide_tags
from lengthwise.oracle.opinion import Opinion, Outlook
from lengthwise.oracle.theories.question import HUANG, LEARNED, Question
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.membership import RegularMembership
from lengthwise.tasks.languages.regular import RegularLanguage
from lengthwise.tasks.task import Task

THEORY = "C-RASP"
_LONGEST_WHY = 520  # signs
OUTLOOKS: dict[bool | None, Outlook] = {True: "can hold", False: "cannot hold", None: "unknown"}
_FEW_ACTIONS = 5_000  # of words on states, up to which the quick test is made


def automaton_of(task: Task) -> Dfa | None:
    """The minimal automaton of a regular task that brings one."""
    return task.automaton if isinstance(task, RegularLanguage | RegularMembership) else None


def opinions(question: Question) -> list[Opinion]:
    """The decision for the question's encoding, where the task is regular and the theory speaks of the encoding."""
    dfa = automaton_of(question.task)
    if dfa is None or question.family not in ("none", "absolute"):
        return []
    return [_without_positions(question, dfa) if question.family == "none" else _with_positions(question, dfa)]


decided = functools.lru_cache(maxsize=256)(decide)
tags_decided = functools.lru_cache(maxsize=256)(decide_tags)
decided_with_positions = functools.lru_cache(maxsize=256)(decide_absolute)


def _without_positions(question: Question, dfa: Dfa) -> Opinion:
    # Where every prefix is tagged the last letter is seen; an answer about the whole word is read behind it.
    decision = tags_decided(dfa) if isinstance(question.task, RegularLanguage) else decided(dfa)
    quick = quick_test(dfa, _FEW_ACTIONS)
    found = decision.explain()
    # What the quick test finds is the simplest to see by hand, so it goes before the reason of the decision.
    reason = [found[0], quick.witness.sentence(), *found[1:]] if quick.witness and decision.member is False else found
    changes = () if decision.member else _with_an_encoding(decided_with_positions(dfa))
    return question.opinion(
        THEORY,
        OUTLOOKS[decision.member],
        short(reason),
        decision.claim(),
        assumptions=(LEARNED,),
        reference=HUANG,
        details=(*found, *quick.explain()) if isinstance(question.task, RegularMembership) else tuple(found),
        changes=changes,
    )


def _with_positions(question: Question, dfa: Dfa) -> Opinion:
    decision = decided_with_positions(dfa)
    found = decision.explain()
    if decision.found is not None:
        needs = _needs(decision.found)
        found[0] = f"Counting {f'with {needs}' if needs else 'alone'} tells all states of the automaton apart."
    return question.opinion(
        THEORY,
        OUTLOOKS[decision.member],
        short(found),
        decision.claim(),
        assumptions=(LEARNED,),
        reference=HUANG,
        details=tuple(found),
        changes=() if decision.member else ("write the task as steps (a chain of thought) whose every step is local",),
    )


def _with_an_encoding(decision: AbsoluteDecision) -> tuple[str, ...]:
    if decision.found is None:
        return ()
    return (f"take learned+offset: {_needs(decision.found)} is enough",)


def _needs(decision: Decision) -> str:
    parts = [f"a period of {decision.period}"] if decision.period > 1 else []
    parts += [f"sight of the last {decision.locality} symbols"] if decision.locality else []
    return " and ".join(parts)


def short(sentences: list[str]) -> str:
    """The verdict and as many of the sentences after it as a card has room for."""
    text = sentences[0]
    for sentence in sentences[1:]:
        if len(text) + len(sentence) > _LONGEST_WHY:
            break
        text += " " + sentence
    return text
