"""The decision: can the states of a regular language be told apart by counting?

C-RASP[] is what a Transformer without positions can be trusted to learn for all lengths: Boolean combinations of
comparisons of counts over the past. The answer is read at an end mark behind the word, so that the last letter is not
seen by itself.

On the minimal automaton, for every strongly connected component: begin with one block of states; find every weighted
count of moves (a weight for each letter, block left and block entered) that depends on the state alone; part the states
by their values; repeat with the finer blocks until nothing changes. The language is in C-RASP[] exactly when every
state ends in a block of its own (yang2026). Both directions are proved in docs/crasp.md.

With positions, the same on the product with the place modulo `period` and the last `locality` letters, which are known
without counting. Passing is sufficient for C-RASP[periodic, local]; failing shows nothing.

Cost: with n states and e moves in a component at most n rounds, each one exact elimination of e rows in n columns, so
O(e n^3) operations on integers at the very worst; most components need one or two rounds of sparse rows.
"""

from __future__ import annotations

from lengthwise.errors import UsageError
from lengthwise.oracle.crasp.components import components
from lengthwise.oracle.crasp.decision import MOST_PROVED, Blocked, Decision
from lengthwise.oracle.crasp.potentials import forced
from lengthwise.oracle.crasp.product import LARGEST, Product, product
from lengthwise.oracle.crasp.refine import Refinement, first_pair, refine
from lengthwise.oracle.crasp.words import Word, shortest_word, telling_suffix
from lengthwise.tasks.languages.dfa import Dfa


def decide(dfa: Dfa, *, period: int = 1, locality: int = 0) -> Decision:
    """Decide C-RASP[] (period 1, locality 0), or test one period and window; always with a witness."""
    if type(period) is not int or period < 1:
        raise UsageError(f"a period is a whole number of at least 1, not {period!r}")
    if type(locality) is not int or locality < 0:
        raise UsageError(f"a locality is a whole number of at least 0 letters, not {locality!r}")
    minimal = dfa.minimised()
    machine = product(minimal, period, locality)
    if machine is None:
        raise UsageError(
            f"the automaton with period {period} and a window of {locality} letters has more than {LARGEST:,} states; "
            "a smaller period or window would do"
        )
    return examine(minimal, period, locality, machine)


def examine(minimal: Dfa, period: int, locality: int, machine: Product) -> Decision:
    """The decision on a product that was made before."""
    parts = refinements(machine)
    if parts[-1].passes:
        return Decision(minimal, period, locality, machine, parts, None)
    blocked = _witness(minimal, machine, parts[-1], exact=(period, locality) == (1, 0))
    return Decision(minimal, period, locality, machine, parts, blocked)


def refinements(machine: Product) -> tuple[Refinement, ...]:
    """What counting finds in every component; the first that is blocked is the last one looked at."""
    found: list[Refinement] = []
    for component in components(machine.alphabet, machine.transitions):
        found.append(refine(component, [machine.label(state) for state in component.states]))
        if not found[-1].passes:
            break
    return tuple(found)


def _witness(dfa: Dfa, machine: Product, part: Refinement, exact: bool) -> Blocked:
    """The two inseparable states that the start reaches first, and the words around them."""
    component = part.component
    left, right = first_pair(part)
    inside = frozenset(component.states)
    suffix = _found(telling_suffix(dfa, machine.states[left][0], machine.states[right][0]))
    return Blocked(
        component,
        left,
        right,
        _found(shortest_word(machine.alphabet, machine.transitions, 0, left)),
        _found(shortest_word(machine.alphabet, machine.transitions, 0, right)),
        _found(shortest_word(machine.alphabet, machine.transitions, left, right, inside)),
        _found(shortest_word(machine.alphabet, machine.transitions, right, left, inside)),
        suffix,
        end_of(dfa, machine.states[left][0], suffix) in dfa.accepting,
        part.blocks,
        # Where failing shows nothing there is nothing to prove; a proof of every pair is quadratic in the component.
        forced(component, part.blocks) if exact and len(component.states) <= MOST_PROVED else (),
    )


def end_of(dfa: Dfa, state: int, word: Word) -> int:
    """Where a word leads from a state."""
    for letter in word:
        state = dfa.transitions[state][dfa.alphabet.index(letter)]
    return state


def _found(word: Word | None) -> Word:
    if word is None:
        raise AssertionError("a strongly connected component of a minimal automaton has such a word")
    return word
