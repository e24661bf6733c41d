"""Regular languages, tagged or decided, by the program of their automaton."""

from __future__ import annotations

from collections.abc import Iterator

from lengthwise.oracle.programs.build import Draft, all_of, any_of, letters
from lengthwise.oracle.programs.library.automata import read_states
from lengthwise.oracle.programs.library.balance import Space
from lengthwise.oracle.programs.measures import EncodingClass
from lengthwise.oracle.programs.prompts import EOS, SEP
from lengthwise.oracle.programs.syntax import Letter, Program
from lengthwise.tasks.languages.dfa import Dfa

# Periods and windows tried for an absolute encoding, the simplest first; a language that needs others is not found.
_ABSOLUTE = ((1, 1), (2, 0), (1, 2), (3, 0), (4, 0), (2, 1), (5, 0), (6, 0), (1, 3), (4, 1), (2, 2), (4, 2))
_LARGEST = 150  # situations: a larger space makes a program nobody wants to read or run


def tags_program(dfa: Dfa, end: str, encoding_class: EncodingClass) -> Program | None:
    """Which letters may come next, and whether the word may end. Only beginnings of words are ever asked about."""
    for space in _spaces(dfa, encoding_class, dead=False):
        draft = Draft()
        states = read_states(draft, space)
        if states is not None:
            for place, letter in enumerate(dfa.alphabet):
                legal = (here for state, here in states.at.items() if dfa.transitions[state][place] in dfa.live)
                draft.output(letter, any_of(legal))
            draft.output(end, any_of(here for state, here in states.at.items() if state in dfa.accepting))
            return draft.program()
    return None


def member_program(dfa: Dfa, answers: tuple[str, str], encoding_class: EncodingClass) -> Program | None:
    """Whether the word before `<sep>` belongs to the language."""
    for space in _spaces(dfa, encoding_class, dead=True):
        draft = Draft()
        states = read_states(draft, space)
        if states is not None:
            for answer, wanted in zip(answers, (True, False), strict=True):
                here = (before for state, before in states.before.items() if (state in dfa.accepting) == wanted)
                draft.output(answer, all_of([Letter(SEP), any_of(here)]))
            draft.output(EOS, letters(answers))
            return draft.program()
    return None


def _spaces(dfa: Dfa, encoding_class: EncodingClass, dead: bool) -> Iterator[Space]:
    for period, window in ((1, 0), *(_ABSOLUTE if encoding_class == "absolute" else ())):
        if len(dfa.transitions) * period * len(dfa.alphabet) ** window <= _LARGEST or (period, window) == (1, 0):
            space = Space(dfa, period, window, dead)
            if len(space.table) <= _LARGEST:
                yield space
