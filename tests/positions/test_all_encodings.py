"""Every registered encoding, with its settings and with wrappers: the contract, the specs, and life in a model."""

import numpy as np
import pytest
import torch

from lengthwise.errors import UnknownName, UsageError
from lengthwise.models.transformer import Architecture, Cache, Interface, Transformer
from lengthwise.positions import make_position, positions, wrappers
from lengthwise.seeds import Seeds
from lengthwise.testing import check_position

DYNAMIC = "rope:scaling=dynamic"
VARIANTS = {
    "kerple": ["kerple:variant=power"],
    "rope": [
        *(f"rope:scaling={name},factor=4" for name in ("interpolation", "ntk", "by_parts", "llama3", "yarn")),
        DYNAMIC,
        f"{DYNAMIC},factor=4",
        "rope:share=0.75",
        f"{DYNAMIC},share=0.5",
    ],
}
BASES = [spec for name in positions.names() for spec in [name, *VARIANTS.get(name, [])]]
FROM_TASK, REAL = (
    ("coupled", "abacus"),
    ("none", "sinusoidal", "alibi", "kerple", "fire", "rope", f"{DYNAMIC},share=0.5"),
)
WRAPPED = [f"{base}+{name}" for base in BASES if base not in FROM_TASK for name in ("offset", "randomized")]
SPECS = BASES + WRAPPED + [f"{base}+floats" for base in REAL] + ["periodic+local"]
TRAINED, TOKENS = 8, 15
# What an encoder cannot know from these: with no encoding, any order; with a bias of |distance|, right from left.
SYMMETRIC = ("none", "alibi", "kerple")


def model(spec: str, causal: bool = True) -> Transformer:
    torch.manual_seed(2)
    architecture = Architecture(depth=2, width=16, heads=2, position=make_position(spec), causal=causal)
    made = Transformer(architecture, Interface(vocabulary=7, outputs=7, rows=TOKENS, trained=TRAINED)).double()
    for parameter in made.parameters():  # larger than they start, so that attention is far from even
        parameter.data += 0.2 * torch.randn_like(parameter)
    return made.eval()


def inputs(made: Transformer) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randint(7, (3, TOKENS), generator=torch.Generator().manual_seed(4))
    position = made.architecture.position
    if position.from_task:  # two numbers of five digits and an answer
        ids = np.tile([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2], (3, 1))
        return tokens, torch.from_numpy(position.place(ids, made.shape, Seeds(6), True))
    return tokens, position.indices(TOKENS, 3, made.shape, Seeds(6), True)


@pytest.mark.parametrize("spec", SPECS)
def test_contract(spec: str) -> None:
    check_position(make_position(spec))


@pytest.mark.parametrize("spec", ["rope", "sinusoidal", "fire", "t5"])
def test_contract_in_other_shapes(spec: str) -> None:
    check_position(make_position(spec), heads=1, width=6)
    check_position(make_position(spec), heads=3, width=12)


@pytest.mark.parametrize("spec", SPECS)
def test_specs_go_there_and_back(spec: str) -> None:
    position = make_position(spec)
    assert positions.text_of(position) == spec
    assert make_position(positions.text_of(position)) == position


def test_every_wrapper_is_tried() -> None:
    assert {spec.rpartition("+")[2] for spec in SPECS if "+" in spec} == set(wrappers.names())


@pytest.mark.parametrize(
    "spec", ["learned+floats", "t5+floats", "rope+offset+floats", "coupled+offset", "abacus+floats"]
)
def test_what_does_not_go_together_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_position(spec)


def test_objects_have_specs_too() -> None:
    from lengthwise.positions.encodings import Alibi, Rope
    from lengthwise.positions.wrapping import Randomized

    assert positions.text_of(Rope(scaling="yarn", factor=4.0)) == "rope:scaling=yarn,factor=4"
    assert positions.text_of(Randomized(Alibi(), limit=99)) == "alibi+randomized:limit=99"
    assert make_position("rotary") == Rope()
    assert make_position("alibi+randomized:limit=99") == Randomized(Alibi(), limit=99)


def test_a_wrong_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'sinusoidal'"):
        make_position("sinusodal")
    with pytest.raises(UnknownName, match="did you mean 'randomized'"):
        make_position("rope+randomised")
    with pytest.raises(UsageError, match="did you mean 'factor'"):
        make_position("rope:factr=2")


def read(made: Transformer, tokens: torch.Tensor, at: torch.Tensor, ends: list[int]) -> torch.Tensor:
    """The logits of a sequence that is read in parts with a cache."""
    cache, logits = Cache(), []
    for start, end in zip([0, *ends], ends, strict=False):
        logits.append(made(tokens[:, start:end], at=at[:, :end], cache=cache))
    return torch.cat(logits, dim=1)


@pytest.mark.parametrize("spec", SPECS)
def test_a_cache_changes_nothing(spec: str) -> None:
    made = model(spec)
    tokens, at = inputs(made)
    steps = read(made, tokens, at, list(range(1, TOKENS + 1)))
    assert (made(tokens, at=at) - steps).abs().max() <= 1e-10


@pytest.mark.parametrize("spec", SPECS)
def test_the_parts_in_which_a_sequence_is_read_change_nothing(spec: str) -> None:
    made = model(spec)
    tokens, at = inputs(made)
    parts, steps = read(made, tokens, at, [TRAINED, TOKENS]), read(made, tokens, at, list(range(1, TOKENS + 1)))
    assert (parts - steps).abs().max() <= 1e-10


@pytest.mark.parametrize("spec", SPECS)
def test_later_tokens_change_nothing_before_them(spec: str) -> None:
    made = model(spec)
    tokens, at = inputs(made)
    other = tokens.clone()
    other[:, 11] = (other[:, 11] + 1) % 7
    change = (made(tokens, at=at) - made(other, at=at)).abs().amax(dim=(0, 2))
    assert change[:11].max() <= 1e-12, "earlier logits stay"
    assert change[11:].min() > 1e-6, "the token is seen by itself and by all that follow"


@pytest.mark.parametrize("spec", BASES)
def test_encoder_models(spec: str) -> None:
    """All work; which of them tell a text from its mirror image is another matter."""
    made = model(spec, causal=False)
    tokens, at = inputs(made)
    straight, mirrored = made(tokens, at=at), made(tokens.flip(1), at=at).flip(1)
    assert straight.isfinite().all()
    gap = (straight - mirrored).abs().max()
    if spec.startswith(SYMMETRIC):
        assert gap <= 1e-10
    else:
        assert gap > 1e-4


@pytest.mark.parametrize("spec", BASES)
def test_a_model_trains(spec: str) -> None:
    made = model(spec).float()
    tokens, at = inputs(made)
    made(tokens[:, :TRAINED], at=at[:, :TRAINED]).square().sum().backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
