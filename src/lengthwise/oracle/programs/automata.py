"""Programs of regular languages, tagged or decided, made from the decision that counting distinguishes their states.

A word enters the components of an automaton one after another and never comes back to one, so "entered" and "left" are
events that counts can date. Inside a component the terms of the decision, written as counts, say where the automaton
is. Where the terms come from and why they suffice is in docs/explanation/crasp.md; what the program adds is in
docs/explanation/programs.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lengthwise.oracle.crasp.automata import component_numbers
from lengthwise.oracle.crasp.decide import Decision
from lengthwise.oracle.crasp.promise import Promise, everything, prefixes
from lengthwise.oracle.crasp.promised import decide_absolute, decide_promised
from lengthwise.oracle.crasp.refine import CountTerm, Refinement, Round
from lengthwise.oracle.programs.prompts import BOS, EOS, SEP
from lengthwise.oracle.programs.syntax import (
    FALSE,
    TRUE,
    Boolean,
    Count,
    Difference,
    Draft,
    EncodingClass,
    Letter,
    Multiple,
    Name,
    Number,
    Phase,
    Program,
    all_of,
    any_of,
    at_back,
    compare,
    letters,
    none_of,
    one_if,
    total,
)
from lengthwise.tasks.languages.dfa import Dfa

_Move = tuple[int, str, int]  # state of the product, letter, state
_LARGEST = 150  # states of a product: a larger one makes a program nobody wants to read or run


def readable_parts(decision: Decision, dead: bool) -> list[Refinement]:
    """The components in an order in which those that lead to one come before it. Without `dead`, only those from which
    a word can still be accepted; a component is dead as a whole or not at all."""
    machine, live = decision.product, decision.dfa.live
    numbers = component_numbers(machine.transitions)
    parts = [part for part in decision.refinements if dead or machine.states[part.component.states[0]][0] in live]
    return sorted(parts, key=lambda part: -numbers[part.component.states[0]])


def read_states(draft: Draft, decision: Decision, dead: bool) -> dict[int, Boolean]:
    """Add lines to a draft for a decision that found a member, and say for each state of `decision.dfa` whether the
    automaton is there before the symbol here. Without `dead` that is so as long as what was read begins a word."""
    if not decision.member:
        raise ValueError("a program can be made only where counting distinguishes all states")
    parts = readable_parts(decision, dead)
    kept = {state for part in parts for state in part.component.states}
    moves = [
        (source, letter, target)
        for source, row in enumerate(decision.product.transitions)
        for letter, target in zip(decision.product.alphabet, row, strict=True)
        if source in kept and target in kept
    ]
    exact: dict[int, Boolean] = {}  # "before the symbol here, the product is in this state"
    for number, part in enumerate(parts):
        reader = _CountedComponent(draft, decision, part, number)
        reader.enter(moves, exact)
        for step in part.rounds:
            reader.refine(step)
        reader.leave(moves, exact)
    before: dict[int, list[Boolean]] = {}
    for state, known in exact.items():
        before.setdefault(decision.product.states[state][0], []).append(known)
    return {state: any_of(ways) for state, ways in before.items()}


class _CountedComponent:
    """The lines of one component. What is known inside it, of the block after the symbol here and before it, is in
    `at` and `before` by the number of the block."""

    def __init__(self, draft: Draft, decision: Decision, part: Refinement, number: int) -> None:
        self.draft, self.states, self.number, self.rounds = draft, part.component.states, number, 0
        self.blocks = dict(zip(self.states, part.first, strict=True))
        heads = {block: state for state, block in self.blocks.items()}
        # With one block there is nothing to observe; so it is where a word begins and the window is shorter.
        observed = len(heads) > 1
        self.at = {block: _observed(decision, state, 0) if observed else TRUE for block, state in heads.items()}
        self.before = {block: _observed(decision, state, 1) if observed else TRUE for block, state in heads.items()}

    def enter(self, moves: list[_Move], exact: dict[int, Boolean]) -> None:
        """The events of entering each state, where `exact` has the states of the components before."""
        ways: dict[int, list[Boolean]] = {0: [Letter(BOS)]} if 0 in self.blocks else {}
        for source, letter, target in moves:
            if target in self.blocks and source not in self.blocks:
                ways.setdefault(target, []).append(all_of([Letter(letter), exact[source]]))
        self.entered = {
            state: self._define(f"enters{place}", any_of(each)) for place, (state, each) in enumerate(ways.items())
        }
        entry = self._define("enters", any_of(self.entered.values()))
        self.after = self._define("after", compare(Difference(Count(entry), one_if(entry)), ">=", 1))

    def refine(self, step: Round) -> None:
        """One round: every term is followed, and blocks are named by what they were and the values of the terms."""
        followed = [self._follow(term, f"{self.rounds}_{place}") for place, term in enumerate(step.terms)]
        at, before = {}, {}
        for place, (old, new) in enumerate(zip(step.before, step.after, strict=True)):
            wanted = [(*numbers, term.values[place]) for numbers, term in zip(followed, step.terms, strict=True)]
            at[new] = all_of([self.at[old], *(compare(here, "==", value) for here, _, value in wanted)])
            before[new] = all_of([self.before[old], *(compare(past, "==", value) for _, past, value in wanted)])
        self.at, self.before, self.rounds = at, before, self.rounds + 1
        self.blocks = dict(zip(self.states, step.after, strict=True))

    def _follow(self, term: CountTerm, name: str) -> tuple[Number, Number]:
        """The value of a term after the symbol here and before it: entering sets it, every kind of move changes it."""
        entries: dict[int, list[Boolean]] = {}
        for state, value in zip(self.states, term.values, strict=True):
            if state in self.entered:
                entries.setdefault(value, []).append(self.entered[state])
        changes: dict[int, list[Boolean]] = {}
        for (letter, left, entered), weight in term.weights:
            changes.setdefault(weight, []).append(all_of([Letter(letter), self.before[left], self.at[entered]]))
        terms: list[Number] = [Multiple(value, Count(any_of(ways))) for value, ways in entries.items() if value]
        here: list[Number] = []
        for place, (weight, ways) in enumerate(changes.items()):
            moved = self._define(f"move{name}_{place}", all_of([self.after, any_of(ways)]))
            terms.append(Multiple(weight, Count(moved)))
            here.append(Multiple(weight, one_if(moved)))
        value = self._define(f"v{name}", total(terms))
        return value, self._define(f"u{name}", Difference(value, total(here)))

    def leave(self, moves: list[_Move], exact: dict[int, Boolean]) -> None:
        """The event of leaving. Where the product is before the symbol here is added to `exact`."""
        leaving = any_of(
            all_of([Letter(letter), self.before[self.blocks[source]]])
            for source, letter, target in moves
            if source in self.blocks and target not in self.blocks
        )
        gone: Boolean = FALSE
        if leaving != FALSE:
            leaves = self._define("leaves", all_of([self.after, leaving]))
            gone = self._define("gone", compare(Difference(Count(leaves), one_if(leaves)), ">=", 1))
        for place, (state, block) in enumerate(self.blocks.items()):
            exact[state] = self._define(f"in{place}", all_of([self.after, none_of(gone), self.before[block]]))

    def _define(self, name: str, expression: Boolean | Number) -> Name:
        return self.draft.define(f"c{self.number}_{name}", expression)


def _observed(decision: Decision, state: int, shift: int) -> Boolean:
    """The phase and the window of a state, seen `shift` positions later."""
    phase, window = decision.product.label(state)
    position = Phase(decision.period, (phase + shift) % decision.period) if decision.period > 1 else TRUE
    letters = [decision.product.alphabet[letter] for letter in reversed(window)]
    return all_of([position, *(at_back(Letter(letter), step + shift) for step, letter in enumerate(letters))])


def tags_program(dfa: Dfa, end: str, encoding_class: EncodingClass) -> Program | None:
    """Which letters may come next, and whether the word may end. Only prefixes of words are ever asked about, so that
    states which need no different answers there may be one in the automaton that the program follows."""
    promise = prefixes(dfa)
    decision = _found(promise, encoding_class, dead=False)
    if decision is None:
        return None
    draft = Draft()
    states = read_states(draft, decision, dead=False)
    for place, letter in enumerate((*promise.dfa.alphabet, end)):
        ways: list[Boolean] = [Letter(BOS)] if _allows(promise.dfa, promise.dfa.start, place) else []
        draft.output(letter, any_of([*ways, *_after(promise, decision, states, place)]))
    return draft.program()


def _after(promise: Promise, decision: Decision, states: dict[int, Boolean], place: int) -> Iterator[Boolean]:
    """The states before a letter, each with the letter, behind which the symbol of this place may come."""
    dfa, wanted = promise.dfa, {}
    seen = {(dfa.start, decision.dfa.start)}
    for state, follower in (queue := list(seen)):  # both automata on all prefixes, side by side
        for letter, (to,) in promise.moves(state):
            if _allows(dfa, to, place):
                wanted.setdefault(letter, {})[follower] = None
            target = (to, decision.dfa.transitions[follower][letter])
            if target not in seen:
                seen.add(target)
                queue.append(target)
    for letter, followers in sorted(wanted.items()):
        yield all_of([Letter(dfa.alphabet[letter]), any_of(states[follower] for follower in followers)])


def _allows(dfa: Dfa, state: int, place: int) -> bool:
    """Whether the letter of this place may come next in a state; after the letters, whether the word may end."""
    return state in dfa.accepting if place == len(dfa.alphabet) else dfa.transitions[state][place] in dfa.live


def member_program(dfa: Dfa, answers: Sequence[str], encoding_class: EncodingClass) -> Program | None:
    """Whether the word before `<sep>` belongs to the language, for words of every length."""
    decision = _found(everything(dfa), encoding_class, dead=True)
    if decision is None:
        return None
    draft = Draft()
    states = read_states(draft, decision, dead=True)
    for answer, wanted in zip(answers, (True, False), strict=True):
        here = (before for state, before in states.items() if (state in decision.dfa.accepting) == wanted)
        draft.output(answer, all_of([Letter(SEP), any_of(here)]))
    draft.output(EOS, letters(answers))
    return draft.program()


def _found(promise: Promise, encoding_class: EncodingClass, dead: bool) -> Decision | None:
    """The decision that counting is enough, if it is and if its program is not too large."""
    if len(promise.dfa.transitions) > _LARGEST + 1:  # with a dead state that may be left out
        return None
    decision = decide_absolute(promise).found if encoding_class == "absolute" else decide_promised(promise).found
    if decision is None:
        return None
    size = sum(len(part.component.states) for part in readable_parts(decision, dead))
    return decision if size <= _LARGEST else None
