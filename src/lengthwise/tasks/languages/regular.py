"""Regular languages: which symbols may come next after every prefix of a word, and whether a word belongs."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import SPECIALS, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.dfa import Dfa, Walks
from lengthwise.tasks.languages.next_symbol import END, NextSymbol, label
from lengthwise.tasks.languages.regex import automaton
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class _Tables:
    """What sampling needs of an automaton: its words, and the tag of every state as an index into `symbols`."""

    symbols: tuple[str, ...]
    tags: Ints
    walks: Walks


# Of six recipes, the cheapest of those that learned most of nine random languages (docs/findings/log.md).
STEADY = {"steps": 1000, "batch": 48, "rate": 3e-3, "warmup": 0.2, "sizes": "long_first"}


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

    def legal(self, word: Sequence[str]) -> Iterator[tuple[str, ...]]:
        known: dict[int, tuple[str, ...]] = {}
        for state in self.automaton.run(word):
            if state not in known:
                known[state] = self._following(state, lambda onward: _ends(self.automaton, onward))
            yield known[state]

    def _following(self, state: int, ends: Callable[[int], bool]) -> tuple[str, ...]:
        """The symbols that may follow in a state, where `ends` says from which states some word is accepted."""
        dfa = self.automaton
        letters = (a for a, onward in zip(dfa.alphabet, dfa.transitions[state], strict=True) if ends(onward))
        return (*letters, _end(dfa)) if state in dfa.accepting else tuple(letters)

    @functools.cached_property
    def _tables(self) -> _Tables:
        dfa = self.automaton
        legal = {state: self._following(state, dfa.live.__contains__) for state in sorted(dfa.live)}
        sets = list(dict.fromkeys(legal.values()))
        symbols = (*dfa.alphabet, *map(label, sets))
        if len(set(symbols)) < len(symbols) or set(symbols) & set(SPECIALS):
            raise UsageError(f"the letters {' '.join(dfa.alphabet)} cannot be told from the tags; rename some")
        tags = np.full(len(dfa.transitions), -1)
        for state, letters in legal.items():
            tags[state] = len(dfa.alphabet) + sets.index(letters)
        return _Tables(symbols, tags, Walks(dfa.transitions, dfa.accepting))


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
    preset = STEADY

    def __post_init__(self) -> None:
        if not any(self.has(size) for size in range(1, len(self.automaton.transitions) + 1)):
            raise UsageError(f"the only word of {self.expression or self.dfa!r} is the empty one")
        _ = self._tables  # letters that look like tags are found here

    def build(self) -> Dfa:
        return read_language(self.expression, self.dfa, self.alphabet)


_ANSWERS = ("yes", "no")


@tasks.register("regular_member")
@dataclass(frozen=True)
class RegularMembership(Task):
    """Say whether a word belongs to a regular language: yes or no.

    `regular_member:expression=(ab)*`: `a b a b` → `yes`, `a b b a` → `no`. A fair coin chooses the answer, then the
    word is uniform among those of its length with that answer. The language is a named one (`language=tomita_3`,
    `language=d_n:depth=5`), an expression or a JSON file, as in `regular`.
    """

    language: str = ""
    expression: str = ""
    dfa: str = ""
    alphabet: str = ""

    def __post_init__(self) -> None:
        if self.language:
            known = self._named.facts  # what is known of the language holds; published curves are of another question
            object.__setattr__(self, "facts", replace(known, published=()))
        if set(self.automaton.alphabet) & {*_ANSWERS, *SPECIALS}:
            raise UsageError(f"the letters {' '.join(self.automaton.alphabet)} cannot be told from the answers")
        # Two letters that part ways in a minimal automaton are told apart by some continuation; if no state has such
        # letters, length alone decides.
        if all(len(set(row)) == 1 for row in self.automaton.transitions):
            raise UsageError("no length has both a word of the language and one outside it (alphabet=... adds letters)")

    @functools.cached_property
    def _named(self) -> RegularLanguage:
        if self.expression or self.dfa or self.alphabet:
            raise UsageError("the language is given by its name, an expression or a dfa file, one of the three")
        named = tasks.restore(self.language)
        if not isinstance(named, RegularLanguage):
            raise UsageError(f"{self.language!r} is not the name of a regular language")
        return named

    @functools.cached_property
    def automaton(self) -> Dfa:
        """The minimal automaton."""
        if self.language:
            return self._named.automaton
        return read_language(self.expression, self.dfa, self.alphabet).minimised()

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*self.automaton.alphabet, *_ANSWERS)

    def has(self, size: int) -> bool:
        reached = self.automaton.reached(size) if size >= 1 else frozenset()
        return bool(reached & self.automaton.accepting) and bool(reached - self.automaton.accepting)

    def sample(self, size: int, draws: Draws) -> Samples:
        outside = draws.integers(0, 2, 1)
        states = len(self.automaton.transitions)
        letters, _ = self._walks.words(self.automaton.start + states * outside[:, 0], draws.uniform(size))
        return Samples(letters, len(self.automaton.alphabet) + outside)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [_ANSWERS[0] if self.automaton.accepts(prompt) else _ANSWERS[1]]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)

    @functools.cached_property
    def _walks(self) -> Walks:
        """Two copies of the automaton side by side: the first accepts the language, the second all other words."""
        dfa, states = self.automaton, len(self.automaton.transitions)
        copy = [[states + target for target in row] for row in dfa.transitions]
        return Walks([*dfa.transitions, *copy], {*dfa.accepting, *(states + q for q in dfa.complement().accepting)})


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
