"""Probes that look into a Transformer follow its attention rule exactly, or refuse: no rule gets softmax's theory."""

from __future__ import annotations

import pytest
import torch

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of, check_finite
from lengthwise.models.attention import attentions
from lengthwise.models.forward import apply_block, embed, run
from lengthwise.probes.attention.spending import attention_content
from lengthwise.probes.geometry.layerwise import in_single_precision, random_blocks, stream
from lengthwise.probes.inspection import INSPECTED
from lengthwise.probes.lipschitz.attack import lower_bound, lower_bound_near
from lengthwise.probes.lipschitz.certificate import certify, certify_near
from lengthwise.probes.shown.inputs import Inputs
from small_transformers import make, text

OTHERS = [name for name in attentions.names() if not attentions.make(name).fused]
WITH_NETWORK = [name for name in OTHERS if make(name).blocks[0].attention.network is not None]


def test_which_rules_are_softmax() -> None:
    assert set(attentions.names()) - set(OTHERS) == {"softmax", "log_length", "window"}
    assert set(OTHERS) - set(WITH_NETWORK) == {"hardmax", "p_bit", "sinkhorn", "entmax", "stick_breaking"}


@pytest.mark.parametrize("rule", OTHERS)
def test_no_certificate_is_given(rule: str) -> None:
    anatomy, tokens = anatomy_of(make(rule, depth=1)), text(items=1, tokens=4)
    for certificate in (certify(anatomy, 4), certify(anatomy, 4, "tokens"), certify_near(anatomy, tokens, 1e-3)):
        for claim in (certificate.token, certificate.frobenius):
            assert claim.status == "refused" and claim.value is None
            assert any(rule in str(assumption.values) for assumption in claim.assumptions), "it says why"
    with pytest.raises(UsageError, match=f"only for softmax attention, not for {rule}"):
        lower_bound_near(anatomy, tokens)
    seen = lower_bound(anatomy, 4, attempts=2, steps=2)
    assert seen.kind == "measured" and seen.evidence["by"] == "pair" and seen.value > 0


@pytest.mark.parametrize("rule", [name for name in OTHERS if name != "sinkhorn"])  # sinkhorn has a constant of its own
def test_no_constant_of_weights_is_given(rule: str) -> None:
    anatomy, tokens = anatomy_of(make(rule)), text()
    content = attention_content(anatomy, run(anatomy, tokens), Inputs(tokens, "texts"))
    claims = {claim.key: claim for claim in content["claims"]}
    assert "attention.lipschitz" not in claims and claims["attention.no_constant"].status == "refused"
    assert "plan_off" not in [column.name for column in content["tables"][0].columns]


@pytest.mark.parametrize("rule", WITH_NETWORK)
def test_parts_of_the_rule_are_tensors_of_the_model(rule: str) -> None:
    model = make(rule)
    anatomy = anatomy_of(model)
    own = {name for name, _ in model.named_parameters() if ".network." in name}
    assert {name for name, _ in anatomy.tensors() if ".network." in name} == own
    if own:
        model.get_parameter(min(own)).data.flatten()[0] = torch.nan
        with pytest.raises(UsageError, match=r"network.*NaN or infinite"):
            check_finite(anatomy_of(model))


@pytest.mark.parametrize("rule", WITH_NETWORK)
def test_random_weights_reach_the_network_and_single_precision_does_not(rule: str) -> None:
    anatomy, tokens = anatomy_of(make(rule)), text()
    plain, drawn, short = (
        [x for _, x in stream(anatomy, tokens, change)] for change in (None, random_blocks(0), in_single_precision)
    )
    assert all(x.isfinite().all() for x in drawn) and not drawn[-1].allclose(plain[-1])
    assert all(a.equal(b) for a, b in zip(plain, short, strict=True))
    at = anatomy.places(tokens.shape[1])
    assert apply_block(anatomy.blocks[0], embed(anatomy, tokens, at), at).after_mlp.allclose(plain[1])
    network, random = (block.attention.network for block in (anatomy.blocks[0], random_blocks(0)(0, anatomy.blocks[0])))
    for (name, one), (_, other) in zip(network.named_parameters(), random.named_parameters(), strict=True):
        assert one.equal(other) == (one.dim() < 2), name


@pytest.mark.system
@pytest.mark.parametrize("rule", OTHERS)
def test_a_run_is_trained_measured_and_inspected(rule: str, tmp_path) -> None:
    small = {"depth": 1, "width": 16, "heads": 2, "steps": 3, "batch": 4, "train_size": 4, "test_size": 6, "items": 4}
    probes = ("curve", "sparsity", "signals", "representations")
    lw.train("sort", "none", folder=tmp_path / "run", attention=rule, probes=probes, **small)
    inspection = lw.inspect(tmp_path / "run", items=2)
    assert len(inspection.records) == len(INSPECTED) and not any(record.failed for record in inspection.records)
    statuses = {claim.status for claim in inspection.record("lipschitz").claims if claim.key == "lipschitz.whole"}
    assert statuses == {"refused"}
    assert "alibi and softmax" in lw.inspect(tmp_path / "run", probes=["horizon"]).records[0].failed
