"""Programs made from an automaton, by strongly connected components.

A word enters the components of an automaton one after another and never comes back to one, so "entered" and "left" are
events that counts can date. Inside a component a state is found by *balance*: numbers V(state) such that every letter
moves V by an amount that depends only on what is known already. If V differs between all states, the state is known.

What is known: first the position modulo `period` and the last `window` symbols; then, round by round, the block a state
lies in by its V so far (`balance.py` finds the numbers). The method stops with a program or with states that no round
tells apart. For period 1 and window 0 that is the decision procedure of Yang et al. for C-RASP without positions turned
into a program; otherwise it is sufficient only. The proof that the program is right is in docs/programs.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.oracle.programs.build import (
    FALSE,
    TRUE,
    Draft,
    all_of,
    any_of,
    at_back,
    compare,
    never,
    none_of,
    one_if,
    total,
)
from lengthwise.oracle.programs.build import some as ever
from lengthwise.oracle.programs.library.balance import Round, Situation, Space, rounds
from lengthwise.oracle.programs.syntax import (
    Boolean,
    Count,
    Difference,
    Letter,
    Multiple,
    Name,
    Number,
    Phase,
)

_BOS = "<bos>"


@dataclass(frozen=True)
class States:
    """Where the automaton is: after the symbol here (`at`), and before it (`before`), by state."""

    at: dict[int, Boolean]
    before: dict[int, Boolean]


def read_states(draft: Draft, space: Space) -> States | None:
    """Add lines to a draft after which the state is known at every position; None if the method fails."""
    found = [rounds(space, component) for component in space.components]
    if any(steps is None for steps in found):
        return None
    at: dict[int, list[Boolean]] = {}
    before: dict[int, list[Boolean]] = {}
    exact: dict[Situation, Boolean] = {}  # "before the symbol here, the automaton is in this situation"
    for number, (component, steps) in enumerate(zip(space.components, found, strict=True)):
        reader = _Component(draft, space, component, number, exact)
        for step in steps or ():
            reader.refine(step)
        reader.close()
        for situation in component:
            at.setdefault(situation.state, []).append(reader.at(situation))
            before.setdefault(situation.state, []).append(exact[situation])
    return States(
        {state: any_of(parts) for state, parts in at.items()}, {q: any_of(parts) for q, parts in before.items()}
    )


class _Component:
    """The lines of one component; `exact` has the situations of the components before it."""

    def __init__(
        self,
        draft: Draft,
        space: Space,
        component: tuple[Situation, ...],
        number: int,
        exact: dict[Situation, Boolean],
    ) -> None:
        self.draft, self.space, self.component, self.exact, self.number = draft, space, component, exact, number
        inside = set(component)
        self.entered: dict[Situation, Boolean] = {}
        for target in component:
            ways: list[Boolean] = [Letter(_BOS)] if target == space.start else []
            for source, letter in space.sources(target):
                if source not in inside:
                    ways.append(all_of([Letter(letter), exact[source]]))
            if ways:
                self.entered[target] = self._define(f"enters{len(self.entered)}", any_of(ways))
        entry = self._define("enters", any_of(self.entered.values()))
        self.been = self._define("been", ever(entry))  # inside, or already gone again
        self.after = self._define("after", compare(Difference(Count(entry), one_if(entry)), ">=", 1))
        # What is known of a situation after and before the symbol here: at first the position and the last symbols.
        self.known_at = {situation: _observed(space, situation, 0) for situation in component}
        self.known_before = {situation: _observed(space, situation, 1) for situation in component}
        self.level = 0

    def refine(self, step: Round) -> None:
        """One round: a number V that starts at its value where the component is entered and moves with the letters."""
        level, terms, here = self.level, [], []
        for situation, entry in self.entered.items():
            if step.values[situation]:
                terms.append(Multiple(step.values[situation], Count(entry)))
        for place, (edges, amount) in enumerate(step.moves):
            ways = any_of(
                all_of([Letter(letter), self.known_before[source], self.known_at[target]])
                for source, letter, target in edges
            )
            moved = self._define(f"move{level}_{place}", all_of([self.after, ways]))
            terms.append(Multiple(amount, Count(moved)))
            here.append(Multiple(amount, one_if(moved)))
        value = self._define(f"v{level}", total(terms))
        earlier = self._define(f"u{level}", Difference(value, total(here)) if here else value)
        for situation in self.component:
            wanted = step.values[situation]
            self.known_at[situation] = all_of([self.known_at[situation], compare(value, "==", wanted)])
            self.known_before[situation] = all_of([self.known_before[situation], compare(earlier, "==", wanted)])
        self.level += 1

    def close(self) -> None:
        """The event of leaving, and with it where the automaton is before the symbol here."""
        inside = set(self.component)
        leaving = any_of(
            all_of([Letter(letter), self.known_before[source]])
            for source in self.component
            for letter, target in self.space.moves(source)
            if target not in inside
        )
        self.gone = FALSE
        gone_before: Boolean = FALSE
        if leaving != FALSE:
            leaves = self._define("leaves", all_of([self.after, leaving]))
            self.gone = none_of(never(leaves))
            gone_before = self._define("gone", compare(Difference(Count(leaves), one_if(leaves)), ">=", 1))
        for place, situation in enumerate(self.component):
            known = all_of([self.after, none_of(gone_before), self.known_before[situation]])
            self.exact[situation] = self._define(f"in{place}", known)

    def at(self, situation: Situation) -> Boolean:
        return all_of([self.been, none_of(self.gone), self.known_at[situation]])

    def _define(self, name: str, expression: Boolean | Number) -> Name:
        return self.draft.define(f"c{self.number}_{name}", expression)


def _observed(space: Space, situation: Situation, shift: int) -> Boolean:
    """The position and the last symbols of a situation, seen `shift` positions later."""
    phase = (situation.phase + shift) % space.period
    position = Phase(space.period, phase) if space.period > 1 else TRUE
    last = (at_back(Letter(symbol), step + shift) for step, symbol in enumerate(reversed(situation.recent)))
    return all_of([position, *last])
