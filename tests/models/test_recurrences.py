"""The models that are not our Transformer: chunks against the recurrence they stand for, states, loops, settings."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.hardware import Computing
from lengthwise.models import linear
from lengthwise.models.architecture import Interface
from lengthwise.models.linear import read_delta, read_diagonal
from lengthwise.models.looped import LoopedNetwork
from lengthwise.models.named import models, plain_model
from lengthwise.models.network import Carried, ModuleNetwork, fresh_network
from lengthwise.models.placed import placed
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.tasks.batch import SEP
from lengthwise.testing import check_model

RECURRENCES = [
    "lstm:width=8",
    "gru:width=8,depth=2",
    "ssm:width=8,heads=2,depth=1,state=4",
    "ssm:width=8,heads=2,depth=2,negative=true,convolution=3",
    "delta:width=8,heads=2,depth=1",
    "delta:width=8,heads=2,depth=2,order=3,negative=true,gate=true,convolution=3",
]
LOOPED = [
    "looped:width=8,heads=2",
    "looped:width=8,heads=2,depth=2,loops=3,position=rope",
    "looped:width=8,heads=2,loops=log,inject=false,position=alibi,attention=log_length",
]
FEW = Interface(9, 7, 60, 20)


def network(spec: str, interface: Interface = FEW) -> Any:
    return fresh_network(models.make(spec), interface, 3).double()


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def gradients(outputs: tuple[Tensor, ...], inputs: list[Tensor]) -> tuple[Tensor, ...]:
    torch.manual_seed(1)
    total = torch.stack([(one * torch.randn_like(one)).sum() for one in outputs]).sum()
    return torch.autograd.grad(total, inputs, retain_graph=True)


def assert_alike(found: tuple[Tensor, ...], wanted: tuple[Tensor, ...], inputs: list[Tensor]) -> None:
    """In the outputs and in the gradients."""
    for one, other in zip((*found, *gradients(found, inputs)), (*wanted, *gradients(wanted, inputs)), strict=True):
        assert torch.allclose(one, other, rtol=1e-8, atol=1e-10)


# --- chunks ---------------------------------------------------------------------------------------------------------


def delta_by_steps(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, logs: Tensor | None, state: Tensor | None) -> Any:
    """The delta rule as it is defined: one transition matrix after the other."""
    size = k.shape[-1]
    held = q.new_zeros(*q.shape[:2], size, v.shape[-1]) if state is None else state
    read = []
    for token, pair in itertools.product(range(q.shape[2]), range(k.shape[3])):
        if pair == 0 and logs is not None:
            held = logs[:, :, token, None, None].exp() * held
        key, strength = k[:, :, token, pair, :, None], beta[:, :, token, pair, None, None]
        transition = torch.eye(size, dtype=q.dtype) - strength * key @ key.mT
        held = transition @ held + strength * key @ v[:, :, token, pair, None, :]
        if pair == k.shape[3] - 1:
            read.append((q[:, :, token, None] @ held)[:, :, 0])
    return torch.stack(read, dim=2), held


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(("gated", "begun"), [(False, False), (True, True)])
@pytest.mark.parametrize("tokens", [5, 21])
def test_chunks_of_the_delta_rule_are_the_recurrence(order, gated, begun, tokens, monkeypatch):
    monkeypatch.setattr(linear, "CHUNK", 8)
    torch.manual_seed(0)
    q, k, v = drawn(2, 3, tokens, 4), drawn(2, 3, tokens, order, 4), drawn(2, 3, tokens, order, 5)
    beta, decay, state = drawn(2, 3, tokens, order), drawn(2, 3, tokens), drawn(2, 3, 4, 5)
    inputs = [q, k, v, beta, *([decay] if gated else []), *([state] if begun else [])]
    given = (
        *(q, torch.nn.functional.normalize(k, dim=-1), v, 2 * beta.sigmoid()),
        *(-decay.exp() if gated else None, state if begun else None),
    )
    assert_alike(read_delta(*given), delta_by_steps(*given), inputs)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("tokens", [5, 21])
def test_chunks_of_a_state_space_are_the_recurrence(begun, tokens, monkeypatch):
    monkeypatch.setattr(linear, "CHUNK", 8)
    torch.manual_seed(0)
    q, k, v, a = drawn(2, 1, tokens, 4), drawn(2, 1, tokens, 4), drawn(2, 3, tokens, 5), drawn(2, 3, tokens)
    state = drawn(2, 3, 4, 5)
    held, read, transitions = state if begun else torch.zeros_like(state), [], a.tanh()
    for token in range(tokens):
        held = transitions[:, :, token, None, None] * held + k[:, :, token, :, None] @ v[:, :, token, None]
        read.append((q[:, :, token, None] @ held)[:, :, 0])
    found = read_diagonal(q, k, v, transitions, state if begun else None)
    assert_alike(found, (torch.stack(read, dim=2), held), [q, k, v, a, *([state] if begun else [])])  # pyright: ignore


def test_a_transition_of_zero_forgets_everything():
    q, k, v = torch.ones(1, 1, 3, 1), torch.ones(1, 1, 3, 1), torch.tensor([1.0, 10.0, 100.0]).view(1, 1, 3, 1)
    read, _ = read_diagonal(q, k, v, torch.tensor([[[0.5, 0.0, 1.0]]]), None)
    assert read.flatten().tolist() == pytest.approx([1, 10, 110], rel=1e-5)


@pytest.mark.parametrize(("spec", "least"), [("delta", 0.0), ("delta:negative=true", -1.0)])
def test_the_range_of_eigenvalues_of_the_delta_rule(spec, least):
    """A token that is written again and again with the strongest β: what the key held is kept, or turned around."""
    net = models.make(f"{spec},depth=1,width=4,heads=1" if ":" in spec else f"{spec}:depth=1,width=4,heads=1")
    mixer: Any = net.build(FEW).blocks[0].mixer
    with torch.no_grad():
        mixer.beta.bias.fill_(50.0)
        mixer.project.weight[8:] = 0  # values of zero
        before = torch.randn(1, 1, 4, 4)
        _, (_, after) = mixer(torch.randn(1, 1, 4), (None, before))
        kept = torch.linalg.solve(before[0, 0].T, after[0, 0].T).T  # the transition
    assert torch.linalg.eigvals(kept).real.min().item() == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize(("negative", "least"), [("false", 0.0), ("true", -1.0)])
def test_the_range_of_transitions_of_a_state_space(negative, least):
    mixer: Any = models.make(f"ssm:depth=1,width=4,heads=1,negative={negative}").build(FEW).blocks[0].mixer
    with torch.no_grad():
        mixer.fading.time.bias.fill_(1000.0)
        mixer.project.weight.zero_()
        before = torch.ones(1, 1, 16, 4)
        after = mixer(torch.randn(1, 1, 4), (None, before))[1][1]
    assert after.min().item() == pytest.approx(least, abs=1e-3) == after.max().item()


# --- networks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*RECURRENCES, *LOOPED])
def test_it_keeps_the_contract_of_models(spec):
    check_model(models.make(spec))


@pytest.mark.parametrize("spec", [*RECURRENCES, *LOOPED])
def test_a_sequence_in_pieces_has_the_outputs_of_the_whole(spec):
    """The end of the prompt stands in different pieces for different items."""
    net = network(spec)
    tokens = torch.randint(3, 9, (3, 24), generator=torch.Generator().manual_seed(0))
    tokens[0, 3], tokens[1, 9] = SEP, SEP
    at = net.position.indices(24, 3, net.shape, None, False)
    carried, found, ends = Carried(), [], [0, 5, 6, 7, 17, 18, 24]
    with torch.no_grad():
        for start, end in itertools.pairwise(ends):
            found.append(net(tokens[:, start:end], at=at[:, :end], cache=carried))
        assert torch.allclose(torch.cat(found, dim=1), net(tokens, at=at), atol=1e-12)


@pytest.mark.parametrize("spec", [*RECURRENCES, *LOOPED])
def test_what_is_written_with_a_state_is_what_is_written_without(spec):
    net = network(spec)
    prompt = torch.tensor([[1, 5, 6, 4, SEP], [1, 8, 7, 7, SEP]])
    at = net.position.indices(15, 2, net.shape, None, False)
    read = prompt
    with torch.no_grad():
        for _ in range(8):
            read = torch.cat([read, net(read, at=at[:, : read.shape[1]])[:, -1:].argmax(dim=-1)], dim=1)
    assert torch.equal(net.generate(prompt, 8, at), read[:, 5:])
    assert net.generate(prompt, 0, at).shape == (2, 0)


@pytest.mark.parametrize("spec", RECURRENCES)
def test_the_state_of_a_recurrence_does_not_grow(spec):
    net = network(spec).module

    def count(state: Any) -> int:
        if isinstance(state, Tensor):
            return state.numel()
        return sum(map(count, state)) if isinstance(state, tuple | list) else 0

    sizes = [count(net.step(torch.ones(2, tokens, dtype=torch.long), None)[1]) for tokens in (3, 30)]
    assert sizes[0] == sizes[1] > 0


@pytest.mark.parametrize("spec", [*RECURRENCES, LOOPED[1], "looped:width=8,heads=2,loops=log"])
def test_outputs_are_finite_at_length_4096(spec):
    """With weights ten times as large as those at first, in single precision."""
    net = network(spec).float()
    with torch.no_grad():
        for one in net.parameters():
            one.mul_(10)
        tokens = torch.randint(9, (1, 4096), generator=torch.Generator().manual_seed(0))
        at = net.position.indices(4096, 1, net.shape, None, False)
        assert net(tokens, at=at).isfinite().all()


@pytest.mark.parametrize("spec", [*RECURRENCES[2:], LOOPED[0]])
def test_products_in_bfloat16(spec):
    net = network(spec).float()
    tokens = torch.randint(3, 9, (2, 12), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        exact = net(tokens)
        rounded = placed(net, Computing(precision="bf16"))(tokens)
    assert rounded.dtype == torch.float32 and 0 < (rounded - exact).abs().max() < 0.1


# --- loops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loops", "wanted"),
    [("size", [[1, 2, 3, 4, 4, 4], [1, 2, 3, 4, 5, 6]]), ("log", [[1, 2, 3, 3, 3, 3], [1, 2, 3, 3, 4, 4]])],
)
def test_the_number_of_passes(loops, wanted):
    net: Any = models.make(f"looped:loops={loops}").build(FEW)
    tokens = torch.tensor([[1, 5, 6, SEP, 7, SEP], [1, 5, 6, 5, 7, 5]])
    assert net._passes(tokens, tokens.new_zeros(2, 1), 0)[0].tolist() == wanted
    assert models.make("looped:loops=5").passes(tokens).unique().tolist() == [5]  # pyright: ignore


@pytest.mark.parametrize("inject", ["true", "false"])
def test_looping_is_its_slow_definition(inject):
    net: LoopedNetwork = network(f"looped:width=8,heads=2,depth=2,inject={inject}").module
    tokens = torch.tensor([[1, 5, 6, SEP, 7, 8, 3], [1, 5, 6, 5, 7, 5, SEP]])
    passes = [[1, 2, 3, 4, 4, 4, 4], [1, 2, 3, 4, 5, 6, 7]]
    with torch.no_grad():
        inputs = net.inner.embedding(tokens)
        x = torch.zeros_like(inputs) if inject == "true" else inputs
        at = torch.arange(7)[None]
        for loop in range(7):
            new = x + inputs if inject == "true" else x
            for block in net.inner.blocks:
                new = block(new, net.inner._sight(at, at[0]), net.inner.encoder, None)
            new = net.inner.norm(new)
            for item, place in itertools.product(range(2), range(7)):
                x[item, place] = new[item, place] if loop < passes[item][place] else x[item, place]
        assert torch.allclose(net.inner.output(x), net(tokens), atol=1e-12)


# --- settings -------------------------------------------------------------------------------------------------------


def test_settings_of_a_plan_reach_the_model():
    plan = plan_for("parity", "rope", {"model": "looped:loops=4", "depth": 2, "attention": "log_length"})
    shape = {"depth": 2, "width": 64, "heads": 4, "mlp_ratio": 4}
    parts = {"attention": "log_length", "position": "rope"}
    assert plan.plain()["model"] == {"name": "looped", "loops": 4, **shape, "inject": True, **parts}
    assert Plan.from_plain(plan.plain()) == plan and plan.position_name == "rope"
    assert models.make(plan.model_name) == plan.architecture == models.restore(plan.plain()["model"])
    assert plan_for("parity", settings={"model": "gru", "width": 32}).model_name == "gru:width=32"
    assert plain_model(models.make("delta:order=2"))["order"] == 2
    assert models.text_of(models.restore(plain_model(models.make("delta:order=2,depth=2")))) == "delta:order=2"


@pytest.mark.parametrize("spec", ["looped", "looped:position=none", "looped:position=rope,loops=log", "delta:order=2"])
def test_a_stored_model_is_the_same_model(spec: str):
    """`none` is the name of an encoding, not the absence of one."""
    made = models.make(spec)
    assert models.restore(plain_model(made)) == made == models.restore(models.text_of(made))


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("delta:width=10,heads=4", "width 10 is not divisible by 4 heads"),
        ("delta:order=0", "order must be at least 1, not 0"),
        ("ssm:state=0", "state must be at least 1"),
        ("ssm:convolution=-1", "convolution must be at least 0"),
        ("looped:loops=0", "loops must be at least 1"),
        ("looped:loops=often", "loops must be size, log or a number, not 'often'"),
        ("looped:position=rop", "did you mean 'rope'"),
        ("gru:negative=true", "has no setting 'negative'"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_one_sentence(spec, sentence):
    with pytest.raises(UsageError) as error:
        models.make(spec)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_network_without_a_step_reads_everything_again():
    class Counts(torch.nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            read.append(tokens.shape[1])
            return torch.nn.functional.one_hot(tokens, 9).float()

    read: list[int] = []
    net = ModuleNetwork(models.make("lstm"), FEW, Counts())
    assert net.generate(torch.tensor([[1, 4]]), 3).tolist() == [[4, 4, 4]] and read == [2, 3, 4]
