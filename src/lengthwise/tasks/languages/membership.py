"""Whether a word belongs to a regular language."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import SPECIALS, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import RegularLanguage, read_language
from lengthwise.tasks.languages.uniform import Walks
from lengthwise.tasks.task import Task

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
