"""Shortest words: to a state, between states, and those that tell two states apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lengthwise.tasks.languages.dfa import Dfa

Word = tuple[str, ...]


def shortest_word(
    alphabet: Sequence[str],
    transitions: Sequence[Sequence[int]],
    source: int,
    target: int,
    inside: Collection[int] | None = None,
) -> Word | None:
    """A shortest word from one state to another, of at least no letters; `inside` are the states it may visit."""
    came: dict[int, tuple[int, str]] = {}
    seen = {source}
    for state in (queue := [source]):
        if state == target:
            break
        for letter, onward in zip(alphabet, transitions[state], strict=True):
            if onward not in seen and (inside is None or onward in inside):
                seen.add(onward)
                came[onward] = (state, letter)
                queue.append(onward)
    if target not in seen:
        return None
    word = []
    while target != source:
        target, letter = came[target]
        word.append(letter)
    return tuple(reversed(word))


def telling_suffix(dfa: Dfa, left: int, right: int) -> Word | None:
    """A shortest word accepted from exactly one of two states; None where there is none."""
    came: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
    seen = {(left, right)}
    for pair in (queue := [(left, right)]):
        if (pair[0] in dfa.accepting) != (pair[1] in dfa.accepting):
            word = []
            while pair != (left, right):
                pair, letter = came[pair]
                word.append(letter)
            return tuple(reversed(word))
        for letter, *onward in zip(dfa.alphabet, dfa.transitions[pair[0]], dfa.transitions[pair[1]], strict=True):
            target = (onward[0], onward[1])
            if target not in seen:
                seen.add(target)
                came[target] = (pair, letter)
                queue.append(target)
    return None


def spelled(word: Sequence[str]) -> str:
    """A word between backquotes; letters are set apart where one of them has several signs."""
    return (
        "the empty word"
        if not word
        else "`" + (" " if any(len(letter) > 1 for letter in word) else "").join(word) + "`"
    )
