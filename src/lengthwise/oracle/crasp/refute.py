"""A refutation for all periods and all windows at once, by words of one length.

Lemma (proof in docs/explanation/crasp.md). Let e be a word that does once what it does twice, and let t_1, t_2, ... be
words as long as e. On the states that e fixes, let t_i act as: read t_i, then e. If some component of this automaton is
blocked in the sense of C-RASP[], and two of its states that counting cannot distinguish need different answers after
some suffix, then no program in C-RASP[periodic, local] answers all that is asked, whatever the period and the window.

Where words act in few ways, the search is complete for the lemma: among the words of the length s at which the actions
of words become stable, S_s = S_2s. Every idempotent of any length acts like one of length s, words that are multiples
of its length act like words of length s, and two idempotents with the same fixed states allow the same actions, so one
of each suffices. Where words act in too many ways, powers of short words are tried as idempotents, and short words
filled up with them as letters; that may miss some.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import Component, Edge, Word, components, spell, spelled
from lengthwise.oracle.crasp.promise import AnswerClash, Promise, first_clash, written
from lengthwise.oracle.crasp.quick import Maps, Stable, stable_semigroup, transition_monoid
from lengthwise.oracle.crasp.refine import Forced, forced, refine
from lengthwise.records import Assumption

MOST_ENTRIES = 100_000_000  # states examined while idempotents are tried
MOST_SHORT = 40  # short words whose powers are tried
MOST_LETTERS = 200  # words tried with each
SHORT = 8  # letters of a short word
LONGEST = 1_000  # the highest power
Reason = Literal["no_words_block", "many_actions", "long_period", "many_idempotents"]
explain(
    {
        "crasp.words_checked": "the words have one length and act as claimed, and every block is forced",
        "crasp.refuted": "No C-RASP[periodic, local] program exists, whatever the period and the window.",
        "crasp.blocks": "Reading {idempotent} twice has the same effect as reading it once, and it fixes the states "
        "{states}. Take inputs made of blocks, each one of {letters} followed by any number of copies of {idempotent}: "
        "the blocks have one length and end alike, so positions and windows reveal nothing.",
        "crasp.blocks_alike": "Counting blocks cannot distinguish the states {left} and {right}: no weighted count of "
        "such moves is 0 around every cycle inside {states} and differs between them. They must be distinguished: "
        "{answers}.",
        "crasp.blocks_tags": "when {suffix} follows, {answer} may come next from {left} and {other} from {right}",
        "crasp.blocks_accept": "{suffix} is accepted from {yes} and not from {no}",
        "crasp.no_words_block": "no words of equal length form an obstruction",
        "crasp.many_actions": "words act in too many ways",
        "crasp.long_period": "the actions of words of one length take too long to repeat",
        "crasp.many_idempotents": "there are too many idempotents",
    }
)


@dataclass(frozen=True)
class Refutation:
    """Words which show that no program in C-RASP[periodic, local] answers all that is asked.

    Letter `i` of the proofs is `letters[i]` followed by `idempotent`; all these words have one length. `states` is a
    component of the automaton they make, `blocks` its partition that counting cannot refine, as `proofs` show. The two
    states of `clash` share a block, and different answers are asked for after its suffix.
    """

    promise: Promise
    idempotent: Word
    letters: tuple[Word, ...]
    states: tuple[int, ...]
    blocks: tuple[int, ...]
    clash: AnswerClash
    proofs: tuple[Forced, ...]
    seen: ClassVar = Assumption("crasp.words_checked", "checked")

    @property
    def evidence(self) -> dict[str, Any]:
        return {"idempotent": list(self.idempotent), "letters": [*map(list, self.letters)]}

    def explain(self) -> list[str]:
        clash = self.clash
        letters = ", ".join(spelled(word) for word in self.letters[:8]) + (", ..." if len(self.letters) > 8 else "")
        states = "{" + ", ".join(map(str, self.states)) + "}"
        yes, no = (clash.left, clash.right) if clash.answer else (clash.right, clash.left)
        values = {"left": clash.left, "right": clash.right, "suffix": spelled(clash.suffix), "yes": yes, "no": no}
        values |= {"answer": written(clash.answer), "other": written(clash.other)}
        values |= {"idempotent": spelled(self.idempotent), "letters": letters, "states": states}
        values["answers"] = sentence("crasp.blocks_accept" if clash.at_end else "crasp.blocks_tags", values)
        return [sentence(key, values) for key in ("crasp.refuted", "crasp.blocks", "crasp.blocks_alike")]


def blocked_by(
    promise: Promise, idempotent: Maps, idempotent_word: Callable[[], Word], actions: Maps, word: Callable[[int], Word]
) -> Refutation | None:
    """The refutation that an idempotent and the actions of words as long as its own give, if they block. `actions` has
    a row for each word, and `word(i)` is the one of row i; few are asked for, and only for a refutation."""
    fixed = np.unique(idempotent)
    local, origins = np.unique(np.searchsorted(fixed, idempotent[actions[:, fixed]]), axis=0, return_index=True)
    states = fixed.tolist()
    # The automaton whose letters are the actions, by their numbers; of its components one that is blocked.
    for component in components([str(letter) for letter in range(len(local))], local.T.tolist()):
        if len(component.states) == 1 or states[component.states[0]] not in promise.kept:
            continue
        part = refine(component)
        clash = first_clash(promise, ((states[left], states[right]) for left, right in part.all_alike()))
        if clash is not None:
            break
    else:
        return None
    proofs = forced(part)
    used = sorted({edge.letter for p in proofs for edge, _ in p.moves} | _connecting(part.component), key=int)
    names = {letter: str(number) for number, letter in enumerate(used)}

    def renamed(proof: Forced) -> Forced:
        moves = ((Edge(states[e.source], names[e.letter], states[e.target]), factor) for e, factor in proof.moves)
        return Forced(states[proof.state], states[proof.other], proof.scale, tuple(moves))

    return Refutation(
        promise,
        idempotent_word(),
        tuple(word(int(origins[int(letter)])) for letter in used),
        tuple(states[state] for state in part.component.states),
        part.blocks,
        clash,
        tuple(map(renamed, proofs)),
    )


def _connecting(component: Component) -> set[str]:
    """Letters of two trees, from the first state to all and from all to it, so that they keep the component whole."""
    letters = set()
    for outward in (True, False):
        reached = {component.states[0]}
        while len(reached) < len(component.states):
            for edge in component.edges:
                near, far = (edge.source, edge.target) if outward else (edge.target, edge.source)
                if near in reached and far not in reached:
                    reached.add(far)
                    letters.add(edge.letter)
    return letters


@dataclass(frozen=True)
class RefutationSearch:
    """`found` is None when no such words exist or the search was cut short; the `reason` says which."""

    found: Refutation | None
    reason: Reason
    stable: Stable | None = None


def refute(promise: Promise) -> RefutationSearch:
    """Look for a refutation. Bounded work: at most 20,000 actions and MOST_ENTRIES states are examined."""
    minimal = promise.dfa
    monoid = transition_monoid(minimal)
    if monoid is None:
        return RefutationSearch(_by_short_words(promise), "many_actions")
    stable = stable_semigroup(monoid)
    if stable is None:
        return RefutationSearch(_by_short_words(promise), "long_period")
    fixing: dict[tuple[int, ...], int] = {}  # one idempotent for every set of states that it fixes
    for element in monoid.idempotents(stable.elements):
        fixing.setdefault(tuple(np.unique(monoid.maps[element])), element)
    maps, entries = monoid.maps[stable.elements], 0
    for fixed, element in sorted(fixing.items(), key=lambda pair: len(pair[0])):
        if len(fixed) < 2:
            continue
        entries += len(maps) * len(fixed)
        if entries > MOST_ENTRIES:
            return RefutationSearch(None, "many_idempotents", stable)
        found = blocked_by(
            promise,
            monoid.maps[element],
            lambda element=element: spell(minimal, stable.word(element)),
            maps,
            lambda row: spell(minimal, stable.word(int(stable.elements[row]))),
        )
        if found is not None:
            return RefutationSearch(found, "no_words_block", stable)
    return RefutationSearch(None, "no_words_block", stable)


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
        total = -(-len(words[-1]) // (len(base) * times)) * times  # short words to which all are filled up
        fills = [total - len(word) // len(base) for word in words]
        # Powers repeat from the idempotent on: one more than `times` acts as the first does after the idempotent.
        ends = [powers[fill] if fill <= times else idempotent[powers[fill % times]] for fill in fills]
        actions = np.stack([end[_action(letters, word)] for end, word in zip(ends, words, strict=True)])
        found = blocked_by(
            promise,
            idempotent,
            lambda base=base, total=total: spell(dfa, base * total),
            actions,
            lambda row, base=base, words=words, fills=fills: spell(dfa, (*words[row], *(base * fills[row]))),
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
