"""Limit transformers answer as their definition says, as a slow independent reading of it, and as the tasks do."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.examples import (
    EXAMPLES,
    bigram,
    example,
    majority,
    previous_token,
    rare_pair,
    share_in_class,
    wave,
)
from lengthwise.oracle.limit.transformer import Layer, LimitHead, LimitTransformer, vector
from lengthwise.tasks.izzo import ModPTask, SimpleTask
from lengthwise.tasks.retrieval import follower_counts
from limit_models import random_limit


def slow_answer(model: LimitTransformer, word: list[int]) -> list:
    """The definition, place by place, in plain Python; weights as floats where they are not rational."""
    width, n = model.embeddings.shape[1], len(word)
    states = [
        [model.embeddings[s][c] + model.positions[i % model.period][c] for c in range(width)]
        for i, s in enumerate(word)
    ]
    for layer in model.layers:
        states = [slow_place(model, layer, states, i, n) for i in range(n)]
    return [sum(row[c] * states[-1][c] for c in range(width)) for row in model.readout]


def slow_place(model: LimitTransformer, layer: Layer, states: list, i: int, n: int) -> list:
    width = len(states[0])
    new = list(states[i])
    for head in layer.heads:
        logits = []
        for j in range(i + 1):
            a = sum(states[j][r] * head.match[r][c] * states[i][c] for r in range(width) for c in range(width))
            phi = head.local[i - j] if i - j < len(head.local) else 0
            logits.append(a + (phi * math.log(i + 1) if model.mode == "infinite" else phi))
        weights = [slow_weight(model, max(logits) - a, n) for a in logits]
        for r in range(width):
            values = [sum(head.value[r][c] * states[j][c] for c in range(width)) for j in range(i + 1)]
            new[r] += sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    if layer.mlp is None:
        return new
    kinds = {"relu": lambda t: max(t, 0), "step": lambda t: int(t > 0), "identity": lambda t: t}
    inner = [
        kinds[layer.mlp.activation](sum(row[c] * new[c] for c in range(width)) + b)
        for row, b in zip(layer.mlp.inner, layer.mlp.offset, strict=True)
    ]
    return [new[r] + sum(layer.mlp.outer[r][u] * inner[u] for u in range(len(inner))) for r in range(width)]


def slow_weight(model: LimitTransformer, gap, n: int):
    if model.mode == "infinite":
        return math.exp(-gap)
    if model.mode == "hardmax":
        return Fraction(int(gap == 0))
    weight = float(n) ** -float(gap)
    if abs(weight * 2**model.bits - 1) < 1e-9:  # only whole numbers can tell
        return Fraction(0)
    return Fraction(0) if weight < 2.0**-model.bits else Fraction(weight)


@pytest.mark.parametrize("mode", ["hardmax", "finite", "infinite"])
@pytest.mark.parametrize("layers", [1, 2])
def test_answers_follow_the_definition(mode: str, layers: int) -> None:
    for seed in range(25):
        model = random_limit(seed, layers, mode)
        if mode == "finite" and layers == 2:
            model = model.in_mode("hardmax")  # logits of the second layer may tie up to rounding
        draw = random.Random(seed)
        for length in (1, 2, 5, 9):
            word = [draw.randrange(len(model.symbols)) for _ in range(length)]
            found = model.answers(np.array([word]))[0]
            assert [float(v) for v in found] == pytest.approx([float(v) for v in slow_answer(model, word)], abs=1e-9)
            if mode == "hardmax":
                assert list(found) == slow_answer(model, word) and all(isinstance(v, Fraction) for v in found)


def test_floats_agree_with_fractions() -> None:
    for seed in range(30):
        model = random_limit(seed)
        words = np.random.default_rng(seed).integers(0, len(model.symbols), (20, 8))
        assert np.allclose(model.in_floats().answers(words), model.answers(words).astype(float))


def test_examples_compute_what_the_tasks_ask() -> None:
    draw = random.Random(1)
    for _ in range(40):
        bits = [draw.choice("01") for _ in range(draw.randint(5, 40))]
        assert wave(3.0).answer(bits)[0] == pytest.approx(SimpleTask(omega=3.0).solve(bits)[0])
        assert float(share_in_class(5, 2).answer(bits)[0]) == ModPTask(period=5, residue=2).solve(bits)[0]
        ones = bits.count("1")
        assert majority().answer(bits) == (Fraction(2 * ones - len(bits), len(bits)),)
        word = [draw.choice("abc") for _ in range(12)]
        before = previous_token(3).answer(word)
        assert [int(v) for v in before] == [int(letter == word[-2]) for letter in "abc"]
        if {"a", "b"} & set(word):
            a, b = word.count("a"), word.count("b")
            assert rare_pair().answer(word) == (Fraction(a, a + b),)


def test_bigram_approaches_the_empirical_law() -> None:
    random_step = np.random.default_rng(0)
    word = np.where(random_step.random(600) < 0.3, random_step.integers(0, 3, 600), 1).cumsum() % 3
    counts = follower_counts(word[None], 1, 3)[0]
    off = [np.abs(bigram(3, strength).answers(word[None])[0] - counts / counts.sum()).max() for strength in (2.0, 12.0)]
    assert off[0] > 0.05 and off[1] < 0.01


def test_rounding_to_zero_begins_exactly_where_it_should() -> None:
    model = previous_token(2).in_mode("finite", 3)  # margin 1: hard from length 8 on
    assert model.answer("bbbbbbba")[0] == 0 and model.answer("abbbbba")[0] > 0
    half = LimitTransformer(  # margin 1/2, bits 3: n^(1/2) >= 8 from n = 64 on
        model.symbols,
        model.embeddings,
        model.positions,
        (Layer((LimitHead(model.layers[0].heads[0].match, vector([0, "1/2"], "x"), model.layers[0].heads[0].value),)),),
        model.readout,
        "finite",
        3,
    )
    assert half.answer("a" + "b" * 63)[0] == 0 and half.answer("a" + "b" * 62)[0] > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_say_whether_they_are_exact(name: str) -> None:
    model = example(name)
    assert model.exact == (name not in ("wave", "bigram"))
    assert model.period >= 1 and model.locality == {"previous_token": 1, "bigram": 1}.get(name, 0)


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="not one of them"):
        majority().answer("012")
    with pytest.raises(UsageError, match="at least one symbol"):
        majority().answer("")
    with pytest.raises(UsageError, match="did you mean 'majority'"):
        example("majorty")
    with pytest.raises(UsageError, match="residue"):
        share_in_class(3, 3)
    with pytest.raises(UsageError, match="mode must be one of"):
        majority().in_mode("soft")  # type: ignore[arg-type]


def test_the_room_knows_nothing_of_torch() -> None:
    code = "import sys, pkgutil, importlib, lengthwise.oracle.limit as room\n"
    code += "[importlib.import_module(m.name) for m in pkgutil.iter_modules(room.__path__, room.__name__ + '.')]\n"
    code += "import lengthwise.oracle.depth, lengthwise.oracle.depth\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
