"""Facts hidden in a text of sentences that do not matter, whose number is the size.

A sentence that does not matter is one symbol, `s1`, `s2`, …, and a fact is two, so that a model trained here reads a
short row of symbols; put in words, the same item is a text in English. The wording is our own; the four questions are
those of RULER.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task
from lengthwise.tasks.words import Words

FILLERS = (
    "The baker opened the shop before sunrise.",
    "A light rain fell on the harbour all morning.",
    "Two children flew a red kite above the hill.",
    "The train to the coast was late again.",
    "Somebody had left a bicycle against the fence.",
    "The library closes early on winter evenings.",
    "A cat slept on the warm stones of the wall.",
    "The soup needed a little more salt.",
    "Our neighbour painted his door green.",
    "The orchestra tuned before the lights went down.",
    "Snow covered the path to the old mill.",
    "The gardener planted tulips along the road.",
    "They talked about the weather for a while.",
    "The clock in the hall had stopped in spring.",
    "A ferry crossed the lake without a sound.",
    "The teacher wiped the board and smiled.",
    "Fresh bread was cooling on the window sill.",
    "The mountain disappeared behind the clouds.",
    "He folded the letter and put it in a drawer.",
    "The market was crowded with visitors.",
    "A blackbird sang from the roof of the barn.",
    "The fisherman mended his nets in the shade.",
    "She read the same page over and over.",
    "The lamp on the corner flickered and went out.",
    "Leaves gathered at the foot of the stairs.",
    "The carpenter measured the table once more.",
    "Nobody remembered who had built the bridge.",
    "The tea had gone cold by the time they spoke.",
    "A small dog followed the postman down the street.",
    "The wind carried the smell of the sea inland.",
    "The museum showed paintings of ships.",
    "In the evening the square filled with music.",
    "The farmer counted the sheep at the gate.",
    "An apple rolled under the kitchen table.",
    "The river was higher than in other years.",
    "They shared a blanket and watched the stars.",
    "The tailor searched for a lost button.",
    "Smoke rose slowly from the chimney.",
    "The actors practised the last scene again.",
    "A stranger asked for the way to the station.",
    "The well behind the house never ran dry.",
    "The students argued about the film until late.",
    "A spider had made its web between the pots.",
    "The doctor walked home through the park.",
    "The shutters banged in the storm that night.",
    "He hummed a tune that nobody recognised.",
    "The honey came from hives near the forest.",
    "Every seat on the morning bus was taken.",
)
_NAMES = (
    "amber basil birch cedar clover cobalt copper coral crystal dahlia ember falcon fern flint garnet ginger hazel "
    "heron indigo iris ivory jasmine juniper lantern laurel lilac linden lotus magnet maple marble mimosa nutmeg olive "
    "onyx opal orchid otter pearl pepper quartz raven saffron sparrow thistle topaz walnut willow"
)
NAMES = tuple(_NAMES.split())
_STRIDE, _LOWEST, _SPAN = 7919, 1000, 9000  # the stride is prime to the span, so all numbers of four digits come once
_FACT = "The clerk gave {} the code {}."  # not as an answer would say it, so that an echo is not taken for one
_RULER = Reference("hsieh2024", "Section 3")


@dataclass(frozen=True)
class Haystack(Task):
    """Facts, each a name and its value, in a text of `size` other sentences; then the question.

    The places of the facts among all sentences are uniform, so every depth is equally likely.
    """

    names: int = 48
    values: int = 64
    axes = (Axis("sentences", "sentences that do not matter"),)
    facts = Facts(circuit_class="AC0", references=(_RULER,))

    def __post_init__(self) -> None:
        if self.hidden < 1:
            raise UsageError(f"a text hides at least one fact, not {self.hidden}")
        for what, count, most in (("names", self.names, len(NAMES)), ("values", self.values, _SPAN)):
            if not max(2, self.hidden) <= count <= most:
                raise UsageError(f"the number of {what} must lie between {max(2, self.hidden)} and {most}, not {count}")

    @property
    def hidden(self) -> int:
        """How many facts a text holds."""
        return 1

    @property
    def symbols(self) -> tuple[str, ...]:
        numbers = (str(_LOWEST + number * _STRIDE % _SPAN) for number in range(self.values))
        return (*NAMES[: self.names], *numbers, *(f"s{number}" for number in range(1, len(FILLERS) + 1)))

    def depth(self, prompt: Sequence[str]) -> float:
        """Where the facts that answer the question stand among the sentences, on average: 0 is the first sentence and 1
        the last."""
        sentences, asked = self.read(prompt)
        wanted = {asked, *self.solve(prompt)}
        places = [place for place, fact in enumerate(sentences) if len(fact) > 1 and fact[0] in wanted]
        return float(np.mean(places)) / max(1, len(sentences) - 1)

    def read(self, prompt: Sequence[str]) -> tuple[list[tuple[str, ...]], str]:
        """The sentences of a prompt, with a fact as (name, value), and the question."""
        numbers = self.names + self.values
        names, given = set(self.symbols[: self.names]), set(self.symbols[:numbers])
        others = set(self.symbols[numbers:])
        *text, asked = prompt or [""]
        rest, sentences = iter(text), []
        for symbol in rest:
            sentences.append((symbol, next(rest, "")) if symbol in names else (symbol,))
            if symbol not in others and not (symbol in names and sentences[-1][1] in given):
                raise UsageError(f"a prompt must be sentences and facts, then the question, not {' '.join(prompt)!r}")
        return sentences, asked

    def written(self, facts: Ints, asked: Ints, draws: Draws, size: int) -> Ints:
        """Prompts with these facts [items, facts, 2] at uniform places among `size` other sentences."""
        items, hidden, _ = facts.shape
        others = self.names + self.values + draws.integers(0, len(FILLERS), size)
        places = np.sort(draws.subset(size + hidden, hidden), axis=1)
        is_fact = np.zeros((items, size + hidden), dtype=bool)
        np.put_along_axis(is_fact, places, True, axis=1)
        starts = np.arange(size + hidden) + np.cumsum(is_fact, axis=1) - is_fact
        rows = np.zeros((items, size + 2 * hidden), dtype=np.int64)
        np.put_along_axis(rows, starts[~is_fact].reshape(items, size), others, axis=1)
        for part in range(2):
            np.put_along_axis(rows, starts[is_fact].reshape(items, hidden) + part, facts[:, :, part], axis=1)
        return np.concatenate([rows, asked], axis=1)

    def in_words(self, prompt: Sequence[str], fact: str, question: str, copied: str = "") -> str:
        """The text and the question below it; a fact is written as `fact` says, or as `copied` where it gives a name
        what another name has."""
        sentences, asked = self.read(prompt)
        text = [
            FILLERS[int(one[0][1:]) - 1] if len(one) == 1 else (fact if one[1].isdecimal() else copied).format(*one)
            for one in sentences
        ]
        return f"{' '.join(text)}\n{question.format(asked)}"


@tasks.register("needle")
@dataclass(frozen=True)
class Needle(Haystack):
    """Find the code of a name that is mentioned once in a text.

    `s7 s2 amber 8919 s38 amber` → `8919`. In words: A cat slept … A light rain fell … The clerk gave amber the code
    8919. Smoke rose … What is the code of amber? Name and code are uniform.
    """

    preset = {"depth": 2, "heads": 2, "rate": 1e-3, "steps": 3000}

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Words(
            "A clerk in the text gives out a code. Find the code that is asked for.",
            told=lambda prompt: self.in_words(prompt, _FACT, "What is the code of {}?"),
        )

    def sample(self, size: int, draws: Draws) -> Samples:
        names = draws.subset(self.names, self.hidden)
        values = self.names + draws.subset(self.values, self.hidden)
        asked = draws.integers(0, self.hidden, 1)
        prompts = self.written(np.stack([names, values], axis=2), np.take_along_axis(names, asked, axis=1), draws, size)
        return Samples(prompts, np.take_along_axis(values, asked, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        sentences, asked = self.read(prompt)
        found = [fact[1] for fact in sentences if len(fact) > 1 and fact[0] == asked]
        if len(found) != 1:
            raise UsageError(f"the name {asked!r} has {len(found)} codes in the text instead of one")
        return found

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """The code asked for is uniform."""
        return Chance(1 / self.values, 1 / self.values)


@tasks.register("multi_key")
@dataclass(frozen=True)
class MultiKey(Needle):
    """Find the code of one name in a text that mentions the codes of several.

    `s7 birch 1000 s2 amber 8919 amber` → `8919`. As `needle`, with `keys` names in the text, each with a code of its
    own; any of them is asked for.
    """

    keys: int = 4
    preset = {}  # that of `needle` is not enough

    @property
    def hidden(self) -> int:
        return self.keys


@tasks.register("multi_value")
@dataclass(frozen=True)
class MultiValue(Haystack):
    """Find all codes of a name that is mentioned several times, in the order of the text.

    `s7 amber 1000 s2 amber 8919 amber` → `1000 8919`. The name has `count` codes, all different.
    """

    count: int = 4
    preset = {"depth": 2, "heads": 2, "rate": 1e-3, "steps": 3000}

    @property
    def hidden(self) -> int:
        return self.count

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Words(
            "A clerk in the text gives out several codes. Find all codes of the name that is asked for, in the order "
            "of the text.",
            told=lambda prompt: self.in_words(prompt, _FACT, "What are the codes of {}?"),
        )

    def sample(self, size: int, draws: Draws) -> Samples:
        name = draws.integers(0, self.names, 1)
        values = self.names + draws.subset(self.values, self.count)
        facts = np.stack([np.broadcast_to(name, values.shape), values], axis=2)
        return Samples(self.written(facts, name, draws, size), values)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        sentences, asked = self.read(prompt)
        found = [fact[1] for fact in sentences if len(fact) > 1 and fact[0] == asked]
        if not found:
            raise UsageError(f"the name {asked!r} has no code in the text")
        return found

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """All rows of different codes are as likely."""
        return Chance(1 / math.perm(self.values, self.count), 1 / self.values)


@tasks.register("variable_tracking")
@dataclass(frozen=True)
class VariableTracking(Haystack):
    """Find all names that come to hold a value, directly or through other names.

    `s7 amber 8919 s2 birch amber s9 cedar birch 8919` → `amber birch cedar`. There are `chains` of such assignments,
    each to a value of its own and `hops` names longer than its first, mixed in a random order that keeps the order
    within a chain. The value of one chain is asked for, and its names are given in the order of the text.
    """

    chains: int = 2
    hops: int = 3

    def __post_init__(self) -> None:
        if self.chains < 1 or self.hops < 1:
            raise UsageError(f"there is at least one chain and one hop, not {self.chains} and {self.hops}")
        super().__post_init__()

    @property
    def hidden(self) -> int:
        return self.chains * (self.hops + 1)

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Words(
            "Some sentences of the text put a number into a box, or copy what one box holds into another. Find all "
            "boxes that hold the number that is asked for, in the order in which the text fills them.",
            told=lambda prompt: self.in_words(
                prompt, "Box {} gets the number {}.", "Which boxes hold {}?", "Box {} gets what is in box {}."
            ),
        )

    def sample(self, size: int, draws: Draws) -> Samples:
        length = self.hops + 1
        names = draws.subset(self.names, self.hidden).reshape(len(draws), self.chains, length)
        values = self.names + draws.subset(self.values, self.chains)
        given = np.concatenate([values[:, :, None], names[:, :, :-1]], axis=2)
        facts = np.stack([names, given], axis=3)  # [items, chains, length, 2]
        chain = (
            draws.permutation(self.hidden) // length
        )  # which chain each fact of the text belongs to, uniformly mixed
        of_chain = chain[:, :, None] == np.arange(self.chains)
        step = np.take_along_axis(np.cumsum(of_chain, axis=1), chain[:, :, None], axis=2)[:, :, 0] - 1
        mixed = facts[np.arange(len(draws))[:, None], chain, step]
        return Samples(self.written(mixed, values[:, :1], draws, size), names[:, 0])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        sentences, asked = self.read(prompt)
        holds: dict[str, str] = {}
        for name, given in (fact for fact in sentences if len(fact) > 1):
            holds[name] = holds.get(given, given)
        found = [name for name, value in holds.items() if value == asked]
        if not found:
            raise UsageError(f"no name comes to hold {asked!r} in the text")
        return found

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """All rows of different names are as likely."""
        return Chance(1 / math.perm(self.names, self.hops + 1), 1 / self.names)
