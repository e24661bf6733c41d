"""Regular languages, tagged or decided, by a program made from the decision about their automaton."""

from __future__ import annotations

from lengthwise.oracle.crasp.absolute import decide_absolute
from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.decision import Decision
from lengthwise.oracle.programs.build import Draft, all_of, any_of, letters
from lengthwise.oracle.programs.library.automata import read_states, readable_parts
from lengthwise.oracle.programs.measures import EncodingClass
from lengthwise.oracle.programs.prompts import EOS, SEP
from lengthwise.oracle.programs.syntax import Letter, Program
from lengthwise.tasks.languages.dfa import Dfa

_LARGEST = 150  # states of a product: a larger one makes a program nobody wants to read or run


def tags_program(dfa: Dfa, end: str, encoding_class: EncodingClass) -> Program | None:
    """Which letters may come next, and whether the word may end. Only beginnings of words are ever asked about."""
    decision = _membership(dfa, encoding_class, dead=False)
    if decision is None:
        return None
    minimal, draft = decision.dfa, Draft()
    states = read_states(draft, decision, dead=False)
    for place, letter in enumerate(minimal.alphabet):
        legal = (here for state, here in states.at.items() if minimal.transitions[state][place] in minimal.live)
        draft.output(letter, any_of(legal))
    draft.output(end, any_of(here for state, here in states.at.items() if state in minimal.accepting))
    return draft.program()


def member_program(dfa: Dfa, answers: tuple[str, str], encoding_class: EncodingClass) -> Program | None:
    """Whether the word before `<sep>` belongs to the language."""
    decision = _membership(dfa, encoding_class, dead=True)
    if decision is None:
        return None
    draft = Draft()
    states = read_states(draft, decision, dead=True)
    for answer, wanted in zip(answers, (True, False), strict=True):
        here = (before for state, before in states.before.items() if (state in decision.dfa.accepting) == wanted)
        draft.output(answer, all_of([Letter(SEP), any_of(here)]))
    draft.output(EOS, letters(answers))
    return draft.program()


def _membership(dfa: Dfa, encoding_class: EncodingClass, dead: bool) -> Decision | None:
    """The decision that counting is enough, if it is and if its program is not too large."""
    minimal = dfa.minimised()
    if len(minimal.transitions) > _LARGEST + 1:  # with a dead state that may be left out
        return None
    decision = decide_absolute(minimal).found if encoding_class == "absolute" else decide(minimal)
    if decision is None or not decision.member:
        return None
    size = sum(len(part.component.states) for part in readable_parts(decision, dead))
    return decision if size <= _LARGEST else None
