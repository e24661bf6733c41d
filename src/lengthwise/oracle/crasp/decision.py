"""What the decision found, with the witness that lets a person check it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.oracle.crasp.components import Component
from lengthwise.oracle.crasp.potentials import Forced
from lengthwise.oracle.crasp.product import Product
from lengthwise.oracle.crasp.refine import Refinement
from lengthwise.oracle.crasp.sentences import blocked_sentences, separating_sentences
from lengthwise.oracle.crasp.words import Word
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dfa import Dfa

YANG = Reference("yang2026", "decision procedure for C-RASP and regular languages; proved again in docs/crasp.md")
PROOF = Reference("docs/crasp.md", "counting is enough where every component passes")
FORCED = Assumption("the two states were shown to have one value in every count", "checked")
TOO_LARGE = Assumption("the elimination is right; the component is too large to write its proof out")

MOST_PROVED = 1_000  # states of a component whose proof is written out


@dataclass(frozen=True)
class Blocked:
    """Two states of a component that no count parts, and the words by which to see that this matters.

    `left_word` and `right_word` lead from the start to the two, `forth` and `back` from one to the other inside the
    component, and `suffix` is accepted after exactly one of them. `blocks` is the partition of the component into
    states that counting cannot part; without positions `proofs` shows it for all of them, unless the component has more
    than MOST_PROVED states.
    """

    component: Component
    left: int
    right: int
    left_word: Word
    right_word: Word
    forth: Word
    back: Word
    suffix: Word
    accepted_from_left: bool
    blocks: tuple[int, ...]
    proofs: tuple[Forced, ...]


@dataclass(frozen=True)
class Decision:
    """Whether counts tell the states of every component of the minimal automaton apart.

    `exact` says whether this decides (no positions) or is only sufficient (a period or a window, where not found means
    not found). States are those of `product`, which is `dfa` itself without positions.
    """

    dfa: Dfa
    period: int
    locality: int
    product: Product
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
        from lengthwise.oracle.crasp.verify import verify

        faults = verify(self)
        if faults:
            raise AssertionError(f"the witness does not hold: {faults[0]}")
        name = f"the language is in {self.language_class}"
        evidence = {"states": len(self.dfa.transitions), "product_states": len(self.product.states)}
        if self.blocked is None:
            terms = [len(round.terms) for part in self.refinements for round in part.rounds]
            seen = Assumption("the separating counts were recomputed on every move of the automaton", "checked")
            evidence |= {"rounds": max((len(part.rounds) for part in self.refinements), default=0), "terms": sum(terms)}
            return Claim(name, True, "", "proved", assumptions=(seen,), reference=PROOF, evidence=evidence)
        evidence |= {"words": [list(self.blocked.left_word), list(self.blocked.right_word)]}
        evidence |= {"suffix": list(self.blocked.suffix)}
        if not self.exact:
            return Claim(name, None, "", "proved", "unknown", reference=PROOF, evidence=evidence)
        seen = FORCED if self.blocked.proofs else TOO_LARGE
        return Claim(name, False, "", "proved", "refuted", None, (seen,), YANG, evidence)

    def explain(self) -> list[str]:
        """Sentences for a person; the witness can be checked by hand."""
        if self.blocked is None:
            return [self._verdict(), *separating_sentences(self.product, self.refinements)]
        return [self._verdict(), *blocked_sentences(self.product, self.blocked)]

    def _verdict(self) -> str:
        if self.blocked is None:
            return f"A {self.language_class} program exists: counting distinguishes all states of the automaton."
        if self.exact:
            return "No C-RASP[] program exists: counting cannot distinguish two states that differ."
        return (
            f"No {self.language_class} program was found: this test is sufficient only, another period or window, or "
            "another construction, may do."
        )

    def plain(self) -> dict[str, Any]:
        """The decision as JSON-ready data."""
        return {
            "class": self.language_class,
            "member": self.member if self.member or self.exact else None,
            "exact": self.exact,
            "period": self.period,
            "locality": self.locality,
            "alphabet": list(self.dfa.alphabet),
            "states": [self.product.name(state) for state in range(len(self.product.states))],
            "components": [_plain_refinement(part) for part in self.refinements],
            "blocked": None if self.blocked is None else _plain_blocked(self.blocked),
            "explanation": self.explain(),
        }


def _plain_refinement(part: Refinement) -> dict[str, Any]:
    rounds = [asdict(round) for round in part.rounds]
    return {"states": list(part.component.states), "rounds": rounds, "blocks": list(part.blocks)}


def _plain_blocked(blocked: Blocked) -> dict[str, Any]:
    names = ("left", "right", "left_word", "right_word", "forth", "back", "suffix", "accepted_from_left", "blocks")
    plain = {name: getattr(blocked, name) for name in names}
    proofs = [proof.plain() for proof in blocked.proofs]
    return {**plain, "component": list(blocked.component.states), "proofs": proofs}
