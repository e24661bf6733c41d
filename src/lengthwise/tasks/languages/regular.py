"""Which symbols may come next in a word of any regular language."""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import SPECIALS, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.next_symbol import END, NextSymbol, label
from lengthwise.tasks.languages.regex import automaton
from lengthwise.tasks.languages.uniform import Walks


@dataclass(frozen=True)
class _Tables:
    """What sampling needs of an automaton: its words, and the tag of every state as an index into `symbols`."""

    symbols: tuple[str, ...]
    tags: Ints
    walks: Walks


class RegularLanguage(NextSymbol):
    """A regular language; a subclass says which, by its automaton. Words of one length are drawn uniformly."""

    @abc.abstractmethod
    def build(self) -> Dfa:
        """An automaton of the language."""

    @functools.cached_property
    def automaton(self) -> Dfa:
        """The minimal automaton."""
        return self.build().minimised()

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._tables.symbols

    def has(self, size: int) -> bool:
        return size >= 1 and self.automaton.has_word(size)

    def sample(self, size: int, draws: Draws) -> Samples:
        starts = np.full(len(draws), self.automaton.start)
        letters, states = self._tables.walks.words(starts, draws.uniform(size))
        return Samples(letters, self._tables.tags[states])

    def chance(self, size: int) -> Chance:
        """Counted on the automaton. The empty prefix has the tag of the start, so no other tag can stand everywhere."""
        tables = self._tables
        everywhere, shares = tables.walks.visits(self.automaton.start, size, tables.tags)
        return Chance(everywhere, min(1.0, float(shares.max())))

    def legal(self, word: Sequence[str]) -> Iterator[list[str]]:
        dfa, end, known = self.automaton, _end(self.automaton), {}
        for state in dfa.run(word):
            if state not in known:
                letters = [
                    a for a, onward in zip(dfa.alphabet, dfa.transitions[state], strict=True) if _ends(dfa, onward)
                ]
                known[state] = [*letters, end] if state in dfa.accepting else letters
            yield known[state]

    @functools.cached_property
    def _tables(self) -> _Tables:
        dfa, end = self.automaton, _end(self.automaton)
        legal = {
            state: tuple(
                a for a, onward in zip(dfa.alphabet, dfa.transitions[state], strict=True) if onward in dfa.live
            )
            + ((end,) if state in dfa.accepting else ())
            for state in sorted(dfa.live)
        }
        sets = list(dict.fromkeys(legal.values()))
        symbols = (*dfa.alphabet, *map(label, sets))
        if len(set(symbols)) < len(symbols) or set(symbols) & set(SPECIALS):
            raise UsageError(f"the letters {' '.join(dfa.alphabet)} cannot be told from the tags; rename some")
        tags = np.full(len(dfa.transitions), -1)
        for state, letters in legal.items():
            tags[state] = len(dfa.alphabet) + sets.index(letters)
        return _Tables(symbols, tags, Walks(dfa.transitions, dfa.accepting))


class NamedLanguage(RegularLanguage):
    """A regular language known by a name: the subclass gives its expression, and letters the expression leaves out."""

    expression: ClassVar[str]
    letters: ClassVar[str] = ""

    def build(self) -> Dfa:
        return automaton(self.expression, self.letters)


@tasks.register("regular")
@dataclass(frozen=True)
class Regular(RegularLanguage):
    """Tag every prefix of a word of a regular language with the symbols that may come next.

    `regular:expression=(ab)*`: `a b` → `{a,$} {b} {a,$}`; `$` is the end of the word. The language is given by an
    expression (`lengthwise.tasks.languages.regex` describes the notation) or by an automaton in a JSON file; `alphabet`
    adds letters that the expression leaves out. `regular_member` asks whether a word belongs.
    """

    expression: str = ""
    dfa: str = ""
    alphabet: str = ""

    def __post_init__(self) -> None:
        if not any(self.has(size) for size in range(1, len(self.automaton.transitions) + 1)):
            raise UsageError(f"the only word of {self.expression or self.dfa!r} is the empty one")
        _ = self._tables  # letters that look like tags are found here

    def build(self) -> Dfa:
        return read_language(self.expression, self.dfa, self.alphabet)


def read_language(expression: str, dfa: str, alphabet: str = "") -> Dfa:
    """The automaton of an expression or of a JSON file, whichever is given."""
    if bool(expression) == bool(dfa):
        raise UsageError("a regular language is given by an expression or by a dfa file, one of the two")
    if dfa and alphabet:
        raise UsageError("a dfa file has its own alphabet; letters can be added to an expression only")
    found = automaton(expression, alphabet) if expression else Dfa.from_json(dfa)
    if found.is_empty():
        what = "expression" if expression else "automaton"
        raise UsageError(f"the {what} describes no word at all: {expression or dfa!r}")
    return found


def _end(dfa: Dfa) -> str:
    """The end mark, `$` unless that is a letter."""
    mark = END
    while mark in dfa.alphabet:
        mark += END
    return mark


def _ends(dfa: Dfa, state: int) -> bool:
    """Whether some word is accepted from a state, by a forward search (the sampler searches backwards)."""
    seen, queue = {state}, [state]
    while queue:
        here = queue.pop()
        if here in dfa.accepting:
            return True
        fresh = set(dfa.transitions[here]) - seen
        seen |= fresh
        queue.extend(fresh)
    return False
