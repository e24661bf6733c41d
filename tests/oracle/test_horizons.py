"""How far back attention sees: every bound is attacked, and every construction carried out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.transformer import Transformer, fresh_model
from lengthwise.oracle.check import check
from lengthwise.oracle.crasp.promise import Promise, mixed_lengths, prefixes
from lengthwise.oracle.horizons import (
    LOCAL_SLOPE,
    alibi_tail,
    alibi_window,
    heaviest,
    horizon,
    kerple_tail,
    memory_of,
    sight,
)
from lengthwise.positions import make_position
from lengthwise.positions.encodings import Alibi
from lengthwise.probes.horizon import spreads_of
from lengthwise.tasks.languages.regex import automaton

RNG = np.random.default_rng(5)
LANGUAGES = [
    "(aa)*",
    "(a|ba)*",
    "[ab]*b",
    "[ab]*ab",
    "[ab]*ab[ab]*",
    "(ab)*",
    "(aab|b)*",
    "a*b*",
    "(ab|ba)*",
    "[ab]*bab",
]


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


@pytest.mark.parametrize("slope", [0.02, 0.25, 1.0, 5.0])
def test_no_logits_move_more_weight_to_far_keys_than_the_tail_allows(slope: float) -> None:
    """Random logits, and the worst ones: all far keys as high and all near keys as low as allowed."""
    for _ in range(60):
        keys, spread = int(RNG.integers(2, 400)), float(RNG.uniform(0, 12))
        distance = int(RNG.integers(1, keys))
        apart = np.arange(keys)
        for content in (RNG.uniform(0, spread, keys), np.where(apart >= distance, spread, 0.0)):
            far = softmax(content - slope * apart)[distance:].sum()
            assert far <= alibi_tail(slope, spread, distance) * (1 + 1e-9)
    worst = softmax(np.where(np.arange(5000) >= 30, 3.0, 0.0) - slope * np.arange(5000))[30:].sum()
    assert worst == pytest.approx(alibi_tail(slope, 3.0, 30), rel=1e-6)  # the bound is attained


def test_the_horizon_is_the_least_distance_and_inverse_to_the_slope() -> None:
    for slope, spread, share in itertools.product((0.01, 0.3, 2.0), (0.0, 4.0, 20.0), (0.5, 0.01)):
        found = horizon(slope, spread, share)
        assert alibi_tail(slope, spread, found) <= share * (1 + 1e-9)
        assert found == 1 or alibi_tail(slope, spread, found - 1) > share
    assert horizon(1.0, 5000.0) == 5000 and alibi_tail(1.0, 5000.0, 10) == 1 == kerple_tail(2.0, 1.0, 5000.0, 10)
    assert horizon(1 / 256, 0.0) == pytest.approx(16 * horizon(1 / 16, 0.0), rel=0.1)


@pytest.mark.parametrize("slope, spread", [(5e-324, 1.0), (0.0, 1.0), (0.5, math.inf), (0.5, math.nan)])
def test_what_cannot_be_counted_is_no_horizon(slope: float, spread: float) -> None:
    for distance in (alibi_window, horizon):
        with pytest.raises(UsageError):
            distance(slope, spread)


@pytest.mark.parametrize("weight", [0.5, 1.2, 3.0])
def test_no_logits_move_more_weight_to_far_keys_than_the_tail_of_kerple_allows(weight: float) -> None:
    for _ in range(60):
        keys, spread, rate = int(RNG.integers(2, 2000)), float(RNG.uniform(0, 6)), float(RNG.uniform(0.05, 4))
        distance, apart = int(RNG.integers(1, keys)), np.arange(keys)
        for content in (RNG.uniform(0, spread, keys), np.where(apart >= distance, spread, 0.0)):
            far = softmax(content - weight * np.log1p(rate * apart))[distance:].sum()
            assert far <= kerple_tail(weight, rate, spread, distance) * (1 + 1e-9)


def test_a_weight_below_one_keeps_the_share_of_the_far_half_at_every_length() -> None:
    shares = []
    for keys in (10**3, 10**4, 10**5):
        weights = softmax(-0.5 * np.log1p(np.arange(keys)))
        shares.append(weights[keys // 2 :].sum())
    assert shares == pytest.approx([1 - 0.5**0.5] * 3, abs=0.02)


def test_one_key_has_no_more_weight_than_bounded_logits_allow() -> None:
    for _ in range(50):
        keys, spread = int(RNG.integers(2, 300)), float(RNG.uniform(0, 10))
        assert softmax(RNG.uniform(0, spread, keys)).max() <= heaviest(spread, keys) * (1 + 1e-9)
        assert softmax(np.where(np.arange(keys) == 1, spread, 0)).max() == pytest.approx(heaviest(spread, keys))


def model_of(position: str, loud: float, depth: int = 2) -> Transformer:
    """A fresh model with weights as many times larger, so that content matters."""
    architecture = Architecture(depth=depth, width=16, heads=2, position=make_position(position))
    model = fresh_model(architecture, Interface(6, 4, 400, 400), seed=int(RNG.integers(1000))).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.mul_(loud if "qkv" in name or "mlp" in name or "out" in name else 1)
    return model


def spreads(model: Transformer) -> list[float]:
    """The largest spread of a head, for each layer."""
    blocks = anatomy_of(model).blocks
    return [max(spreads_of(block.attention, block.norm_attention)) for block in blocks]  # pyright: ignore


@pytest.mark.parametrize("loud", [1.0, 20.0, 60.0])
def test_no_input_beyond_the_window_changes_a_bit_of_the_logits(loud: float) -> None:
    """All tokens before the window are replaced at random; one inside the window does change the logits."""
    model = model_of("alibi:first=8,last=6", loud)
    slope = min(Alibi(first=8, last=6).slopes(2))
    window = sight(alibi_window(slope, spread) for spread in spreads(model))
    tokens = torch.from_numpy(RNG.integers(0, 6, (1, window + 30)))
    others = tokens.repeat(24, 1)
    others[:, :-window] = torch.from_numpy(RNG.integers(0, 6, (24, others.shape[1] - window)))
    with torch.no_grad():
        same = model(others)[:, -1]
        assert torch.equal(same, same[:1].expand_as(same))
        others[:, -2] = (others[:, -2] + torch.arange(24)) % 6
        assert not torch.equal(model(others)[:, -1], same)


def test_the_spread_bounds_the_logits_of_a_model_against_a_search() -> None:
    """The best query for two keys and the best keys for a query, in turn: no normalised vectors exceed the bound."""
    model = model_of("none", 30.0, depth=1)
    weights = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    weight = weights["blocks.0.attention.qkv.weight"] * weights["blocks.0.attention_norm.weight"]
    bound, best = spreads(model)[0], 0.0
    for head in range(2):
        queries, keys = (weight[place + 8 * head : place + 8 * head + 8] for place in (0, 16))
        query = normalised(RNG.normal(size=16))
        for _ in range(30):
            key = normalised(keys.T @ (queries @ query))
            query = normalised(queries.T @ (keys @ key))
            best = max(best, float((queries @ query) @ (keys @ (2 * key))) / math.sqrt(8))
    assert 0.5 * bound < best <= bound


def normalised(vector: np.ndarray) -> np.ndarray:
    centred = vector - vector.mean()
    return centred / centred.std()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("promised", [prefixes, mixed_lengths])
def test_the_memory_of_a_language_against_all_short_words(language: str, promised) -> None:
    """All pairs of words of up to 9 letters that share an ending: beyond the memory answers agree, within it some pair
    does not; where there is no memory, the endings of such pairs grow with the words."""
    promise = promised(automaton(language, "ab").minimised())
    memory = memory_of(promise).symbols
    shared = [longest_shared(promise, length) for length in (7, 9)]
    if memory is None:
        assert shared[0] < shared[1]
    else:
        slack = int(promised is mixed_lengths)  # an end mark counts as a letter
        assert memory - slack == shared[1] + 1 == shared[0] + 1


def longest_shared(promise: Promise, longest: int) -> int:
    """The longest ending that two words have in common which need different answers; by brute force."""
    answers: dict[str, set] = {}
    alphabet = promise.dfa.alphabet
    for length in range(longest + 1):
        for word in itertools.product(alphabet, repeat=length):
            for at_end in (False, True):
                answer = asked(promise, word, at_end)
                if answer is not None:
                    for start in range(length + 1):
                        answers.setdefault("".join(word[start:]) + "|" * at_end, set()).add(answer)
    return max((len(ending.rstrip("|")) for ending, found in answers.items() if len(found) > 1), default=0)


def asked(promise: Promise, word: tuple[str, ...], at_end: bool):
    state = promise.dfa.start
    for place, letter in enumerate(word):
        row = promise.dfa.alphabet.index(letter)
        if place == len(word) - 1 and not at_end:
            return promise.answers[state][row]
        state = promise.dfa.transitions[state][row]
        if state not in promise.kept:
            return None
    return promise.answers[state][-1] if at_end else None


def codes(slope: float, longest: int) -> dict[str, np.ndarray]:
    """What one head of ALiBi without content reads after `<bos>` and a word: the weight on <bos>, on a and on b."""
    found = {}
    for length in range(longest + 1):
        weights = softmax(-slope * np.arange(length, -1, -1))
        for word in itertools.product("ab", repeat=length):
            read = np.array([letter == "a" for letter in word], dtype=float)
            found["".join(word)] = np.array([weights[0], weights[1:] @ read])
    return found


def test_a_steep_head_keeps_the_last_symbols_distinct_and_a_flat_one_does_not() -> None:
    """The least distance between what is read after words with different last two symbols, by length of the words: it
    stays where the slope is above ln 2 and melts away below."""

    def margin(slope: float, longest: int) -> float:
        read = codes(slope, longest)
        groups: dict[str, list[np.ndarray]] = {}
        for word, code in read.items():
            groups.setdefault(word[-2:], []).append(code)
        return min(
            float(np.abs(np.array(one)[:, None] - np.array(other)[None]).max(axis=-1).min())
            for one, other in itertools.combinations(groups.values(), 2)
        )

    steep, flat = 1.2 * LOCAL_SLOPE, 0.25
    ratio = math.exp(-steep)
    limit = (1 - ratio) * ratio * (1 - ratio / (1 - ratio))  # of words that differ in the last symbol but one
    assert limit <= margin(steep, 9) < 2 * limit
    assert margin(flat, 9) < 0.1 * margin(steep, 9)


@pytest.mark.parametrize("slope", [0.8, 1.0, 2.0])
def test_the_construction_reads_the_last_symbols_of_long_words_in_float32(slope: float) -> None:
    """Theorem 4 carried out: the weight on <bos> gives the length, and the last symbols follow one by one."""
    for length in (3, 4, 10, 60, 1000):
        word = RNG.integers(0, 3, length)
        weights = softmax((-slope * np.arange(length, -1, -1)).astype(np.float32))  # <bos> first
        read = np.array([weights[1:][word == letter].sum() for letter in range(3)], dtype=np.float32)
        total = sum(math.exp(-slope * d) for d in range(length + 1))  # what the weight on <bos> tells
        left, found = read * total, []
        for _ in range(3):
            found.append(int(np.argmax(left)))
            left = math.exp(slope) * (left - np.eye(3)[found[-1]])
        assert found == word[::-1][:3].tolist()


@pytest.mark.parametrize(
    ("position", "parameter", "value"),
    [
        ("t5", "values", 0.0),
        ("fire", "outer", 0.0),
        ("kerple", "raw_weight", -200.0),
        ("kerple:variant=power", "raw_weight", -200.0),
    ],
)
def test_with_a_bias_of_zero_a_model_is_the_one_without_an_encoding(
    position: str, parameter: str, value: float
) -> None:
    biased, plain = model_of(position, 20.0), model_of("none", 20.0)
    with torch.no_grad():
        getattr(biased.encoder, parameter).fill_(value)
        plain.load_state_dict(biased.state_dict(), strict=False)
        tokens = torch.from_numpy(RNG.integers(0, 6, (3, 300)))
        torch.testing.assert_close(biased(tokens), plain(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("position", ["rope", "rope:scaling=dynamic"])
def test_with_queries_of_zero_a_rotation_changes_nothing(position: str) -> None:
    rotated, plain = model_of(position, 20.0), model_of("none", 20.0)
    plain.load_state_dict(rotated.state_dict(), strict=False)
    with torch.no_grad():
        for model in (rotated, plain):
            for name, value in model.named_parameters():
                if "qkv" in name:
                    value[:16] = 0
        tokens = torch.from_numpy(RNG.integers(0, 6, (3, 300)))
        torch.testing.assert_close(rotated(tokens), plain(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("language", "encoding", "outlook"),
    [
        ("(a|ba)*", "alibi", "can hold"),  # the last symbol settles it
        ("(aab)*", "alibi", "unknown"),  # the last two do
        ("(aab)*", "alibi:first=1", "can hold"),
        ("(aa)*", "alibi", "unknown"),
        ("(aa)*", "alibi:first=1", "unknown"),
        ("(aa)*", "alibi:last=4", "cannot hold"),
        ("[ab]*ab[ab]*", "rope", "can hold"),
        ("[ab]*ab[ab]*", "t5+offset", "can hold"),
        ("[ab]*ab[ab]*", "kerple", "can hold"),
        ("[ab]*ab[ab]*", "t5+randomized", "unknown"),
        ("(aa)*", "rope", "unknown"),
        ("(aa)*", "alibi+randomized", "unknown"),
    ],
)
def test_verdicts(language: str, encoding: str, outlook: str) -> None:
    card = check(f"regular:expression={language}", (encoding,), test_size=400, quick=True)
    assert card.verdicts[encoding].outlook == outlook, card.verdicts[encoding].why


def test_the_window_of_a_verdict_is_the_one_of_the_slopes_and_its_assumptions_are_named() -> None:
    opinion = check("regular:expression=(aa)*", ("alibi",), quick=True).verdicts["alibi"].opinions[0]
    assert opinion.grounds is not None and opinion.grounds.kind == "proved"
    assert opinion.grounds.value == sight([alibi_window(1 / 256, 64.0)] * 2)
    assert {one.key for one in opinion.claim.assumptions} == {"biases.spread", "biases.shape", "horizon.order"}


def test_advice_names_what_need_not_be_switched_off_first() -> None:
    card = check("regular:expression=[ab]*ab[ab]*", ("rope", "none", "t5"), quick=True)
    assert card.advice.encodings == ("none",)
    assert check("regular:expression=[ab]*ab[ab]*", ("rope",), quick=True).advice.encodings == ("rope",)
