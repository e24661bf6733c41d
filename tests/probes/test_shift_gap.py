"""The shift gap: zero where it is proved to be, of order one for tables, and never zero by mistake."""

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import attentions
from lengthwise.models.forward import run, run_from
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.shift_gap.gap import shift_gap, usual_shifts

VOCABULARY, ROWS, TOKENS = 7, 40, 10
INVARIANT = ["none", "alibi", "t5", "kerple", "kerple:variant=power", "rope", "rope:scaling=yarn,factor=3"]
ABSOLUTE = ["learned", "sinusoidal:scale=0.3", "learned+offset", "sinusoidal:scale=0.3+randomized:limit=48"]


def made(position: str, rule: str = "softmax", causal: bool = True):
    architecture = Architecture(2, 16, 2, 2, causal, attentions.make(rule), make_position(position))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = Transformer(architecture, Interface(VOCABULARY, VOCABULARY, ROWS, 12)).double()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    return anatomy_of(model)


def text(items: int = 4) -> torch.Tensor:
    return torch.randint(VOCABULARY, (items, TOKENS), generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("rule", ["softmax", "log_length", "window:size=3", "hardmax"])
@pytest.mark.parametrize("position", INVARIANT)
def test_zero_for_encodings_that_see_distances_alone(position, rule, causal):
    found = shift_gap(made(position, rule, causal), text())
    assert found.worst.gap <= 1e-10 and found.invariant
    measured, proved, quotient = found.claims()
    assert measured.kind == "measured" and measured.value == found.worst.gap
    assert (proved.kind, proved.value) == ("proved", 0.0)
    assert (quotient.status, quotient.value) == ("unknown", None)


@pytest.mark.parametrize("position", ABSOLUTE)
def test_of_order_one_for_tables_and_the_quotient_is_unbounded(position):
    found = shift_gap(made(position), text())
    assert (
        all(row.share > 0.05 for row in found.rows if row.shift in (1, 4, 8)) and not found.invariant and not found.why
    )
    measured, quotient = found.claims()
    assert (quotient.value, quotient.kind, quotient.status) == ("unbounded", "certified", "holds")
    assert quotient.evidence["gap"] == measured.value > 1e6 * quotient.evidence["rounding"]


def test_the_witness_of_the_unbounded_quotient_can_be_seen_again():
    anatomy = made("learned")
    found = shift_gap(anatomy, text())
    at = torch.arange(TOKENS)[None]
    change = run(anatomy, text(), at).output - run(anatomy, text(), at + found.worst.shift).output
    assert float(change.norm(dim=-1).max()) == found.worst.gap


def test_nothing_is_proved_of_fire_whose_bias_depends_on_the_place():
    found = shift_gap(made("fire:threshold=4"), text())
    assert not found.invariant and not found.why
    near = shift_gap(made("fire:threshold=5000"), text())  # up to its threshold it sees distances alone
    assert near.worst.gap <= 1e-10


def test_nothing_is_proved_where_the_encoding_computes_scores_of_its_own():
    found = shift_gap(made("rope:scaling=dynamic,original=4"), text())
    assert found.invariant and not found.why  # measured on these inputs, and no more is said
    assert [claim.kind for claim in found.claims()] == ["measured", "measured"]


@pytest.mark.parametrize("position", ["alibi", "rope", "t5"])
def test_no_input_refutes_what_is_proved(position):
    """Gradient ascent on embeddings, which need not be those of tokens, finds no input whose output a shift changes."""
    anatomy, at = made(position), torch.arange(TOKENS)[None]
    x = torch.randn(4, TOKENS, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
    optimiser, worst = torch.optim.Adam([x], lr=0.3), 0.0
    for step in range(12):
        gap = (run_from(anatomy, x, at).output - run_from(anatomy, x, at + 1 + 7 * step).output).norm(dim=-1)
        worst = max(worst, float(gap.detach().max()))
        optimiser.zero_grad()
        (-gap.sum()).backward()
        optimiser.step()
    assert worst <= 1e-10


def test_shifts_stay_inside_the_table():
    anatomy = made("learned")
    assert usual_shifts(anatomy, TOKENS - 1) == [1, 2, 4, 8, 16, 30]
    assert usual_shifts(made("rope"), TOKENS - 1)[-1] == 1024
    assert shift_gap(anatomy, text()).rows[-1].shift == 30
    with pytest.raises(UsageError, match="use all of the 40 positions"):
        shift_gap(anatomy, torch.zeros(1, ROWS, dtype=torch.long))
