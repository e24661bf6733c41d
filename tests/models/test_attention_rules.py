"""Attention rules inside a model: against their definitions, with a cache, and at lengths that strain them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.hardware import computing
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import Attention, attentions
from lengthwise.models.attention.networks.network import AttentionNetwork
from lengthwise.models.attention.networks.sequential import path_scores
from lengthwise.models.attention.networks.sparse import entmax
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.formed import in_form
from lengthwise.models.forms import forms
from lengthwise.models.forward import run
from lengthwise.models.parts import AttentionPart
from lengthwise.models.placed import placed
from lengthwise.models.transformer import Architecture, Cache, Interface, SelfAttention, Transformer
from lengthwise.positions import make_position
from lengthwise.runs.plan import plan_for
from lengthwise.seeds import Floats
from lengthwise.subjects.open import open_subject
from lengthwise.testing import check_attention
from small_transformers import TOKENS, gap, make, text

CAUSAL = ["stick_breaking", "forgetting", "path", "selective"]
MATCH = "window_match:size=3,match=1"
RULES = ["ssmax", "entmax", "asentmax", "adaptive_temperature", MATCH, *CAUSAL]
OLD = ["softmax", "softmax:temperature=0.5", "log_length", "hardmax", "window:size=3", "sinkhorn:tau=0.5"]
DIGESTS = ["6d79d708", "d9cb3dfb", "2440d04b", "0dc98dda", "eb3f6bcd", "24e4ce59"]  # of plans, by rule of OLD
ENCODINGS = ["none", "alibi", "t5", "learned", "rope", "rope:scaling=dynamic"]
FITTING = [(r, e) for r in RULES for e in ENCODINGS if not (r == "path" and e.startswith("rope"))]


@pytest.mark.parametrize("rule", [*attentions.names(), "forgetting:start=5"])
def test_every_rule_keeps_the_contract(rule: str) -> None:
    check_attention(attentions.make(rule))


# --- the definitions, one query at a time ----------------------------------------------------------------------------


def softmax(z: Floats) -> Floats:
    powers = np.exp(z - z.max())
    return powers / powers.sum()


def entmax_by_bisection(z: Floats) -> Floats:
    low, high = z.max() / 2 - 1, z.max() / 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (np.maximum(z / 2 - middle, 0) ** 2).sum() > 1 else (low, middle)
    return np.maximum(z / 2 - high, 0) ** 2


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def adaptive(z: Floats) -> Floats:
    p = softmax(z)
    entropy = -sum(each * math.log(each) for each in p if each > 0)
    polynomial = np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], entropy)
    return softmax(z * max(polynomial, 1.0)) if entropy > 0.5 else p


def broken_stick(z: Floats) -> Floats:
    weights, left = np.zeros(len(z)), 1.0
    for key in reversed(range(len(z) - 1)):
        weights[key] = left * sigmoid(z[key])
        left *= 1 - sigmoid(z[key])
    weights[-1] = left
    return weights


class Direct:
    """The weights of a layer by its definition: loops over heads, queries and keys."""

    def __init__(self, part: AttentionPart, x: Floats, logits: Callable[[int, int, int], float]) -> None:
        self.part, self.x, self.plain = part, x, logits
        self.learned = (
            {name: value.detach().numpy() for name, value in part.network.named_parameters()} if part.network else {}
        )
        self.q = np.stack([x @ part.wq[h].numpy().T + part.bq[h].numpy() for h in range(part.heads)])  # [H, T, D]
        self.k = np.stack([x @ part.wk[h].numpy().T + part.bk[h].numpy() for h in range(part.heads)])

    def z(self, head: int, query: int) -> Floats:
        """The logits of a query over the keys it sees."""
        seen = query + 1 if self.part.causal else len(self.x)
        return np.array([self.plain(head, query, key) for key in range(seen)])

    def row(self, rule: str, head: int, query: int) -> Floats:
        z, own, q = self.z(head, query), self.learned, self.q[head, query]
        n = len(z)
        if rule == "ssmax":
            return softmax(own["scale"][head] * math.log(n) * z)
        if rule == "entmax":
            return entmax_by_bisection(z)
        if rule == "asentmax":
            beta = math.log1p(math.exp(own["direction"][head] @ q))
            return entmax_by_bisection(
                (own["delta"][head] + beta * math.log(n) ** own["gamma"][head]) * z if n > 1 else z
            )
        if rule == "adaptive_temperature":
            return adaptive(z)
        if rule == MATCH:
            if head == 1:
                return entmax_by_bisection(np.array([q @ self.k[head, key] for key in range(n)]) / math.sqrt(len(q)))
            return softmax(np.where(abs(query - np.arange(n)) < 3, z, -np.inf))
        if rule == "stick_breaking":
            return broken_stick(z)
        if rule == "forgetting":
            gates = [sigmoid(own["weight"][head] @ self.x[k] + own["bias"][head]) for k in range(n)]
            return softmax(np.array([z[j] + sum(math.log(gates[k]) for k in range(j + 1, n)) for j in range(n)]))
        if rule == "selective":
            first = [self.z(0, k) for k in range(query)]  # the earlier queries of the first head
            masked = [sum(max(first[k][j], 0) for k in range(j + 1, query)) if j else 0.0 for j in range(n)]
            return softmax(z - np.array(masked))
        assert rule == "path"
        transforms = []
        for s in range(n):
            w = own["weight"][head] @ self.x[s]
            w = w / np.linalg.norm(w)
            beta = 2 * sigmoid(own["step"][head] @ self.x[s] + own["bias"][head])
            transforms.append(np.eye(len(w)) - beta * np.outer(w, w))
        rest = z - np.array([q @ self.k[head, j] for j in range(n)]) / math.sqrt(len(q))  # the bias of an encoding
        product = [q]
        for s in reversed(range(1, n)):
            product.insert(0, transforms[s] @ product[0])
        return softmax(np.array([self.k[head, j] @ product[j] for j in range(n)]) / math.sqrt(len(q)) + rest)


def direct_weights(rule: str, part: AttentionPart, x: Tensor, position: str) -> Floats:
    """[H, T, T] of what one sequence [T, W] reads."""
    length, heads = len(x), part.heads

    def turned(vector: Floats, place: int) -> Floats:
        half = len(vector) // 2
        both = (vector[:half] + 1j * vector[half:]) * np.exp(1j * place * 10000.0 ** (-np.arange(half) / half))
        return np.concatenate([both.real, both.imag])

    def logit(head: int, query: int, key: int) -> float:
        q, k = direct.q[head, query], direct.k[head, key]
        q, k = (turned(q, query), turned(k, key)) if position == "rope" else (q, k)
        slope = 2.0 ** (-8 * (head + 1) / heads) if position == "alibi" else 0.0
        return float(q @ k) / math.sqrt(len(q)) - slope * abs(query - key)

    direct = Direct(part, x.numpy(), logit)
    weights = np.zeros((heads, length, length))
    for head in range(heads):
        for query in range(length):
            row = direct.row(rule, head, query)
            weights[head, query, : len(row)] = row
    return weights


@pytest.mark.parametrize("position", ["none", "alibi", "rope"])
@pytest.mark.parametrize("rule", RULES)
def test_weights_are_those_of_the_definition(rule: str, position: str) -> None:
    for causal in (True, False):
        if (rule == "path" and position == "rope") or (rule in CAUSAL and not causal):
            continue
        anatomy = anatomy_of(make(rule, position, causal))
        trace = run(anatomy, text(items=1))
        for block, seen in zip(anatomy.blocks, trace.blocks, strict=True):
            wanted = direct_weights(rule, block.attention, seen.attention_input[0], position)
            assert np.abs(seen.attention_weights[0].numpy() - wanted).max() <= 1e-10
            assert np.ptp(wanted[:, -1], axis=1).min() > 0.05, "far from even"


@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
@pytest.mark.parametrize(("rule", "position"), FITTING)
@torch.no_grad()
def test_the_parts_the_cache_and_chosen_places_give_the_logits_of_the_model(rule, position, causal) -> None:
    if rule in CAUSAL and not causal:
        return
    model, tokens = make(rule, position, causal), text()
    whole = model(tokens)
    traced = run(anatomy_of(model), tokens).logits
    assert traced is not None and gap(traced, whole) <= 1e-10
    scored = tokens > 3
    scored[:, 2] = False
    assert gap(model(tokens, scored=scored), whole[scored]) <= 1e-10
    for ends in (range(1, TOKENS + 1), (4, 5, TOKENS)) if causal else ():
        cache, parts, start = Cache(), [], 0
        for end in ends:
            parts.append(model(tokens[:, start:end], cache=cache))
            start = end
        assert gap(torch.cat(parts, dim=1), whole) <= 1e-10


@pytest.mark.parametrize("rule", RULES)
@torch.no_grad()
def test_generation_is_the_best_token_again_and_again(rule: str) -> None:
    model, prompt = make(rule, "alibi"), text(items=6, tokens=3)
    written = prompt
    for _ in range(5):
        written = torch.cat([written, model(written)[:, -1:].argmax(dim=-1)], dim=1)
    assert model.generate(prompt, 5).equal(written[:, 3:])


@pytest.mark.parametrize("rule", RULES)
def test_later_tokens_change_nothing_before_them(rule: str) -> None:
    model, tokens = make(rule, "alibi"), text()
    for place in (1, 5, TOKENS - 1):
        other = tokens.clone()
        other[:, place:] = (other[:, place:] + 1) % 7
        change = (model(other) - model(tokens)).detach().abs().amax(dim=(0, 2))
        assert change[:place].max() <= 1e-12 and change[place] > 1e-3


@pytest.mark.parametrize("rule", RULES)
def test_every_parameter_learns(rule: str) -> None:
    model = make(rule, "none").float().train()
    model(text()).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert "network" not in name or parameter.grad.abs().max() > 0, name


# --- what strains them -----------------------------------------------------------------------------------------------


@pytest.mark.system
@pytest.mark.parametrize("rule", RULES)
def test_4096_tokens_are_finite_forward_and_backward(rule: str) -> None:
    torch.manual_seed(0)
    architecture = Architecture(
        1, 8, 1 + (rule == MATCH), 1, attention=attentions.make(rule), position=make_position("none")
    )
    model = Transformer(architecture, Interface(7, 7, 4096, 64))
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    for mode in (True, False):
        outputs = model.train(mode)(torch.randint(7, (1, 4096)))
        assert outputs.isfinite().all()
        model.zero_grad()
        outputs.square().mean().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("rule", RULES)
def test_matrix_products_in_bfloat16_change_little(rule: str) -> None:
    model = make(rule, "none").float()
    plain = model(text())
    with computing(precision="bf16"):
        rounded = placed(model)(text())
    assert rounded.dtype == torch.float32 and 0 < gap(rounded, plain) <= 0.05 * float(plain.detach().abs().max())


@pytest.mark.parametrize("rule", ["entmax", "stick_breaking"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_weights_of_any_size_of_logits(rule: str, size: float) -> None:
    z = size * torch.randn(4, 300, generator=torch.Generator().manual_seed(0))
    z = z.masked_fill(torch.arange(300) > torch.tensor([[0], [1], [150], [299]]), -math.inf).requires_grad_()
    weights = attentions.make(rule).weights(z)
    assert (weights >= 0).all() and float((weights.sum(-1) - 1).abs().max().detach()) <= 1e-4
    (weights * torch.arange(300)).sum().backward()
    assert z.grad is not None and z.grad.isfinite().all()


def test_the_gradient_of_entmax() -> None:
    z = torch.randn(3, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    z[1] *= 4
    z[2, 5:] = -math.inf
    weights = entmax(z)
    assert (weights[1] == 0).any() and weights[0].count_nonzero() > 2
    assert torch.autograd.gradcheck(entmax, z.requires_grad_())


def test_entmax_spreads_evenly_over_many_equal_keys() -> None:
    weights = entmax(torch.full((4096,), 3.0))
    assert float((weights * 4096 - 1).abs().max()) < 1e-5


def test_a_path_over_several_chunks() -> None:
    tokens, width = 75, 3
    draw = torch.Generator().manual_seed(0)
    q, k, w = torch.randn(3, 1, 2, tokens, width, dtype=torch.float64, generator=draw)
    w, beta = F.normalize(w, dim=-1), 2 * torch.rand(1, 2, tokens, dtype=torch.float64, generator=draw)
    index = torch.tensor([0, 31, 32, 50, 74])
    found = path_scores(q[:, :, index], k, w, beta, index)
    for head in range(2):
        for row, i in enumerate(index.tolist()):
            carried = q[0, head, i]
            for j in reversed(range(i + 1)):
                assert abs(float(carried @ k[0, head, j] - found[0, head, row, j])) <= 1e-10
                carried = carried - beta[0, head, j] * w[0, head, j] * (w[0, head, j] @ carried)


# --- training and testing, starts, refusals --------------------------------------------------------------------------


def test_adaptive_temperature_acts_at_test_time_alone() -> None:
    adaptive, plain = make("adaptive_temperature", "rope"), make("softmax", "rope")
    assert gap(adaptive.train()(text()), plain(text())) <= 1e-12
    assert gap(adaptive.eval()(text()), plain(text())) > 1e-3
    assert not open_subject(adaptive.train()).capability("transformer").training, "who asks it, tests it"
    formed = in_form(make("adaptive_temperature", "rope").float(), forms.make("lora:rank=1"), 0)
    assert gap(formed.train()(text()), plain.float()(text())) <= 1e-5 < gap(formed.eval()(text()), plain(text()))


@pytest.mark.parametrize("sharp", ["softmax", "log_length", "entmax", "hardmax"])
@torch.no_grad()
def test_what_is_far_is_matched_wherever_it_stands(sharp: str) -> None:
    """In one layer the output at a place depends on its window and on the set of tokens outside it, not on their
    order; the rule that gives all heads positions does not have this property."""
    tokens, turned = text(items=64), text(items=64)  # of some the best match stands outside the window
    turned[:, 5:] = tokens[:, 5:].flip(1)  # the window of place 1 ends at 3
    one = make(f"window_match:size=3,match=1,sharp={sharp}", "rope", causal=False, depth=1)
    assert gap(one(tokens)[:, 1], one(turned)[:, 1]) <= 1e-10
    turned[:, 5:] = (tokens[:, 5:] + 1) % 7
    assert gap(one(tokens)[:, 1], one(turned)[:, 1]) > 1e-3, "another set of tokens is another output"
    full = make("softmax", "rope", causal=False, depth=1)
    turned[:, 5:] = tokens[:, 5:].flip(1)
    assert gap(full(tokens)[:, 1], full(turned)[:, 1]) > 1e-3


def test_matching_heads_leave_one_for_the_window() -> None:
    with pytest.raises(UsageError, match="leaves no head"):
        make("window_match:match=2")
    for settings in ("size=0", "match=0"):
        with pytest.raises(UsageError, match="at least 1"):
            attentions.make(f"window_match:{settings}")


def test_ssmax_starts_with_a_mean_factor_of_one() -> None:
    """And with s = 0.168 for 1,024 tokens."""
    model = Transformer(Architecture(1, 8, 2, attention=attentions.make("ssmax")), Interface(7, 7, 2048, 1024))
    scale = float(model.blocks[0].attention.network.scale.detach()[0])
    assert np.mean([scale * math.log(n) for n in range(1, 1025)]) == pytest.approx(1, abs=1e-6)
    assert scale == pytest.approx(0.168, abs=1e-3)


def test_ssmax_with_s_of_one_is_log_length() -> None:
    one, other = make("ssmax", "rope"), make("log_length", "rope")
    states = {name: value for name, value in one.state_dict().items() if "network" not in name}
    other.load_state_dict(states)
    for block in one.blocks:
        block.attention.network.scale.data.fill_(1.0)
    assert gap(one(text()), other(text())) <= 1e-12


@pytest.mark.parametrize("start", ["1e308", "-1000001"])
def test_a_start_that_float32_cannot_use_is_refused(start: str) -> None:
    with pytest.raises(UsageError):
        attentions.make(f"forgetting:start={start}")


def test_forgetting_less_with_a_larger_start() -> None:
    def gate(start: float) -> float:
        rule = attentions.make(f"forgetting:start={start}")
        model = Transformer(Architecture(1, 8, 2, attention=rule), Interface(7, 7, 8, 8))
        return float(model.blocks[0].attention.network.features(torch.zeros(1, 1, 8)).detach().exp().mean())

    assert gate(0.0) == pytest.approx(0.5) and gate(5.0) ** 103 == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("rule", CAUSAL)
def test_rules_that_follow_the_order_refuse_encoders(rule: str) -> None:
    with pytest.raises(UsageError, match=f"^{rule} follows the order of tokens .* not encoders$"):
        Architecture(causal=False, attention=attentions.make(rule))


@pytest.mark.parametrize("position", ["rope", "rope:scaling=dynamic", "rope+randomized"])
def test_a_path_refuses_encodings_that_turn(position: str) -> None:
    with pytest.raises(UsageError, match=r"^path attention computes the scores .*, or none$"):
        plan_for("sort", position, {"attention": "path"})


# --- the rules that were there before --------------------------------------------------------------------------------


def mixed_before(self: SelfAttention, q, k, v, sight, encoder, features=None) -> Tensor:
    """How a layer averaged values when rules were functions of the logits alone."""
    sharpness = sight.sharpness.to(q.dtype) if isinstance(sight.sharpness, Tensor) else sight.sharpness
    special = encoder.scores(q, k, sight.queries_at, sight.keys_at, sight.index)
    if special is None:
        q, k = encoder.rotate(q, sight.queries_at), encoder.rotate(k, sight.keys_at)
        if self.rule.fused:
            mask = sight.bias
            if sight.hidden is not None:
                mask = sight.hidden.new_zeros(1, dtype=q.dtype) if mask is None else mask
                mask = mask.masked_fill(sight.hidden, -math.inf)
            return F.scaled_dot_product_attention(q * sharpness, k, v, attn_mask=mask, is_causal=mask is None)
        special = q @ k.transpose(2, 3)
    logits = special * (sharpness / math.sqrt(q.shape[-1]))
    logits = logits if sight.bias is None else logits + sight.bias
    hidden = torch.arange(k.shape[2]) > sight.index[:, None] if sight.hidden is None else sight.hidden
    weigh = self.rule.decoder_weights if self.causal else self.rule.weights
    return weigh(logits.masked_fill(hidden, -math.inf)) @ v


@pytest.mark.parametrize("rule", OLD)
def test_rules_without_a_network_give_the_same_bits(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for causal, position in [(True, "rope"), (True, "alibi"), (True, "rope:scaling=dynamic"), (False, "t5")]:
        model = make(rule, position, causal).float()
        now = model(text())
        with monkeypatch.context() as patch:
            patch.setattr(SelfAttention, "mix", mixed_before)
            assert model(text()).equal(now)
        names = {name.partition("attention.")[2] for name in model.state_dict() if ".attention." in name}
        assert names == {"qkv.weight", "qkv.bias", "out.weight", "out.bias"}


def test_plans_keep_their_digests() -> None:
    found = [plan_for("sort", "rope", {"attention": rule}).digest() for rule in OLD]
    assert found == DIGESTS


# --- rules of others -------------------------------------------------------------------------------------------------


class Tempered(AttentionNetwork):
    def __init__(self) -> None:
        super().__init__()
        self.sharp = torch.nn.Parameter(torch.ones(1))

    def logits(self, logits, inputs):
        return logits * self.sharp


class Cheating(AttentionNetwork):
    """Features that know later tokens."""

    def features(self, x):
        return x.flip(1).cumsum(1).flip(1).sin()[:, None].expand(-1, 3, -1, -1)

    def logits(self, logits, inputs):
        return logits + inputs.features[:, :, None, :, 0]


class Untouched(Tempered):
    def logits(self, logits, inputs):
        return logits


class Scoring(AttentionNetwork):
    def scores(self, inputs):
        return inputs.queries @ inputs.keys.transpose(2, 3)


def rule_with(network: type[AttentionNetwork]) -> Attention:
    class Own(Softmax):
        """Somebody's."""

        def build(self, shape):
            return network()

    return dataclasses.dataclass(frozen=True)(Own)()


def test_a_rule_with_a_network_never_counts_as_softmax() -> None:
    assert rule_with(Tempered).fused is False and Softmax.fused is True
    check_attention(rule_with(Tempered))


@pytest.mark.parametrize(
    ("network", "fault"),
    [
        (Cheating, "when later tokens are read"),
        (Untouched, "no gradient reaches the parameter sharp"),
        (Scoring, "a rule declares scores = True exactly if it computes them"),
    ],
)
def test_the_contract_finds_faults(network: type[AttentionNetwork], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        check_attention(rule_with(network))
