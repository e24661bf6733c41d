"""The decision about prefixes again, slowly and otherwise: sets of pairs instead of classes of states."""

from __future__ import annotations

import itertools

from lengthwise.tasks.languages.dfa import Dfa
from oracle.crasp.slow_decision import slow_blocks

Moves = dict[tuple[int, str], int]


def slow_tags(dfa: Dfa) -> tuple[Moves, dict[tuple[int, str], object]]:
    """Where prefixes of words lead and how they are tagged, by state and letter; the automaton need not be minimal."""
    states = [dfa.start]
    for q in states:
        states += [r for r in dict.fromkeys(dfa.transitions[q]) if r not in states]
    step = {(q, a): r for q in states for a, r in zip(dfa.alphabet, dfa.transitions[q], strict=True)}
    live = set(dfa.accepting) & set(states)
    for _ in states:
        live |= {q for (q, _), r in step.items() if r in live}
    moves = {(q, a): r for (q, a), r in step.items() if q in live and r in live}
    tags = {key: (frozenset(a for p, a in moves if p == r), r in dfa.accepting) for key, r in moves.items()}
    return moves, tags


def slow_promised(dfa: Dfa) -> bool | None:
    """Whether counting settles the tags of all prefixes: yes, no or unknown."""
    moves, tags = slow_tags(dfa)
    states = sorted({q for q, _ in moves} | set(moves.values()))
    first = _confused(states, moves)
    if _clash(first, moves, tags):
        return False
    same = {(q, q) for q in states}
    while True:
        heads = {q: min(p for p in states if (p, q) in same) for q in states}
        joined = {(heads[q], a): heads[r] for (q, a), r in moves.items()}
        fresh = _confused(sorted(set(heads.values())), joined)
        if not fresh:
            return True
        same = _closed(same | fresh, states, moves)
        answers = {}
        for (q, a), tag in tags.items():
            for p in states:
                if (p, q) in same and answers.setdefault((p, a), tag) != tag:
                    return None


def _confused(states: list[int], moves: Moves) -> set[tuple[int, int]]:
    """Pairs of different states of one component that no count distinguishes."""
    reach = {q: {q} for q in states}
    for _ in states:
        for (q, _), r in moves.items():
            reach[q] |= reach[r]
    found = set()
    for q in states:
        inside = [r for r in states if r in reach[q] and q in reach[r]]
        blocks = slow_blocks(inside, [(p, a, r) for (p, a), r in moves.items() if p in inside])
        found |= {(q, r) for r in inside if r != q and blocks[q] == blocks[r]}
    return found


def _clash(pairs: set[tuple[int, int]], moves: Moves, tags: dict[tuple[int, str], object]) -> bool:
    """Whether some suffix is tagged differently after the two states of a pair."""
    letters = {a for _, a in moves}
    while True:
        if any((p, a) in tags and (q, a) in tags and tags[p, a] != tags[q, a] for p, q in pairs for a in letters):
            return True
        both = [(p, q, a) for p, q in pairs for a in letters if (p, a) in moves and (q, a) in moves]
        onward = {(moves[p, a], moves[q, a]) for p, q, a in both}
        if onward <= pairs:
            return False
        pairs = pairs | onward


def _closed(same: set[tuple[int, int]], states: list[int], moves: Moves) -> set[tuple[int, int]]:
    """The least equivalence with these pairs that moves keep."""
    letters = {a for _, a in moves}
    while True:
        more = {(q, p) for p, q in same}
        more |= {(p, r) for p, q, r in itertools.product(states, repeat=3) if (p, q) in same and (q, r) in same}
        both = [(p, q, a) for p, q in same for a in letters if (p, a) in moves and (q, a) in moves]
        more |= {(moves[p, a], moves[q, a]) for p, q, a in both}
        if more <= same:
            return same
        same = same | more
