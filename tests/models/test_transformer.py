# ruff: noqa: F722, F821 (the shapes of jaxtyping are not forward references)
"""The Transformer: against one written out from the definitions, and what a decoder, a cache and a mask promise."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from beartype import beartype
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Bool, Float, Int, TypeCheckError, jaxtyped
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.transformer import Architecture, Cache, Interface, Transformer, fresh_model
from lengthwise.positions import positions
from lengthwise.positions.networks.encoders import Encoder
from lengthwise.seeds import Seeds
from small_transformers import TOKENS, VOCABULARY, gap, make, text

RULES = ["softmax", "softmax:temperature=0.5", "log_length", "log_length:reference=4.0", "hardmax", "window:size=3"]
OWN = [name for name in positions.names() if not positions.maker(name).from_task]  # positions without a task
ENCODINGS = [*OWN, "rope:scaling=dynamic", "rope:scaling=yarn,factor=3", "learned+offset"]


# --- the definitions, one query at a time ---------------------------------------------------------------------------

Weights = Callable[[list[float], int], list[float]]  # logits of the keys seen, how many those are → weights


def soft(sharpness: Callable[[int], float]) -> Weights:
    def weights(logits: list[float], seen: int) -> list[float]:
        sharp = [math.exp(sharpness(seen) * (logit - max(logits))) for logit in logits]
        return [value / sum(sharp) for value in sharp]

    return weights


def hard(logits: list[float], seen: int) -> list[float]:
    best = [logit >= max(logits) - 1e-6 for logit in logits]
    return [value / sum(best) for value in best]


BY_DEFINITION: dict[str, Weights] = {
    "softmax": soft(lambda n: 1.0),
    "softmax:temperature=0.5": soft(lambda n: 2.0),
    "log_length": soft(lambda n: math.log(n)),
    "log_length:reference=4.0": soft(lambda n: math.log(n) / math.log(4.0)),
    "hardmax": hard,
    "window:size=3": soft(lambda n: 1.0),
}


def turned(vector: list[float], place: int) -> list[float]:
    """RoPE by complex numbers: pair k is multiplied by exp(i place 10000^(-2k/D))."""
    half = len(vector) // 2
    pairs = [complex(vector[k], vector[k + half]) * cmath.exp(1j * place * 10000 ** (-k / half)) for k in range(half)]
    return [z.real for z in pairs] + [z.imag for z in pairs]


def by_definition(model: Transformer, tokens: Tensor, rule: str, position: str) -> Tensor:
    """The logits of one sequence [T] by loops over queries, keys and heads."""
    shape, causal, length = model.shape, model.architecture.causal, len(tokens)
    states = dict(model.named_parameters())
    window = 3 if rule.startswith("window") else length

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ states[f"{name}.weight"].T + states[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return centred / scale * states[f"{name}.weight"] + states[f"{name}.bias"]

    x = states["embedding.weight"][tokens]
    x = x + states["encoder.table"][:length] if position == "learned" else x
    for layer in range(model.architecture.depth):
        name = f"blocks.{layer}"
        q, k, v = linear(norm(x, f"{name}.attention_norm"), f"{name}.attention.qkv").chunk(3, dim=-1)
        mixed = torch.zeros_like(x)
        for head in range(shape.heads):
            columns = slice(head * shape.head_width, (head + 1) * shape.head_width)
            queries, keys = q[:, columns].tolist(), k[:, columns].tolist()
            if position == "rope":
                queries, keys = ([turned(row, place) for place, row in enumerate(rows)] for rows in (queries, keys))
            slope = 2.0 ** (-8 * (head + 1) / shape.heads) if position == "alibi" else 0.0
            for i in range(length):
                seen = [j for j in range(length) if (j <= i or not causal) and abs(i - j) < window]
                logits = [
                    sum(a * b for a, b in zip(queries[i], keys[j], strict=True)) / math.sqrt(shape.head_width)
                    - slope * abs(i - j)
                    for j in seen
                ]
                for j, weight in zip(seen, BY_DEFINITION[rule](logits, len(seen)), strict=True):
                    mixed[i, columns] += weight * v[j, columns]
        x = x + linear(mixed, f"{name}.attention.out")
        x = x + linear(linear(norm(x, f"{name}.mlp_norm"), f"{name}.mlp.0").relu(), f"{name}.mlp.2")
    return norm(x, "norm") @ states["output.weight"].T


@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
@pytest.mark.parametrize("position", ["none", "alibi", "rope", "learned"])
@pytest.mark.parametrize("rule", RULES)
@torch.no_grad()
def test_the_whole_is_what_the_definitions_say(rule: str, position: str, causal: bool) -> None:
    model, tokens = make(rule, position, causal), text()
    logits = model(tokens)
    for row in range(len(tokens)):
        assert gap(logits[row], by_definition(model, tokens[row], rule, position)) <= 1e-10


class Explicit(Softmax):
    """Softmax that may not use the fast kernel."""

    fused = False


@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
@pytest.mark.parametrize("position", ENCODINGS)
def test_the_fast_kernel_and_the_formula_agree(position: str, causal: bool) -> None:
    fast = make("softmax:temperature=0.7", position, causal)
    slow = make("softmax:temperature=0.7", position, causal)
    for block in slow.blocks:
        block.attention.rule = Explicit(0.7)
    assert gap(fast(text()), slow(text())) <= 1e-12


def test_log_length_in_an_encoder_counts_all_that_is_seen() -> None:
    """The first token of an encoder sees everything, so ln(n) is not 0 for it."""
    sharpness = make("log_length", causal=False)._sight(torch.arange(5)[None], torch.arange(5)).sharpness
    assert isinstance(sharpness, Tensor)
    assert sharpness.flatten().tolist() == [math.log(5)] * 5


# --- who sees whom --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_later_tokens_change_nothing_before_them(rule: str) -> None:
    model, tokens = make(rule, "rope"), text()
    whole = model(tokens)
    for place in range(1, TOKENS):
        other = tokens.clone()
        other[:, place:] = (other[:, place:] + 1) % VOCABULARY
        change = (model(other) - whole).abs().amax(dim=(0, 2))
        assert change[:place].max() <= 1e-12
        assert change[place] > 1e-3


@pytest.mark.parametrize("rule", ["softmax", "log_length"])
def test_an_encoder_sees_everything(rule: str) -> None:
    model, tokens = make(rule, "rope", causal=False), text()
    whole = model(tokens)
    for place in range(TOKENS):
        other = tokens.clone()
        other[:, place] = (other[:, place] + 1) % VOCABULARY
        assert (model(other) - whole).abs().amax(dim=(0, 2)).min() > 1e-6


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
def test_a_window_reaches_as_far_as_its_layers(causal: bool, depth: int) -> None:
    model, tokens, place = make("window:size=3", "none", causal, depth), text(), 5
    other = tokens.clone()
    other[:, place] = (other[:, place] + 1) % VOCABULARY
    change = (model(other) - model(tokens)).abs().amax(dim=(0, 2)) > 1e-9
    reach = depth * 2
    first = place - reach if not causal else place
    assert change.nonzero()[:, 0].tolist() == list(range(first, place + reach + 1))


# --- the cache, and the places asked for ----------------------------------------------------------------------------


@pytest.mark.parametrize("position", ENCODINGS)
@pytest.mark.parametrize("rule", RULES)
@torch.no_grad()
def test_a_cache_changes_nothing(rule: str, position: str) -> None:
    model, tokens = make(rule, position), text()
    at = model.architecture.position.indices(TOKENS, len(tokens), model.shape, Seeds(2), True)
    whole = model(tokens, at=at)
    for ends in (range(1, TOKENS + 1), (4, 5, TOKENS)):
        cache, parts, start = Cache(), [], 0
        for end in ends:
            parts.append(model(tokens[:, start:end], at=at[:, :end], cache=cache))
            assert cache.length == end
            start = end
        assert gap(torch.cat(parts, dim=1), whole) <= 1e-10


@pytest.mark.parametrize("position", ENCODINGS)
@torch.no_grad()
def test_generation_is_the_best_token_again_and_again(position: str) -> None:
    model, prompt = make(position=position), text(items=12, tokens=4)
    at = torch.arange(TOKENS)[None] * 3 + 2
    written = prompt
    for end in range(4, TOKENS):
        best = model(written, at=at[:, :end])[:, -1].argmax(dim=-1)
        written = torch.cat([written, best[:, None]], dim=1)
    assert model.generate(prompt, TOKENS - 4, at).equal(written[:, 4:])
    if position == "learned":
        assert not model.generate(prompt, TOKENS - 4).equal(written[:, 4:]), "positions are listened to"


def test_generation_of_nothing_and_by_an_encoder() -> None:
    assert make().generate(text(), 0).shape == (2, 0)
    with pytest.raises(UsageError, match="only a decoder writes token by token"):
        make(causal=False).generate(text(), 1)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_logits_where_they_are_asked_for_are_those_of_the_whole(data: st.DataObject) -> None:
    position = data.draw(st.sampled_from(ENCODINGS))
    model, tokens = make(data.draw(st.sampled_from(RULES)), position, data.draw(st.booleans())), text()
    marks = data.draw(st.lists(st.booleans(), min_size=tokens.numel(), max_size=tokens.numel()))
    scored = torch.tensor(marks).view_as(tokens)
    with torch.no_grad():
        chosen, whole = model(tokens, scored=scored), model(tokens)[scored]
    assert chosen.shape == (sum(marks), VOCABULARY)
    assert chosen.allclose(whole, rtol=0, atol=1e-12)


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"width": 10, "heads": 4}, "width 10 is not divisible by 4 heads; width 8 or 12 would be"),
        ({"width": 3, "heads": 4}, "width 3 is not divisible by 4 heads; width 4 would be"),
        ({"depth": 0}, "depth must be at least 1, not 0"),
        ({"width": -4}, "width must be at least 1, not -4"),
        ({"heads": 0}, "heads must be at least 1, not 0"),
        ({"mlp_ratio": 0}, "mlp_ratio must be at least 1, not 0"),
        ({"gain": 0.0}, "gain must be above 0, not 0.0"),
    ],
)
def test_wrong_settings_name_the_right_ones(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        Architecture(**wrong)
    assert str(error.value) == sentence


def test_first_weights_are_small_and_smaller_where_they_write() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Transformer(Architecture(depth=8, width=64), Interface(100, 100, 9, 9))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            assert parameter.equal(torch.full_like(parameter, float("norm.weight" in name)))
        else:
            wanted = 0.02 / 4 if name.endswith(("attention.out.weight", "mlp.2.weight")) else 0.02
            assert float(parameter.detach().std()) == pytest.approx(wanted, rel=0.06), name


@pytest.mark.parametrize("position", ["none", "learned", "t5"])
def test_a_gain_multiplies_all_matrices_and_no_vector(position: str) -> None:
    usual, large = (
        fresh_model(Architecture(position=positions.make(position), gain=gain), Interface(9, 9, 9, 9), seed=4)
        for gain in (1.0, 5.0)
    )
    for (name, one), other in zip(usual.named_parameters(), large.parameters(), strict=True):
        assert torch.allclose(other, one * (5 if one.dim() > 1 else 1)), name


# --- shapes, checked at run time ------------------------------------------------------------------------------------


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is in use, what the Transformer and its encodings take and give is held to the documented shapes."""
    forward = Transformer.forward

    @jaxtyped(typechecker=beartype)
    def checked(
        self: Transformer,
        tokens: Int[Tensor, "B T"],
        at: Int[Tensor, "#B N"] | None = None,
        scored: Bool[Tensor, "B T"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B T O"] | Float[Tensor, "S O"]:
        result = forward(self, tokens, at, scored, cache)
        assert result.dim() == (3 if scored is None else 2)
        return result

    monkeypatch.setattr(Transformer, "forward", checked)
    for cls in [Encoder, *subclasses(Encoder)]:
        for name in ("embed", "rotate", "bias", "scores"):
            if name in vars(cls):
                monkeypatch.setattr(cls, name, checked_method(name, vars(cls)[name]))


def subclasses(cls: type) -> list[type]:
    return [below for child in cls.__subclasses__() for below in (child, *subclasses(child))]


def checked_method(name: str, method: Callable) -> Callable:
    @jaxtyped(typechecker=beartype)
    def embed(self: Encoder, at: Int[Tensor, "one T"]) -> Float[Tensor, "one T W"] | None:
        return method(self, at)

    @jaxtyped(typechecker=beartype)
    def rotate(self: Encoder, x: Float[Tensor, "B H T D"], at: Int[Tensor, "#B T"]) -> Float[Tensor, "B H T D"]:
        return method(self, x, at)

    @jaxtyped(typechecker=beartype)
    def bias(
        self: Encoder, queries_at: Int[Tensor, "one Q"], keys_at: Int[Tensor, "one K"]
    ) -> Float[Tensor, "one _ Q K"] | None:
        return method(self, queries_at, keys_at)

    @jaxtyped(typechecker=beartype)
    def scores(
        self: Encoder,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        queries_at: Int[Tensor, "#B Q"],
        keys_at: Int[Tensor, "#B K"],
        index: Int[Tensor, "Q"],
    ) -> Float[Tensor, "B H Q K"] | None:
        return method(self, q, k, queries_at, keys_at, index)

    return {"embed": embed, "rotate": rotate, "bias": bias, "scores": scores}[name]


@pytest.mark.parametrize("position", ENCODINGS)
@pytest.mark.usefixtures("shapes")
def test_shapes_are_the_documented_ones(position: str) -> None:
    for causal in (True, False):
        model, tokens = make("log_length", position, causal), text(items=3)
        at = model.architecture.position.indices(TOKENS, 3, model.shape, Seeds(2), True)
        model(tokens, at=at)
        model(tokens, at=at, scored=tokens > 2)
    model = make(position=position)
    assert model.generate(text(tokens=3), 4).shape == (2, 4)


class Wrong(Encoder):
    """A bias that forgets the items."""

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return torch.zeros(2, queries_at.shape[1], keys_at.shape[1], dtype=torch.float64)


@pytest.mark.usefixtures("shapes")
def test_the_check_of_shapes_can_fail() -> None:
    model = make()
    model.encoder = Wrong()
    with pytest.raises(TypeCheckError, match="bias"):
        model(text())
    with pytest.raises(TypeCheckError, match="checked"):
        make()(text().float())
