"""The decision: can counting distinguish the states of a regular language?

C-RASP[] is what a Transformer without positions can be trusted to learn for all lengths: Boolean combinations of
comparisons of counts over the past. The answer is read at an end mark after the word, so that the last letter is not
seen by itself.

On the minimal automaton, for every strongly connected component: begin with one block of states; find every weighted
count of moves (a weight for each letter, block left and block entered) that depends on the state alone; split the
states by their values; repeat with the finer blocks until nothing changes. The language is in C-RASP[] exactly when
every state ends in a block of its own (yang2026). Both directions are proved in docs/explanation/crasp.md.

With positions, the same on the product with the position modulo `period` and the last `locality` letters, which are
known without counting. Passing is sufficient for C-RASP[periodic, local]; failing shows nothing.

Cost: with n states and e moves in a component at most n rounds, each one exact elimination of e rows in n columns, so
O(e n^3) operations on integers in the worst case; most components need one or two rounds of sparse rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import (
    LARGEST,
    AutomatonProduct,
    Component,
    Word,
    components,
    product,
    shortest_word,
    spelled,
)
from lengthwise.oracle.crasp.promise import AnswerClash, everything, first_clash
from lengthwise.oracle.crasp.refine import MOST_PROVED, CountTerm, Forced, Kind, Refinement, forced, refine
from lengthwise.oracle.crasp.verify import verify
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dfa import Dfa

YANG = Reference(
    "yang2026", "decision procedure for C-RASP and regular languages; proved again in docs/explanation/crasp.md"
)
PROOF = Reference("docs/explanation/crasp.md", "counting is enough where every component passes")
MOST_VALUES = 24  # states whose values are written out, and components that are described one by one
MOST_MOVES = 8  # moves of a proof that are written out
explain(
    {
        "crasp.language": "the language is in {language_class}",
        "crasp.recomputed": "the separating counts were recomputed on every move of the automaton",
        "crasp.forced": "every count was shown to have the same value at the two states",
        "crasp.too_large": "the elimination is right; the component is too large to write out its proof",
        "crasp.member": "A {language_class} program exists: counting distinguishes all states of the automaton.",
        "crasp.blocked": "No C-RASP[] program exists: counting cannot distinguish two states that differ.",
        "crasp.not_found": "No {language_class} program was found: this test is only sufficient, so another period or "
        "window, or another construction, may work.",
        "crasp.no_cycle": "No state is entered again once it is left, so the state follows from which letters occurred "
        "in which order.",
        "crasp.term": "Round {round}, inside {states}: {count} is {values}.",
        "crasp.likewise": "The other {number} components pass in the same way.",
        "crasp.states": "After {left_word} and after {right_word} the automaton is in states {left} and {right}. Both "
        "lie on one cycle ({forth} leads from {left} to {right}, {back} back), and no weighted count of moves is 0 "
        "around every cycle and differs between them.",
        "crasp.suffix": "They must be distinguished: {suffix} is accepted from {yes} and not from {no}.",
        "crasp.proof": "Indeed {scale}(value at {state} - value at {other}) is the sum of the changes along {moves}, "
        "in which moves of {alike} have one weight and cancel.",
        "crasp.same_letter": "the same letter",
        "crasp.same_letter_and_parts": "the same letter between the same parts",
        "crasp.split": "Counting splits the component into {parts} and no further.",
    }
)


@dataclass(frozen=True)
class Blocked:
    """Two states of a component that no count distinguishes, and the words that show why this matters.

    `left_word` and `right_word` lead from the start to the two, `forth` and `back` from one to the other inside the
    component, and different answers are asked for after the suffix of `clash`. `blocks` is the partition of the
    component that counting cannot refine; without positions `proofs` shows it, up to MOST_PROVED states.
    """

    component: Component
    blocks: tuple[int, ...]
    left: int
    right: int
    left_word: Word
    right_word: Word
    forth: Word
    back: Word
    clash: AnswerClash
    proofs: tuple[Forced, ...]

    @property
    def evidence(self) -> dict[str, Any]:
        return {"words": [list(self.left_word), list(self.right_word)], "suffix": list(self.clash.suffix)}

    @property
    def seen(self) -> Assumption:
        """What the refutation rests on."""
        return Assumption("crasp.forced", "checked") if self.proofs else Assumption("crasp.too_large")


@dataclass(frozen=True)
class Decision:
    """Whether counts distinguish the states of every component of the minimal automaton. `exact` says whether this
    decides (no positions) or is only sufficient (a period or a window, where not found means not found). States are
    those of `product`, which is `dfa` itself without positions."""

    dfa: Dfa
    period: int
    locality: int
    product: AutomatonProduct
    refinements: tuple[Refinement, ...]
    blocked: Blocked | None

    @property
    def member(self) -> bool:
        return self.blocked is None

    @property
    def exact(self) -> bool:
        return self.period == 1 and self.locality == 0

    @property
    def language_class(self) -> str:
        """The class that was asked about."""
        return "C-RASP[]" if self.exact else f"C-RASP[period {self.period}, window {self.locality}]"

    def claim(self) -> Claim:
        """The conclusion. The witness is checked again here, without the solver."""
        if faults := verify(self):
            raise AssertionError(f"the witness does not hold: {faults[0]}")
        key, seen = "crasp.language", Assumption("crasp.recomputed", "checked")
        evidence = {"language_class": self.language_class, "states": len(self.dfa.transitions)}
        evidence |= {"product_states": len(self.product.states)}
        if self.blocked is None:
            terms = [len(round.terms) for part in self.refinements for round in part.rounds]
            evidence |= {"rounds": max((len(part.rounds) for part in self.refinements), default=0), "terms": sum(terms)}
            return Claim(key, True, "", "proved", assumptions=(seen,), reference=PROOF, evidence=evidence)
        evidence |= self.blocked.evidence
        if not self.exact:
            return Claim(key, None, "", "proved", "unknown", reference=PROOF, evidence=evidence)
        return Claim(key, False, "", "proved", "refuted", None, (self.blocked.seen,), YANG, evidence)

    def explain(self) -> list[str]:
        """Sentences for a person; the witness can be checked by hand."""
        key = "crasp.member" if self.blocked is None else "crasp.blocked" if self.exact else "crasp.not_found"
        verdict = sentence(key, {"language_class": self.language_class})
        if self.blocked is None:
            return [verdict, *_separating(self.product, self.refinements)]
        return [verdict, *_blocking(self.product, self.blocked)]


def decide(dfa: Dfa, *, period: int = 1, locality: int = 0) -> Decision:
    """Decide C-RASP[] (period 1, locality 0), or test one period and window; always with a witness."""
    if type(period) is not int or period < 1:
        raise UsageError(f"a period must be a whole number of at least 1, not {period!r}")
    if type(locality) is not int or locality < 0:
        raise UsageError(f"a locality must be a whole number of at least 0 letters, not {locality!r}")
    minimal = dfa.minimised()
    machine = product(minimal, period, locality)
    if machine is None:
        raise UsageError(
            f"the automaton with period {period} and a window of {locality} letters has more than {LARGEST:,} states; "
            "use a smaller period or window"
        )
    parts = refinements(machine)
    blocked = None
    if not parts[-1].passes:
        left, right = parts[-1].alike()[0]  # low numbers are near the start
        states = (machine.states[left][0], machine.states[right][0])
        clash = first_clash(everything(minimal), [states], len(minimal.transitions) ** 2)
        assert clash is not None, "two states of a minimal automaton differ"
        # Where failing shows nothing there is nothing to prove.
        blocked = witness(machine, parts[-1], (left, right), clash, proved=(period, locality) == (1, 0))
    return Decision(minimal, period, locality, machine, parts, blocked)


def refinements(machine: AutomatonProduct) -> tuple[Refinement, ...]:
    """What counting finds in every component; the first that is blocked is the last one examined."""
    found: list[Refinement] = []
    for component in components(machine.alphabet, machine.transitions):
        found.append(refine(component, [machine.label(state) for state in component.states]))
        if not found[-1].passes:
            break
    return tuple(found)


def witness(
    machine: AutomatonProduct, part: Refinement, pair: tuple[int, int], clash: AnswerClash, proved: bool = True
) -> Blocked:
    """Two states that share a block, and the words around them. The proofs are quadratic in the component."""
    (left, right), inside = pair, frozenset(part.component.states)
    ways = ((0, left, None), (0, right, None), (left, right, inside), (right, left, inside))
    words = (shortest_word(machine.alphabet, machine.transitions, *way) for way in ways)
    first, second, forth, back = (word for word in words if word is not None)
    proofs = forced(part) if proved and len(part.component.states) <= MOST_PROVED else ()
    return Blocked(part.component, part.blocks, left, right, first, second, forth, back, clash, proofs)


def _separating(product: AutomatonProduct, refinements: Iterable[Refinement]) -> list[str]:
    """For every component of several states, the counts that distinguish them."""
    several = [part for part in refinements if len(part.component.states) > 1]
    if not several:
        return [sentence("crasp.no_cycle")]
    found = [
        _term(product, part, number, round.before, term)
        for part in several[:MOST_VALUES]
        for number, round in enumerate(part.rounds, 1)
        for term in round.terms
    ]
    if len(several) > MOST_VALUES:
        found.append(sentence("crasp.likewise", {"number": len(several) - MOST_VALUES}))
    return found


def _term(product: AutomatonProduct, part: Refinement, number: int, blocks: Sequence[int], term: CountTerm) -> str:
    states = part.component.states
    values = [f"{value} at {product.name(state)}" for state, value in zip(states, term.values, strict=True)]
    shown = ", ".join(values[:MOST_VALUES]) + (", ..." if len(values) > MOST_VALUES else "")
    count = _count(product, states, blocks, term.weights)
    return sentence("crasp.term", {"round": number, "states": _set(product, states), "count": count, "values": shown})


def _count(
    product: AutomatonProduct, states: Sequence[int], blocks: Sequence[int], weights: Iterable[tuple[Kind, int]]
) -> str:
    """`#a - 2 #b`; where there are several blocks, a letter is written between those its move connects."""
    text = ""
    for (letter, source, target), weight in sorted(weights, key=lambda pair: pair[1] < 0):
        move = f"#{letter}"
        if len(set(blocks)) > 1:
            ends = [
                _set(product, [s for s, b in zip(states, blocks, strict=True) if b == end]) for end in (source, target)
            ]
            move = f"#({ends[0]} {letter} {ends[1]})"
        text += _summand(weight, move, first=not text)
    return text or "0"


def _summand(factor: int, what: str, first: bool) -> str:
    """` - 2 what`, without the spaces where it comes first."""
    sign = ("-" if factor < 0 else "") if first else (" - " if factor < 0 else " + ")
    return f"{sign}{'' if abs(factor) == 1 else f'{abs(factor)} '}{what}"


def _blocking(product: AutomatonProduct, blocked: Blocked) -> list[str]:
    """Why two states cannot be distinguished, and why that matters."""
    left, right = product.name(blocked.left), product.name(blocked.right)
    yes, no = (left, right) if blocked.clash.answer else (right, left)
    values = {name: spelled(getattr(blocked, name)) for name in ("left_word", "right_word", "forth", "back")}
    values |= {"suffix": spelled(blocked.clash.suffix), "left": left, "right": right, "yes": yes, "no": no}
    found = [sentence("crasp.states", values), sentence("crasp.suffix", values)]
    pair = {blocked.left, blocked.right}
    proof = next((proof for proof in blocked.proofs if {proof.state, proof.other} == pair), None)
    if proof is not None and len(proof.moves) <= MOST_MOVES:
        found.append(_proof(product, proof, len(set(blocked.blocks))))
    if len(set(blocked.blocks)) > 1:
        members: dict[int, list[int]] = {}
        for state, block in zip(blocked.component.states, blocked.blocks, strict=True):
            members.setdefault(block, []).append(state)
        parts = " ".join(_set(product, group) for group in list(members.values())[:MOST_VALUES])
        found.append(sentence("crasp.split", {"parts": parts}))
    return found


def _proof(product: AutomatonProduct, proof: Forced, blocks: int) -> str:
    moves = ""
    for edge, factor in proof.moves:
        move = f"({product.name(edge.source)} {edge.letter} {product.name(edge.target)})"
        moves += _summand(factor, move, first=not moves)
    values = {
        "scale": "" if proof.scale == 1 else f"{proof.scale} ",
        "state": product.name(proof.state),
        "other": product.name(proof.other),
        "moves": moves,
        "alike": sentence("crasp.same_letter" if blocks == 1 else "crasp.same_letter_and_parts"),
    }
    return sentence("crasp.proof", values)


def _set(product: AutomatonProduct, states: Sequence[int]) -> str:
    names = [product.name(state) for state in states[:MOST_VALUES]]
    return "{" + ", ".join(names) + (", ..." if len(states) > MOST_VALUES else "") + "}"
