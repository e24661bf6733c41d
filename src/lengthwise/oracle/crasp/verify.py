"""Checks the witnesses of decisions on the automaton itself, sharing nothing with the solver.

Yes: every term is recomputed on every move, the blocks follow from the terms, every component of the product is there
and ends with single states. No: the words lead where they are said to lead, and every pair that shares a block is
forced to one value, which makes the blocks a floor below which no round can go: let B be these blocks; the first blocks
are no finer than B, and where the blocks of a round are no finer than B, its potentials are potentials for the kinds of
B and so have one value on each block of B, which makes the next blocks no finer than B.
"""

from __future__ import annotations

import graphlib
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from lengthwise.oracle.crasp.automata import AutomatonProduct, Edge, walk
from lengthwise.oracle.crasp.promise import AnswerClash, Promise, everything
from lengthwise.oracle.crasp.refine import MOST_PROVED, Forced, Refinement, Round, numbered
from lengthwise.tasks.languages.dfa import Dfa

if TYPE_CHECKING:
    from lengthwise.oracle.crasp.decide import Blocked, Decision
    from lengthwise.oracle.crasp.refute import Refutation


def verify(decision: Decision) -> list[str]:
    """What is wrong with the witness, one sentence each; empty when it holds."""
    faults = _product_faults(decision)
    if decision.blocked is not None:
        asked = everything(decision.dfa)
        if asked.dfa != decision.dfa:
            return [*faults, "the automaton is not minimal"]
        return faults + verify_blocked(asked, decision.blocked, decision.product, decision.exact)
    covered = sorted(state for part in decision.refinements for state in part.component.states)
    if covered != list(range(len(decision.product.states))):
        return [*faults, "the components do not cover every state once"]
    faults += _order_faults(decision)
    for part in decision.refinements:
        faults += _refinement_faults(decision, part)
        if len(set(part.blocks)) < len(part.blocks):
            faults.append(f"the component of state {part.component.states[0]} is left with a block of several states")
    return faults


def _product_faults(decision: Decision) -> list[str]:
    """The product follows the automaton, the phase and the window."""
    dfa, machine = decision.dfa, decision.product
    number = {state: index for index, state in enumerate(machine.states)}
    if machine.states[0] != (dfa.start, 0, ()) or len(number) < len(machine.states):
        return ["the product does not begin at the start or repeats a state"]
    for index, (state, phase, window) in enumerate(machine.states):
        for letter, target in enumerate(machine.transitions[index]):
            seen = (*window, letter)[max(0, len(window) + 1 - decision.locality) :]
            if machine.states[target] != (dfa.transitions[state][letter], (phase + 1) % decision.period, seen):
                return [f"the product moves wrongly from its state {index}"]
    return []


def _order_faults(decision: Decision) -> list[str]:
    """No walk leaves a component and comes back: the components can be put in an order."""
    home = {state: index for index, part in enumerate(decision.refinements) for state in part.component.states}
    onward: dict[int, set[int]] = {}
    for state, row in enumerate(decision.product.transitions):
        onward.setdefault(home[state], set()).update({home[target] for target in row} - {home[state]})
    try:
        graphlib.TopologicalSorter(onward).prepare()
    except graphlib.CycleError:
        return ["a walk can leave a component and return to it"]
    return []


def _moves(machine: Dfa | AutomatonProduct, states: Sequence[int]) -> list[Edge]:
    """The moves of an automaton that stay among these states."""
    inside = set(states)
    return [
        Edge(state, letter, target)
        for state in states
        for letter, target in zip(machine.alphabet, machine.transitions[state], strict=True)
        if target in inside
    ]


def _refinement_faults(decision: Decision, part: Refinement) -> list[str]:
    """Each round begins where the one before ended, and its terms give its blocks."""
    known = numbered([decision.product.states[state][1:] for state in part.component.states])
    moves, faults = _moves(decision.product, part.component.states), []
    for round in part.rounds:
        if round.before != known:
            faults.append("a round does not begin with the blocks of the one before")
        faults += _round_faults(moves, part.component.states, round)
        known = round.after
    if known != part.blocks:
        faults.append("the last blocks are not those of the last round")
    return faults


def _round_faults(moves: Sequence[Edge], states: Sequence[int], round: Round) -> list[str]:
    block, faults = dict(zip(states, round.before, strict=True)), []
    for term in round.terms:
        value, weight = dict(zip(states, term.values, strict=True)), dict(term.weights)
        for edge in moves:
            counted = weight.get((edge.letter, block[edge.source], block[edge.target]), 0)
            if value[edge.target] - value[edge.source] != counted:
                faults.append(f"a count does not change as claimed on {edge}")
    columns = zip(round.before, *(term.values for term in round.terms), strict=True)
    if numbered(list(columns)) != round.after:
        faults.append("the terms of a round do not give its blocks")
    return faults


def verify_blocked(
    promise: Promise, blocked: Blocked, machine: AutomatonProduct | None = None, exact: bool = True
) -> list[str]:
    """The words lead to the two states, the answers clash, and every shared block is forced. The states are those of a
    product of the automaton, of the automaton itself unless it is given."""
    table = promise.dfa if machine is None else machine
    origin = range(len(table.transitions)) if machine is None else [state for state, *_ in machine.states]
    states, clash = blocked.component.states, blocked.clash
    faults = _clash_faults(promise, clash, {origin[state] for state in states})
    block = dict(zip(states, blocked.blocks, strict=True))
    if blocked.left == blocked.right or block[blocked.left] != block[blocked.right]:
        faults.append("the two states are one, or do not share a block")
    if (origin[blocked.left], origin[blocked.right]) != (clash.left, clash.right):
        faults.append("the answers are those of other states")
    ends = (
        (0, blocked.left_word, blocked.left),
        (0, blocked.right_word, blocked.right),
        (blocked.left, blocked.forth, blocked.right),
        (blocked.right, blocked.back, blocked.left),
    )
    for source, word, target in ends:
        if walk(table.alphabet, table.transitions, source, word) != target:
            faults.append(f"the word {' '.join(word)!r} does not lead from {source} to {target}")
    labels: dict[int, object] = {}
    for state in states:
        label = machine.label(state) if machine else None
        if labels.setdefault(block[state], label) != label:
            faults.append(f"state {state} shares a block with one that is distinguished without counting")
    too_large = len(states) > MOST_PROVED and not blocked.proofs
    if not exact or too_large:  # nothing is proved where failing shows nothing; the claim says if it is not
        return faults
    return faults + proof_faults(_moves(table, states), blocked.proofs, block)


def proof_faults(moves: Iterable[Edge], proofs: Iterable[Forced], block: dict[int, int]) -> list[str]:
    """Each proof is an identity between states and moves whose kinds cancel; together they join every block."""
    allowed, faults = set(moves), []
    joined = {state: {state} for state in block}
    for proof in proofs:
        rest: dict[object, int] = {}
        for key, change in ((proof.state, -proof.scale), (proof.other, proof.scale)):
            rest[key] = rest.get(key, 0) + change
        for edge, factor in proof.moves:
            if edge not in allowed:
                faults.append(f"{edge} is no move of the component")
                continue
            kind = (edge.letter, block[edge.source], block[edge.target])
            for key, change in ((edge.target, factor), (edge.source, -factor), (kind, factor)):
                rest[key] = rest.get(key, 0) + change
        if proof.scale == 0 or any(rest.values()):
            faults.append(f"the moves given do not force one value at {proof.state} and {proof.other}")
        union = joined[proof.state] | joined[proof.other]
        joined.update(dict.fromkeys(union, union))
    for state in block:
        if joined[state] != {other for other in block if block[other] == block[state]}:
            faults.append(f"the block of state {state} is not joined by proofs")
    return faults


def verify_refutation(refutation: Refutation) -> list[str]:
    """What is wrong with the words of a refutation; empty when it holds."""
    dfa, faults = refutation.promise.dfa, []
    alphabet, table = dfa.alphabet, dfa.transitions
    block = dict(zip(refutation.states, refutation.blocks, strict=True))
    after = [walk(alphabet, table, state, refutation.idempotent) for state in range(len(table))]
    if not refutation.idempotent or any(after[after[state]] != after[state] for state in after):
        faults.append("the idempotent word does not do once what it does twice, or is empty")
    if any(after[state] != state for state in refutation.states):
        faults.append("a state is not fixed by the idempotent word")
    if any(len(word) != len(refutation.idempotent) for word in refutation.letters):
        faults.append("the words differ in length")
    moves = [
        Edge(state, str(number), target)
        for number, word in enumerate(refutation.letters)
        for state in refutation.states
        if (target := after[walk(alphabet, table, state, word)]) in block
    ]
    for turned in (False, True):
        reached = {refutation.clash.left}
        for _ in refutation.states:
            reached |= {
                (e.source if turned else e.target) for e in moves if (e.target if turned else e.source) in reached
            }
        if reached != set(refutation.states):
            faults.append("the states do not all reach each other")
    clash = refutation.clash
    if clash.left == clash.right or block[clash.left] != block[clash.right]:
        faults.append("the two states are one, or do not share a block")
    faults += _clash_faults(refutation.promise, clash, refutation.states)
    if set(dfa.reachable) != set(range(len(table))):
        faults.append("the automaton has states that no word reaches")
    return faults + proof_faults(moves, refutation.proofs, block)


def _clash_faults(promise: Promise, clash: AnswerClash, states: Iterable[int]) -> list[str]:
    """The component is asked, and the suffix is asked after both states, with the answers said."""
    faults = [] if promise.kept.issuperset(states) else ["the component is not asked"]
    answers = [promise.answer(state, clash.suffix, clash.at_end) for state in (clash.left, clash.right)]
    right = answers == [clash.answer, clash.other] and None not in answers and clash.answer != clash.other
    return faults if right else [*faults, "the suffix does not distinguish the two states as claimed"]


def verify_found(promise: Promise, found: Decision) -> list[str]:
    """The counts hold, and on words that are asked the states they distinguish, with the letter, settle every answer.
    Both automata are run side by side on all words that are asked, until no new pair of states comes."""
    faults = verify(found) if found.member else ["the decision does not pass"]
    known: dict[tuple[int, int], Hashable] = {}
    seen = {(promise.dfa.start, 0)}
    for state, place in (queue := list(seen)):
        for letter, answer in enumerate(promise.answers[state]):
            if answer is not None and known.setdefault((place, letter), answer) != answer:
                return [*faults, f"state {place} of the smaller automaton would have to give two answers"]
        for letter, (to,) in promise.moves(state):
            target = (to, found.product.transitions[place][letter])
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return faults
