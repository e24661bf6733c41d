"""The decision for tagging every prefix of a word: the last letter is seen, and only beginnings of words are asked.

The decision of `decide.py` reads its answer at an end mark behind the word, so that no letter is seen alone: {a,b}*b is
outside C-RASP[] in that sense. Who tags a prefix that ends in a letter stands on that letter. What has to be counted
is then, for each letter, which of the words before it lead to which tag: with tag(v) the tag of a prefix v, the task is
in C-RASP[] if for every letter a and tag T the language {w : tag(wa) = T} is. (A program for the task, read at a letter
a, compares counts over what is strictly before plus constants, which is what a program at an end mark behind w does;
and such programs for all a and T, together with the letter, give the tag.)

The converse needs care, as prefixes that begin no word of the language are never asked. A block of states that counting
cannot part is a reason to fail if some suffix leads two of its states to different tags without leaving the language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.decision import Decision
from lengthwise.oracle.crasp.words import Word, shortest_word, spelled
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.languages.dfa import Dfa

NAME = "the tags of prefixes are in C-RASP[]"
LIVE = Assumption("the published theorem holds also where only beginnings of words are asked")
Tag = tuple[tuple[str, ...], bool]  # the letters that may follow, and whether the word may end


@dataclass(frozen=True)
class Confusion:
    """Two words that counting cannot part, and a suffix after which their prefixes bear different tags."""

    left: Word
    right: Word
    suffix: Word
    tag: Tag
    other: Tag

    def sentence(self) -> str:
        left, right = spelled(self.left), spelled(self.right)
        return (
            f"No count parts {left} from {right}, and followed by {spelled(self.suffix)} they bear the tags "
            f"{_written(self.tag)} and {_written(self.other)}."
        )


@dataclass(frozen=True)
class TagsDecision:
    """`parts` are the decisions that settle it: one where counting alone tells all states apart, else one for each
    letter and tag. `member` is None where only prefixes that are never asked would show a difference."""

    dfa: Dfa
    member: bool | None
    parts: tuple[Decision, ...]
    confusion: Confusion | None = None

    def claim(self) -> Claim:
        blocking = next((part for part in self.parts if not part.member), self.parts[0])
        inner = blocking.claim()
        evidence = {**inner.evidence, "languages": len(self.parts)}
        if self.member is None:
            return Claim(NAME, None, "", "proved", "unknown", reference=inner.reference, evidence=evidence)
        given = inner.assumptions if self.member else (*inner.assumptions, LIVE)
        status = "holds" if self.member else "refuted"
        return Claim(NAME, self.member, "", "proved", status, None, given, inner.reference, evidence)

    def explain(self) -> list[str]:
        if self.confusion is not None:
            first = "No C-RASP[] program exists: counting cannot tell apart what the tags depend on."
            blocking = next(part for part in self.parts if not part.member)
            return [first, self.confusion.sentence(), *blocking.explain()[1:]]
        if self.member is None:
            return ["It is not known: counting parts all but words that only prefixes outside the language tell apart."]
        if len(self.parts) == 1:
            return self.parts[0].explain()
        return [
            "A C-RASP[] program exists: the last letter is seen, and counts tell apart what the tags still depend on.",
            f"That was decided for {len(self.parts)} languages, one for each last letter and tag.",
        ]

    def plain(self) -> dict[str, Any]:
        return {"member": self.member, "languages": len(self.parts), "explanation": self.explain()}


def decide_tags(dfa: Dfa) -> TagsDecision:
    """Whether the tags of all beginnings of words can be found by counting. At most letters x tags decisions."""
    minimal = dfa.minimised()
    plainly = decide(minimal)
    if plainly.member:
        return TagsDecision(minimal, True, (plainly,))
    parts = tuple(decide(language) for language in _languages(minimal))
    if all(part.member for part in parts):
        return TagsDecision(minimal, True, parts)
    confusion = next((found for part in parts if (found := _confusion(minimal, part))), None)
    return TagsDecision(minimal, None if confusion is None else False, parts, confusion)


def tag_of(dfa: Dfa, state: int) -> Tag:
    row = zip(dfa.alphabet, dfa.transitions[state], strict=True)
    return tuple(letter for letter, onward in row if onward in dfa.live), state in dfa.accepting


def _languages(dfa: Dfa) -> Iterator[Dfa]:
    """{w : tag(wa) = T} for every letter a and tag T."""
    states = range(len(dfa.transitions))
    tags = [tag_of(dfa, state) for state in states]
    for place in range(len(dfa.alphabet)):
        for tag in dict.fromkeys(tags):
            accepting = frozenset(state for state in states if tags[dfa.transitions[state][place]] == tag)
            if accepting:
                yield Dfa(dfa.alphabet, dfa.transitions, dfa.start, accepting).minimised()


def _confusion(dfa: Dfa, part: Decision) -> Confusion | None:
    """Two words that a blocked decision cannot part and that a suffix inside the language tells apart."""
    if part.blocked is None:
        return None
    blocks: dict[int, list[int]] = {}
    for state, block in zip(part.blocked.component.states, part.blocked.blocks, strict=True):
        blocks.setdefault(block, []).append(state)
    for group in blocks.values():
        words = [shortest_word(dfa.alphabet, part.dfa.transitions, part.dfa.start, state) for state in group]
        reached = [(word, dfa.run(word)[-1]) for word in words if word is not None]
        for place, (left, one) in enumerate(reached):
            for right, other in reached[place + 1 :]:
                if found := _telling(dfa, one, other):
                    suffix, tag, other_tag = found
                    return Confusion(left, right, suffix, tag, other_tag)
    return None


def _telling(dfa: Dfa, left: int, right: int) -> tuple[Word, Tag, Tag] | None:
    """A shortest suffix of at least one letter that leads two live states to live ones with different tags."""
    queue: list[tuple[int, int, Word]] = [(left, right, ())]
    seen: set[tuple[int, int]] = set()  # not the first pair: the suffix has at least one letter and may lead back to it
    for one, other, word in queue:
        if word and (first := tag_of(dfa, one)) != (second := tag_of(dfa, other)):
            return word, first, second
        for letter, targets in zip(
            dfa.alphabet, zip(dfa.transitions[one], dfa.transitions[other], strict=True), strict=True
        ):
            if targets not in seen and set(targets) <= dfa.live:
                seen.add(targets)
                queue.append((*targets, (*word, letter)))
    return None


def _written(tag: Tag) -> str:
    letters, ends = tag
    return "{" + ",".join((*letters, *(("$",) if ends else ()))) + "}"
