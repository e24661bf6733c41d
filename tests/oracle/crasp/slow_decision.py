"""The decision again, slowly and otherwise: transitive closure, all unknowns, dense elimination of fractions."""

from __future__ import annotations

from fractions import Fraction

from lengthwise.tasks.languages.dfa import Dfa


def slow_member(dfa: Dfa) -> bool:
    """Whether a language is in C-RASP[], from the automaton as it is given."""
    states, step = _minimal(dfa)
    reach = {q: {q} for q in states}
    for _ in states:
        for q in states:
            reach[q] |= {r for a in dfa.alphabet for r in reach[step[q, a]]}
    done: set[int] = set()
    for q in states:
        inside = [r for r in states if r in reach[q] and q in reach[r]]
        blocks = slow_blocks(inside, [(r, a, step[r, a]) for r in inside for a in dfa.alphabet])
        if q not in done and len(set(blocks.values())) < len(inside):
            return False
        done |= set(inside)
    return True


def _minimal(dfa: Dfa) -> tuple[list[int], dict[tuple[int, str], int]]:
    """Moore's partition of the reachable states, named by one state each."""
    states = [dfa.start]
    for q in states:
        states += [r for r in dict.fromkeys(dfa.transitions[q]) if r not in states]
    mark = {q: (int(q in dfa.accepting),) for q in states}
    for _ in states:
        marks = {q: (mark[q], *(mark[r] for r in dfa.transitions[q])) for q in states}
        numbers = {key: (i,) for i, key in enumerate(dict.fromkeys(marks.values()))}
        mark = {q: numbers[marks[q]] for q in states}
    name = {}
    for q in states:
        name.setdefault(mark[q], q)
    step = {(q, a): name[mark[r]] for q in name.values() for a, r in zip(dfa.alphabet, dfa.transitions[q], strict=True)}
    return list(name.values()), step


def slow_blocks(inside: list[int], moves: list[tuple[int, str, int]]) -> dict[int, object]:
    """The blocks of the states of a component that counting is left with."""
    moves = [move for move in moves if move[2] in inside]
    block: dict[int, object] = dict.fromkeys(inside, 0)
    while True:
        kinds = list(dict.fromkeys((a, block[q], block[r]) for q, a, r in moves))
        columns = {("V", q): i for i, q in enumerate(inside)}
        columns |= {("E", kind): len(inside) + i for i, kind in enumerate(kinds)}
        matrix = []
        for q, a, r in moves:
            row = [Fraction(0)] * len(columns)
            row[columns["V", r]] += 1
            row[columns["V", q]] -= 1
            row[columns["E", (a, block[q], block[r])]] -= 1
            matrix.append(row)
        basis = _null_space(matrix, len(columns))
        values = {q: tuple(vector[columns["V", q]] for vector in basis) for q in inside}
        numbers = {value: i for i, value in enumerate(dict.fromkeys(values.values()))}
        finer = {q: numbers[values[q]] for q in inside}
        if len(set(finer.values())) == len(set(block.values())):
            return block
        block = finer


def _null_space(matrix: list[list[Fraction]], width: int) -> list[list[Fraction]]:
    """Gauss and Jordan on all columns from the left."""
    pivots: list[int] = []
    for column in range(width):
        rank = len(pivots)
        found = next((i for i in range(rank, len(matrix)) if matrix[i][column]), None)
        if found is None:
            continue
        matrix[rank], matrix[found] = matrix[found], matrix[rank]
        lead = matrix[rank][column]
        matrix[rank] = [value / lead for value in matrix[rank]]
        for i, row in enumerate(matrix):
            if i != rank and row[column]:
                matrix[i] = [value - row[column] * other for value, other in zip(row, matrix[rank], strict=True)]
        pivots.append(column)
    basis = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for rank, column in enumerate(pivots):
            vector[column] = -matrix[rank][free]
        basis.append(vector)
    return basis
