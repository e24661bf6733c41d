"""Learn the smallest machine that reads a word from left to right and writes what is asked at each letter.

States of the tree of all words read are merged in order of length as long as no two outputs contradict each other
(RPNI, for machines with outputs on their edges). On words that show enough this is the smallest machine; on others it
is one that fits, so it has to be tried on words that it was not learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Word = Sequence[tuple[str, str]]  # letters, each with what is written there
Edge = tuple[str, int]


@dataclass(frozen=True)
class Mealy:
    """`edges[state, letter]` is what is written and the next state; state 0 comes first."""

    edges: dict[tuple[int, str], Edge]
    states: int

    def fits(self, word: Word) -> bool:
        """Whether it writes what the word says."""
        state = 0
        for letter, wanted in word:
            edge = self.edges.get((state, letter))
            if edge is None or edge[0] != wanted:
                return False
            state = edge[1]
        return True


def learned(words: Iterable[Word], most: int) -> Mealy | None:
    """A machine of at most `most` states that writes these words; None if merging leaves more, or two contradict."""
    tree = _WordTree()
    if not all(map(tree.add, words)):
        return None
    kept = [0]
    while (fresh := tree.next_after(kept)) is not None:
        source, letter, node = fresh
        if not any(tree.merge(source, letter, node, into) for into in kept):
            kept.append(node)
            if len(kept) > most:
                return None
    numbers = {node: number for number, node in enumerate(kept)}
    edges = {
        (numbers[node], letter): (written, numbers[target])
        for node in kept
        for letter, (written, target) in tree.edges[node].items()
    }
    return Mealy(edges, len(kept))


class _WordTree:
    """Words as paths from node 0, with an undo for merges that fail."""

    def __init__(self) -> None:
        self.edges: list[dict[str, Edge]] = [{}]

    def add(self, word: Word) -> bool:
        node = 0
        for letter, written in word:
            edge = self.edges[node].get(letter)
            if edge is None:
                self.edges.append({})
                edge = self.edges[node][letter] = written, len(self.edges) - 1
            elif edge[0] != written:
                return False
            node = edge[1]
        return True

    def next_after(self, kept: list[int]) -> tuple[int, str, int] | None:
        """An edge from a kept node to one that is not."""
        known = set(kept)
        return next(
            (
                (source, letter, target)
                for source in kept
                for letter, (_, target) in self.edges[source].items()
                if target not in known
            ),
            None,
        )

    def merge(self, source: int, letter: str, node: int, into: int) -> bool:
        """Let an edge lead to another node and fold what followed into it; everything stays as it was on failure."""
        undo: list[tuple[int, str]] = []
        before = self.edges[source][letter]
        self.edges[source][letter] = before[0], into
        if self._fold(node, into, undo):
            return True
        for at, added in reversed(undo):
            del self.edges[at][added]
        self.edges[source][letter] = before
        return False

    def _fold(self, node: int, into: int, undo: list[tuple[int, str]]) -> bool:
        waiting = [(node, into)]
        while waiting:
            node, into = waiting.pop()
            for letter, (written, target) in self.edges[node].items():
                edge = self.edges[into].get(letter)
                if edge is None:
                    self.edges[into][letter] = written, target
                    undo.append((into, letter))
                elif edge[0] != written:
                    return False
                else:
                    waiting.append((target, edge[1]))
        return True
