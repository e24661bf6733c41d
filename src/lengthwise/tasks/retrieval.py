"""Finding something earlier in the prompt: by its key, by the symbol before it, by the k letters before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import LetterTask
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task

# For an encoding with a head that sees the last few tokens, such as alibi:first=0.7. With small first weights training
# stays where any value of the prompt is copied, as it does where a single key is asked for (docs/findings/log.md). That
# is learned from a run with several queries (`--from RUN`).
SEVERAL_QUERIES = {"heads": 2, "mlp_ratio": 1, "gain": 5.0, "steps": 3000, "sizes": "increasing:share=0.9"}
ONE_QUERY = {"batch": 128, "rate": 1e-3, "steps": 1500}


@tasks.register("associative_recall")
@dataclass(frozen=True)
class AssociativeRecall(Task):
    """Say which value was paired with the key that is asked for at the end.

    `k3 v1 k7 v0 k4 v1 k7` → `v0`. The keys of a prompt are distinct, the values are uniform and independent, and every
    pair is as likely to be asked for. The alphabets do not grow with the size, so a longer prompt holds no unseen
    symbol; the number of keys bounds the number of pairs.

    With several `queries` the prompt ends with that many keys, drawn independently, and each of them is tagged with its
    value: `k3 v1 k7 v0 k7 k3` → `v0 v1` for two (Arora et al. 2024). Small models learn a single query only from there:
    train `associative_recall:queries=8` first, then `associative_recall` with `--from` that run.
    """

    keys: int = 150
    values: int = 26
    queries: int = 1
    facts = Facts(circuit_class="AC0", references=(Reference("ba2016", "associative retrieval task"),))

    def __post_init__(self) -> None:
        if self.keys < 1 or self.values < 2:
            raise UsageError(f"recall needs at least one key and two values, not {self.keys} and {self.values}")
        if self.queries < 1:
            raise UsageError(f"recall asks for at least one key, not {self.queries}")
        object.__setattr__(self, "axes", (Axis("pairs", "key-value pairs in the prompt", largest=self.keys),))
        object.__setattr__(self, "readout", "answer" if self.queries == 1 else "tags")
        object.__setattr__(self, "preset", ONE_QUERY if self.queries == 1 else SEVERAL_QUERIES)

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*(f"k{number}" for number in range(self.keys)), *(f"v{number}" for number in range(self.values)))

    def sample(self, size: int, draws: Draws) -> Samples:
        keys = draws.subset(self.keys, size)
        values = self.keys + draws.integers(0, self.values, size)
        asked = draws.integers(0, size, self.queries)
        pairs = np.stack([keys, values], axis=2).reshape(len(draws), 2 * size)
        prompts = np.concatenate([pairs, np.take_along_axis(keys, asked, axis=1)], axis=1)
        return Samples(prompts, np.take_along_axis(values, asked, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        known, ends = set(self.symbols), len(prompt) - self.queries
        keys, values, asked = prompt[:ends:2], prompt[1:ends:2], prompt[max(ends, 0) :]
        if ends % 2 or not set(prompt) <= known or any(symbol[0] != "k" for symbol in (*keys, *asked)):
            last = "a key" if self.queries == 1 else f"{self.queries} keys"
            raise UsageError(f"a prompt must be pairs of a key and a value, then {last}, not {' '.join(prompt)!r}")
        if any(symbol[0] != "v" for symbol in values):
            raise UsageError(f"every key is followed by a value, which is not so in {' '.join(prompt)!r}")
        if len(set(keys)) < len(keys):
            raise UsageError(f"the keys of a prompt are distinct, and {' '.join(prompt)!r} repeats one")
        if strange := [key for key in asked if key not in keys]:
            raise UsageError(f"{strange[0]} is asked for, and no pair of {' '.join(prompt)!r} has this key")
        paired = dict(zip(keys, values, strict=True))
        return tuple(paired[key] for key in asked)

    def chance(self, size: int) -> Chance:
        """A value asked for is uniform; several are not independent, as a key may be asked for twice."""
        return Chance(1 / self.values, 1 / self.values) if self.queries == 1 else super().chance(size)


@tasks.register("induction")
@dataclass(frozen=True)
class Induction(LetterTask):
    """Say which symbol followed the last one when it occurred before.

    `d a c b a` → `c`. The last symbol occurs exactly once before, anywhere but right before the end, where it would be
    its own answer; that place is uniform, and the other symbols are uniform and independent among the other letters.
    The smallest size is 3, as in `a b a`.
    """

    letters: int = 26
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="AC0", references=(Reference("olsson2022", "induction heads"),))
    # Found on short prompts first: without the slow increase, accuracy in range stays below 25 %
    # (docs/findings/log.md).
    preset = {"batch": 128, "rate": 1e-3, "steps": 7000, "sizes": "increasing:share=0.8"}

    def sample(self, size: int, draws: Draws) -> Samples:
        last = draws.integers(0, self.letters, 1)
        before = draws.integers(0, size - 2, 1)
        others = draws.integers(1, self.letters, size)  # steps from the last symbol, so never the symbol itself
        places = np.arange(size)
        prompts = np.where((places == before) | (places == size - 1), last, (last + others) % self.letters)
        return Samples(prompts, np.take_along_axis(prompts, before + 1, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        self.check_letters(prompt)
        *earlier, last = prompt
        if earlier.count(last) != 1:
            raise UsageError(f"the last symbol occurs exactly once before, which is not so in {' '.join(prompt)!r}")
        return (prompt[earlier.index(last) + 1],)


KGRAM = Reference("izzo2026", "experiments, in-context k-gram")
_LARGEST_TABLE = 10_000  # probabilities an item: they are drawn afresh for every item


@dataclass(frozen=True)
class KgramTask(LetterTask):
    """A task on what follows the last k letters, with prompts from a random chain for each item."""

    k: int = 2
    letters: int = 3

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k must be a positive number, not {self.k}")
        super().__post_init__()
        if (entries := self.letters ** (self.k + 1)) > _LARGEST_TABLE:
            raise UsageError(
                f"{self.letters} letters and k={self.k} make a chain of {entries} probabilities, too many to draw"
            )
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.k + 1),))

    def followers(self, prompt: Sequence[str]) -> Counter[str]:
        """How often each letter came after the last k letters earlier in the prompt."""
        self.check_letters(prompt)
        text, context = "".join(prompt), "".join(prompt[-self.k :])
        counts = Counter(text[end] for end in range(self.k, len(text)) if text[:end].endswith(context))
        if not counts:
            raise UsageError(f"the last {self.k} letters of {' '.join(prompt)!r} do not occur before")
        return counts


@tasks.register("kgram")
@dataclass(frozen=True)
class Kgram(KgramTask):
    """Say which letter most often followed the last k letters earlier in the prompt.

    `a b c a b a a b c b a b` → `c` for k = 2: `a b` was followed by `c`, `a` and `c`. Every prompt comes from a random
    chain of its own and ends with k letters that occurred before; it is drawn again while two letters are tied for the
    most frequent follower. The smallest size is k + 1, one letter repeated.
    """

    facts = Facts(circuit_class="TC0, not AC0", references=(KGRAM,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts, winners = np.zeros((len(draws), size), dtype=np.int64), np.zeros((len(draws), 1), dtype=np.int64)
        waiting = np.ones(len(draws), dtype=bool)
        while waiting.any():
            tries = seen_before(size, self.k, self.letters, draws)
            counts = follower_counts(tries, self.k, self.letters)
            single = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
            found = waiting & single
            prompts[found], winners[found, 0] = tries[found], counts[found].argmax(axis=1)
            waiting &= ~single
        return Samples(prompts, winners)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        (winner, most), *others = self.followers(prompt).most_common(2)
        if others and others[0][1] == most:
            raise UsageError(f"two letters are tied for the most frequent follower in {' '.join(prompt)!r}")
        return (winner,)


def seen_before(size: int, k: int, letters: int, draws: Draws) -> Ints:
    """Strings [items, size] from a chain of each item's own, ended by k letters that occurred before.

    The first size - k letters follow a chain of order k: for each of the letters**k contexts the law of the next letter
    is uniform on the simplex, Dirichlet(1, ..., 1).
    """
    return ended_by_earlier(_chain(size - k, k, letters, draws), k, draws)


def ended_by_earlier(letters: Ints, k: int, draws: Draws) -> Ints:
    """Strings [items, n] with k letters behind them that repeat those from a uniform earlier place, so that a context
    is asked for about as often as it occurs. They are written from left to right, as the two may overlap."""
    free = letters.shape[1]
    prompts = np.pad(letters, ((0, 0), (0, k)))
    start = draws.integers(0, free, 1)
    for step in range(k):
        prompts[:, free + step] = np.take_along_axis(prompts, start + step, axis=1)[:, 0]
    return prompts


def follower_counts(prompts: Ints, k: int, letters: int) -> Ints:
    """How often each letter came after the last k letters earlier in the prompt: [items, letters]."""
    items, size = prompts.shape
    same = np.ones((items, size - k), dtype=bool)
    for step in range(k):
        same &= prompts[:, step : size - k + step] == prompts[:, size - k + step, None]
    places = prompts[:, k:] + letters * np.arange(items)[:, None]
    return np.bincount(places[same], minlength=items * letters).reshape(items, letters)


def _chain(width: int, k: int, letters: int, draws: Draws) -> Ints:
    laws = _laws(letters**k, letters, draws)
    uniform = draws.uniform(width)
    chain = (uniform * letters).astype(np.int64)  # as it stays for the first k letters, which have no context
    rows = np.arange(len(draws))
    context = np.zeros(len(draws), dtype=np.int64)
    for place in range(width):
        if place >= k:
            chain[:, place] = (uniform[:, place, None] >= laws[rows, context, :-1]).sum(axis=1)
        context = (context * letters + chain[:, place]) % letters**k
    return chain


def _laws(contexts: int, letters: int, draws: Draws) -> Floats:
    """The cumulative laws of the next letter, [items, contexts, letters]: normalised exponentials are Dirichlet(1)."""
    weights = -np.log1p(-draws.uniform(contexts * letters)).reshape(len(draws), contexts, letters)
    cumulative = weights.cumsum(axis=2)
    return cumulative / cumulative[:, :, -1:]
