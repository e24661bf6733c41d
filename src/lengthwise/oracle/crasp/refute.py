"""Looks for words that refute C-RASP[periodic, local] for all periods and windows (the lemma is in `refutation.py`).

Where words act in few ways, the search is complete for the lemma: among the words of the length s at which the actions
of words become stable, S_s = S_2s. Every idempotent of any length acts like one of length s, words that are multiples
of its length act like words of length s, and two idempotents with the same fixed states allow the same actions, so one
of each suffices. Where words act in too many ways, powers of short words are tried as idempotents, and short words
filled up with them as letters; that may miss.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lengthwise.oracle.crasp.monoid import Maps, Stable, stable_semigroup, transition_monoid
from lengthwise.oracle.crasp.promise import Promise
from lengthwise.oracle.crasp.refutation import Refutation, blocked_by
from lengthwise.oracle.crasp.words import Word
from lengthwise.tasks.languages.dfa import Dfa

MOST_ENTRIES = 100_000_000  # states looked at while idempotents are tried
MOST_SHORT = 40  # short words whose powers are tried
MOST_LETTERS = 200  # words tried with each
SHORT = 8  # letters of a short word
LONGEST = 1_000  # the highest power


@dataclass(frozen=True)
class RefutationSearch:
    """`found` is None when no such words exist (`complete`) or the search was cut short, as `reason` says."""

    found: Refutation | None
    complete: bool
    reason: str
    stable: Stable | None


def refute(promise: Promise) -> RefutationSearch:
    """Look for a refutation. Bounded work: at most 20,000 actions and MOST_ENTRIES states are looked at."""
    minimal = promise.dfa
    monoid = transition_monoid(minimal)
    if monoid is None:
        return RefutationSearch(_by_short_words(promise), False, "words act in too many ways", None)
    stable = stable_semigroup(monoid)
    if stable is None:
        reason = "the actions of words of one length take too long to repeat"
        return RefutationSearch(_by_short_words(promise), False, reason, None)
    maps, entries = monoid.maps[stable.elements], 0
    for element, fixed in _fixed_sets(stable):
        entries += len(maps) * fixed
        if entries > MOST_ENTRIES:
            return RefutationSearch(None, False, "there are too many idempotents", stable)
        found = blocked_by(
            promise,
            monoid.maps[element],
            lambda element=element: _spell(minimal, stable.word(element)),
            maps,
            lambda row: _spell(minimal, stable.word(int(stable.elements[row]))),
        )
        if found is not None:
            return RefutationSearch(found, True, "", stable)
    return RefutationSearch(None, True, "no words of one length block", stable)


def _fixed_sets(stable: Stable) -> list[tuple[int, int]]:
    """One idempotent for every set of at least two fixed states, with the size of the set, small sets first."""
    sets: dict[bytes, tuple[int, int]] = {}
    for element in stable.monoid.idempotents(stable.elements):
        fixed = np.unique(stable.monoid.maps[element])
        sets.setdefault(fixed.tobytes(), (element, len(fixed)))
    return sorted((pair for pair in sets.values() if pair[1] > 1), key=lambda pair: pair[1])


def _by_short_words(promise: Promise) -> Refutation | None:
    """Idempotents that are powers of short words, and as letters short words filled up with the same short word."""
    dfa = promise.dfa
    letters = np.asarray(dfa.transitions, dtype=np.int32).T
    for base in itertools.islice(_short(len(letters), 1), MOST_SHORT):
        powers = _powers(_action(letters, base))
        idempotent, times = powers[-1], len(powers) - 1
        if not np.array_equal(idempotent[idempotent], idempotent) or len(np.unique(idempotent)) < 2:
            continue
        words = list(itertools.islice(_short(len(letters), len(base)), MOST_LETTERS))
        total = -(-len(words[-1]) // (len(base) * times)) * times  # so many short words all are filled up to
        fills = [total - len(word) // len(base) for word in words]
        # Powers repeat from the idempotent on: one more than `times` acts as the first does behind the idempotent.
        ends = [powers[fill] if fill <= times else idempotent[powers[fill % times]] for fill in fills]
        actions = np.stack([end[_action(letters, word)] for end, word in zip(ends, words, strict=True)])
        found = blocked_by(
            promise,
            idempotent,
            lambda base=base, total=total: _spell(dfa, base * total),
            actions,
            lambda row, base=base, words=words, fills=fills: _spell(dfa, (*words[row], *(base * fills[row]))),
        )
        if found is not None:
            return found
    return None


def _powers(action: Maps) -> list[Maps]:
    """The powers 0, 1, 2, ... of an action up to the first idempotent one beyond 0, or to LONGEST."""
    powers = [np.arange(len(action), dtype=np.int32), action]
    while not np.array_equal(powers[-1][powers[-1]], powers[-1]) and len(powers) <= LONGEST:
        powers.append(action[powers[-1]])
    return powers


def _short(letters: int, step: int) -> Iterator[tuple[int, ...]]:
    """Words of `step`, 2 `step`, ... letters, shortest first, up to SHORT letters or once `step`."""
    for length in range(step, max(SHORT, step) + 1, step):
        yield from itertools.product(range(letters), repeat=length)


def _action(letters: Maps, word: tuple[int, ...]) -> Maps:
    action = np.arange(letters.shape[1], dtype=np.int32)
    for letter in word:
        action = letters[letter][action]
    return action


def _spell(dfa: Dfa, letters: tuple[int, ...]) -> Word:
    return tuple(dfa.alphabet[letter] for letter in letters)
