"""The building blocks outside of our own pipeline: the examples of docs/how-to/library.md run, also with foreign
models."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lengthwise.bounds import TokenLosses, agnostic_bound, bounds_for, token_bound
from lengthwise.errors import UsageError
from lengthwise.geometry import record_clusters, sinkhorn_attention
from lengthwise.geometry.clusters import cluster_number, directions
from lengthwise.transport import MatrixCost, TransportProblem, solve

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "library.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=re.findall(r"^## (.*)$", PAGE, re.MULTILINE))
def test_an_example_of_the_page_runs(program):
    exec(compile(program, "page", "exec"), {})


def test_importing_the_rooms_does_not_import_torch_or_numba():
    code = "import sys, lengthwise.geometry, lengthwise.transport, lengthwise.bounds, lengthwise.geometry.clusters\n"
    code += "print([name for name in ('torch', 'numba', 'scipy.stats') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def encoder(layers: int = 2) -> torch.nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, layers).train(False)


@torch.no_grad()
def test_what_is_recorded_is_measured_on_what_the_module_returns():
    model, inputs = encoder(), torch.randn(3, 7, 16)
    expected = model(inputs)
    with record_clusters(model, ["layers.1", "layers.0.self_attn"], kappa=5.0) as seen:
        assert torch.equal(model(inputs), expected)
        torch.testing.assert_close(model(inputs[:1]), expected[:1])  # other kernels sum in another order
    model(inputs)  # nothing is recorded any more
    assert [len(passes) for passes in seen.passes.values()] == [2, 2] and len(seen.rows()) == 4
    last = cluster_number(directions(expected.double().numpy()), 5.0)
    assert seen.passes["layers.1"][0]["clusters"] == pytest.approx(last)
    assert seen.passes["layers.0.self_attn"][0]["groups"].shape == (3,)  # the first of what attention returns


@torch.no_grad()
def test_hooks_are_removed_when_the_model_fails_and_wrong_modules_are_refused():
    model = encoder()
    with pytest.raises(RuntimeError), record_clusters(model, ["layers.0"]):
        model(torch.randn(2, 3, 5))
    assert not model.layers[0]._forward_hooks
    with pytest.raises(UsageError, match=r"no module 'blocks\.0'"), record_clusters(model, ["blocks.0"]):
        pass
    with (
        pytest.raises(UsageError, match="no tensor"),
        record_clusters(torch.nn.Sequential(torch.nn.Flatten(0)), ["0"]) as seen,
    ):
        seen.add("0", torch.zeros(3))


class Balanced(torch.nn.Module):
    """A layer that is not ours, with Sinkhorn in the place of softmax."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.mix, self.causal = torch.nn.Linear(16, 48), causal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.mix(x).chunk(3, dim=-1)
        return x + sinkhorn_attention(query, key, value, tau=2.0, causal=self.causal)[0]


@pytest.mark.parametrize("causal", [False, True])
def test_sinkhorn_attention_trains_in_a_foreign_layer(causal):
    torch.manual_seed(1)
    model, x = torch.nn.Sequential(Balanced(causal), torch.nn.Linear(16, 1)), torch.randn(4, 6, 16)
    optimiser, losses = torch.optim.SGD(model.parameters(), 0.05), []
    for _ in range(8):
        loss = (model(x) - x.sum(dim=-1, keepdim=True)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    with torch.no_grad():  # a later token changes earlier rows exactly where the layer is no decoder
        other = x.clone()
        other[:, -1] += 1.0
        same = torch.allclose(model[0](x)[:, :-1], model[0](other)[:, :-1], atol=1e-6)
    assert same is causal


def test_masks_are_those_of_scaled_dot_product_attention():
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 5, 4) for _ in range(3))
    mask = torch.tensor([[True, True, False, True, True]]).expand(5, 5)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    added = torch.zeros(5, 5).masked_fill(~mask, -math.inf)
    for form in (mask, added):
        assert torch.allclose(sinkhorn_attention(query, key, value, form, tau=0.0)[0], expected, atol=1e-6)
    with pytest.raises(UsageError, match="do not fit"):
        sinkhorn_attention(query, key[..., :3], value)


def test_transport_and_bounds_take_the_numbers_of_a_foreign_model():
    model, inputs = encoder(), torch.randn(2, 9, 16)
    with torch.no_grad():
        first, second = model(inputs).double()
    found = solve(TransportProblem(MatrixCost(torch.cdist(first, second).numpy())))
    assert found.certificate.status == "holds"
    claim = agnostic_bound(0.1, found.claim(), class_lipschitz=0.01, joint_risk=0.0).claim()
    assert claim.key == "kantorovich.agnostic" and claim.value > 0.1
    logits = first.log_softmax(dim=-1)
    chosen, top = logits.argmax(dim=-1), logits.exp().sort(descending=True).values.cumsum(dim=-1)
    losses = TokenLosses(
        -logits.gather(1, chosen[:, None])[:, 0].numpy(),
        -(logits.exp() * logits).sum(dim=-1).numpy(),
        torch.zeros(9, dtype=torch.int64).numpy(),
        top[:, [0, 4, 9]].clamp(max=1.0).numpy(),
        torch.arange(9).numpy(),
        16,
    )
    assert token_bound(losses, 10.0).total in [bound.total for bound in bounds_for(losses, 10.0)]
