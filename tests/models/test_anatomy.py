"""The parts of our Transformer give the model's own logits, for every encoding and every attention rule."""

import functools
import math

import pytest
import torch
from torch import Tensor

import small_transformers
from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.forward import apply_attention, embed, run, run_from
from lengthwise.models.parts import AttentionPart
from lengthwise.models.transformer import Transformer
from lengthwise.positions import Position, positions
from lengthwise.positions.networks.encoders import Encoder
from small_transformers import ROWS, TOKENS, text

RULES = ["softmax", "softmax:temperature=0.5", "log_length", "log_length:reference=4.0", "hardmax", "window:size=3"]
SCALED = ["rope:scaling=dynamic", "rope:scaling=yarn,factor=3", "rope:scaling=ntk,factor=2", "kerple:variant=power"]
OWN = [name for name in positions.names() if not positions.maker(name).from_task]  # positions without a task
ENCODINGS = [*OWN, *SCALED, "learned+offset", "sinusoidal+randomized:limit=40"]

make = functools.partial(small_transformers.make, outputs=5)  # another number than that of symbols


def own_logits(model: Transformer, tokens: Tensor) -> Tensor:
    at = model.architecture.position.indices(tokens.shape[1], 1, model.shape, None, training=False)
    return model(tokens, at=at).detach()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("position", ENCODINGS)
def test_the_parts_give_the_logits_of_the_model(position, rule, causal):
    model = make(rule, position, causal)
    trace = run(anatomy_of(model), text())
    assert trace.logits is not None
    assert (trace.logits - own_logits(model, text())).abs().max() <= 1e-10
    assert torch.allclose(trace.blocks[0].attention_weights.sum(-1), torch.ones(()).double())


@pytest.mark.parametrize(
    "position", ["rope", "rope:share=0.5", "alibi", "learned", "coupled", "sinusoidal", "fire", "rope+floats"]
)
def test_positions_that_are_given_are_used(position):
    model, at = make("softmax", position), torch.arange(TOKENS)[None] * 2 + 3
    assert (run(anatomy_of(model), text(), at).output - model(text(), at=at).detach()).abs().max() <= 1e-10
    anatomy = anatomy_of(model)
    assert torch.equal(run_from(anatomy, embed(anatomy, text(), at), at).output, run(anatomy, text(), at).output)


class Mirror(Encoder):
    """An encoding of somebody else's: q and k are multiplied by signs that depend on the position."""

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:
        return x * (1 - 2 * (at % 2))[:, None, :, None].to(x.dtype)

    def embed(self, at: Tensor) -> Tensor:
        return at[..., None].double().sin()


class Mirrored(Position):
    shift_invariant = False
    beyond_training = True

    def build(self, shape):
        return Mirror()


def test_an_encoding_of_ones_own_is_run_and_what_is_not_known_of_it_is_not_claimed():
    model = make("softmax", Mirrored())
    anatomy = anatomy_of(model)
    assert (run(anatomy, text()).output - own_logits(model, text())).abs().max() <= 1e-10
    assert anatomy.table is not None and anatomy.table.radius is None
    part = anatomy.blocks[0].attention
    assert part.rotary is None and part.scores is not None


@pytest.mark.parametrize("position", ["learned", "sinusoidal"])
@pytest.mark.parametrize("width", [16, 18])
def test_no_position_vector_is_longer_than_the_radius_of_its_table(position, width):
    table = anatomy_of(make("softmax", position, width=width)).table
    assert table is not None and table.radius is not None
    norms = table.vectors(torch.arange(ROWS)[None]).norm(dim=-1)
    assert norms.max() <= table.radius * (1 + 1e-12)
    assert norms.max() >= table.radius * 0.99


def test_parts_are_float64_copies():
    model = make().float()
    anatomy = anatomy_of(model)
    assert {tensor.dtype for _, tensor in anatomy.tensors()} == {torch.float64}
    before = anatomy.embed.clone()
    model.embedding.weight.data.zero_()
    assert torch.equal(anatomy.embed, before)
    assert sum(tensor.numel() for _, tensor in anatomy.tensors()) == anatomy.parameters
    assert anatomy.parameters == sum(p.numel() for p in model.parameters())


def test_attention_of_one_head_equals_its_formula():
    w = torch.eye(2).double()[None]
    part = AttentionPart(w, w, 2 * w, w, None, None, None, None, scale=1.0, causal=True)
    x = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]).double()
    out, logits, weights = apply_attention(part, x, torch.arange(2)[None])
    far = 1 / (1 + math.exp(4))  # logits 0 and 4
    assert torch.allclose(out, torch.tensor([[[2.0, 0.0], [2 * far, 4 * (1 - far)]]]).double())
    assert logits[0, 0, 0, 1] == -math.inf and weights[0, 0, 0, 1] == 0


def test_gradients_flow_through_the_parts():
    anatomy = anatomy_of(make("softmax", "rope"))
    at = torch.arange(TOKENS)[None]
    x = embed(anatomy, text(), at).requires_grad_()
    run_from(anatomy, x, at).output.square().sum().backward()
    assert x.grad is not None and x.grad.abs().min() > 0


def test_bad_input_is_one_sentence():
    model = make("softmax", "learned")
    with pytest.raises(UsageError, match="reads the tokens 0 to 6, and 7 is not one"):
        run(anatomy_of(model), torch.tensor([[1, 7]]))
    with pytest.raises(UsageError, match="vectors for 40 positions, and position 45"):
        run(anatomy_of(model), text(1, 5), torch.arange(41, 46)[None])
    model.output.weight.data[0, 0] = math.nan
    with pytest.raises(UsageError, match="1 of the 80 weights of head are NaN"):
        anatomy_of(model)
    with pytest.raises(UsageError, match="takes a lengthwise Transformer, not a Linear"):
        anatomy_of(torch.nn.Linear(2, 2))  # pyright: ignore[reportArgumentType]
