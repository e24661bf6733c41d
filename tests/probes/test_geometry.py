"""The probe of token geometry: its stream, its random weights, its rule, and models whose verdict is known."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
import transformers
from scipy import stats

import lengthwise as lw
from lengthwise.geometry import clusters
from lengthwise.models.forward import run
from lengthwise.models.huggingface import anatomy_of_huggingface
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart
from lengthwise.probes.geometry.compared import compare
from lengthwise.probes.geometry.layerwise import in_single_precision, random_blocks, random_outside, stream
from lengthwise.probes.geometry.token_measures import AtLongest, TokenMeasures, doubling_lengths, measure_tokens
from lengthwise.probes.geometry.verdicts import geometry_claims, interval_of_mean, length_trend, verdict
from lengthwise.probes.probe import Context
from lengthwise.probes.shown.inputs import inputs_for, room_for
from lengthwise.subjects.open import open_subject
from lengthwise.text import built_in_parts
from real_models import smollm2

GROUPS, WIDTH, TOKENS = 4, 40, 48


@pytest.fixture(scope="module")
def llama():
    sizes = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = transformers.LlamaConfig(vocab_size=31, num_key_value_heads=2, **sizes)
        return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def anatomy(llama):
    return anatomy_of_huggingface(llama)


@pytest.fixture(scope="module")
def tokens():
    return torch.randint(31, (3, 40), generator=torch.Generator().manual_seed(1))


# --- streams and random weights -------------------------------------------------------------------------------------


def test_the_stream_is_the_forward_pass(anatomy, tokens):
    trace = run(anatomy, tokens)
    found = list(stream(anatomy, tokens))
    assert [place for place, _ in found] == ["embedding", "block 0", "block 1", "block 2"]
    assert torch.equal(found[0][1], trace.embedded)
    for (_, x), block in zip(found[1:], trace.blocks, strict=True):
        assert (x - block.after_mlp).abs().max() <= 1e-12
    single = [x for _, x in stream(anatomy, tokens, in_single_precision)]
    assert single[-1].dtype == torch.float32
    assert 0 < (single[-1] - found[-1][1]).abs().max() <= 1e-5


def test_random_weights_keep_sizes_and_lose_directions(anatomy):
    before, draw = anatomy.blocks[1], random_blocks(0)
    after, other = draw(1, before), draw(2, before)
    for name in ("wq", "wk", "wv", "wo"):
        old, new = getattr(before.attention, name), getattr(after.attention, name)
        assert new.shape == old.shape and float(new.square().mean() / old.square().mean()) == pytest.approx(1, abs=0.3)
        assert abs(float((old * new).sum() / (old.norm() * new.norm()))) < 0.3
    assert not torch.equal(after.mlp.w_in, other.mlp.w_in)
    assert torch.equal(after.mlp.w_in, random_blocks(0)(1, before).mlp.w_in)
    assert not torch.equal(after.mlp.w_in, random_blocks(1)(1, before).mlp.w_in)
    shared = after.attention.wk
    assert torch.equal(shared[0], shared[1]) and not torch.equal(shared[1], shared[2])
    assert after.norm_mlp is not None and len(after.norm_mlp.weight.unique()) == 1
    assert torch.equal(after.attention.rotary, before.attention.rotary)  # pyright: ignore
    outside = random_outside(anatomy, 0)
    assert not torch.equal(outside.embed, anatomy.embed) and outside.blocks == anatomy.blocks


def test_one_pass_serves_every_length_where_tokens_see_only_the_past(anatomy, tokens):
    lengths = (10, 25, 40)
    whole = measure_tokens(anatomy, tokens, lengths, longest=True)
    assert whole.spread.shape == (3, 4, 3) and whole.longest.rank.shape == (3, 4)  # pyright: ignore
    for at, length in enumerate(lengths):
        alone = measure_tokens(anatomy, tokens[:, :length], (length,))
        for name in ("spread", "number", "groups", "ratio", "spread_with_first", "number_with_first"):
            assert getattr(whole, name)[..., at] == pytest.approx(getattr(alone, name)[..., 0], rel=1e-9), name


def test_measures_are_those_of_the_cluster_functions(anatomy, tokens):
    found = measure_tokens(anatomy, tokens, (20, 40), longest=True)
    points = clusters.directions(run(anatomy, tokens).blocks[1].after_mlp.numpy())
    later = points[:, 1:20]
    assert found.spread[:, 2, 0] == pytest.approx(1 - clusters.mean_inner_product(later))
    assert found.number[:, 2, 0] == pytest.approx(clusters.cluster_number(later, 20))
    assert found.ratio[:, 2, 0] == pytest.approx(clusters.participation_ratio(later))
    assert found.groups[:, 2, 0].tolist() == clusters.components(later).tolist()  # pyright: ignore
    assert found.number_with_first[:, 2, 0] == pytest.approx(clusters.cluster_number(points[:, :20], 20))
    last, later = found.longest, points[:, 1:]
    assert last is not None
    assert last.rank[:, 2] == pytest.approx(clusters.effective_rank(later))
    assert last.energy[:, 2] == pytest.approx(clusters.energy(later, 1.0))
    held = clusters.hemisphere(later[0])
    assert last.margin[2] == pytest.approx([held.low, held.high])
    pairs = [(one @ one.T)[np.triu_indices(len(one), 1)] for one in later]
    assert last.quantiles[:, 2] == pytest.approx(np.quantile(pairs, [0.05, 0.5, 0.95], axis=1).T)


# --- models whose verdict is known ----------------------------------------------------------------------------------


def made(strength: float, sharpness: float, depth: int = 8) -> Anatomy:
    """Blocks x + strength · Σ weight_ij x_j, whose attention looks at the first GROUPS coordinates alone.

    Each token has an embedding of its own: the direction of its group plus as much noise in the other coordinates.
    """
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(200, WIDTH, generator=generator, dtype=torch.float64)
    noise[:, :GROUPS] = 0
    table = torch.eye(WIDTH, dtype=torch.float64)[torch.arange(200) % GROUPS] + noise / noise.norm(dim=1, keepdim=True)
    eye = torch.eye(WIDTH, dtype=torch.float64)[None]
    look = torch.zeros_like(eye)
    look[0, :GROUPS, :GROUPS] = torch.eye(GROUPS)
    zero = torch.zeros(1, WIDTH, dtype=torch.float64)
    attention = AttentionPart(look, look, eye, strength * eye, None, None, None, None, sharpness, causal=False)
    block = BlockPart("pre", None, attention, None, MlpPart("plain", zero, None, None, zero.T, None, "relu"))
    return Anatomy("made", table, None, None, (block,) * depth, None, None, parameters=1)


def said_of(anatomy: Anatomy) -> object:
    tokens = torch.stack([torch.randperm(200, generator=torch.Generator().manual_seed(s))[:TOKENS] for s in range(5)])
    return verdict(measure_tokens(anatomy, tokens, (24, TOKENS)), TOKENS, "it").value


def test_tokens_that_move_to_their_mean_collapse():
    assert said_of(made(strength=1.0, sharpness=0.0)) == "collapsing"


def test_tokens_that_move_to_the_mean_of_their_group_are_metastable():
    assert said_of(made(strength=1.0, sharpness=20.0)) == "metastable"


def test_tokens_that_do_not_move_are_stable():
    assert said_of(made(strength=0.0, sharpness=1.0)) == "stable"


def test_the_first_token_does_not_fool_the_verdict():
    """A first token unlike the others, beside tokens that are nearly one point: the spread with it is far larger."""
    anatomy = made(strength=0.0, sharpness=1.0)
    embedding = torch.ones(200, WIDTH, dtype=torch.float64) + 0.01 * anatomy.embed
    embedding[7] = -1000.0
    anatomy = dataclasses.replace(anatomy, embed=embedding)
    tokens = torch.stack([torch.tensor([7, *range(10 + s, 40 + s)]) for s in range(3)])
    found = measure_tokens(anatomy, tokens, (31,))
    assert found.spread.max() < 1e-3 and found.spread_with_first.min() > 0.1
    assert found.number.max() < 1.01 and found.number_with_first.min() > 1.05
    assert verdict(found, 31, "it").value == "stable"


# --- the rule -------------------------------------------------------------------------------------------------------


def measures(spread, number, sequences: int = 4, jitter: float = 0.01) -> TokenMeasures:
    """Made-up measures at one length, [places], the same for all sequences up to some noise."""
    noise = np.exp(jitter * np.random.default_rng(0).normal(size=(2, sequences, len(spread), 1)))
    a, b = np.array(spread)[None, :, None] * noise[0], np.array(number)[None, :, None] * noise[1]
    places = ("embedding", *(f"block {n}" for n in range(len(spread) - 1)))
    return TokenMeasures(places, (64,), 8, a, b, b, b, a, b)


RULE = {
    "collapsing": measures([0.9, 0.6, 0.5, 0.4, 0.3, 0.2], [40, 40, 30, 20, 10, 5]),
    "metastable": measures([0.9, 0.9, 0.8, 0.8, 0.8, 0.8], [20, 40, 20, 8, 7, 7]),
    "stable": measures([0.9, 0.8, 0.7, 0.6, 0.6, 0.6], [20, 40, 40, 35, 30, 30]),
    "spread_open": measures([0.8, 0.6, 0.5, 0.5, 0.4, 0.4], [20, 40, 40, 40, 40, 40], jitter=0.2),
    "number_open": measures([0.8] * 6, [40, 40, 40, 20, 20, 20], jitter=0.2),
    "unsettled": measures([0.9] * 6, [40, 40, 40, 40, 20, 7]),
    "too_shallow": measures([0.9] * 4, [40, 40, 10, 10]),
    "one_sequence": measures([0.9] * 6, [40] * 6, sequences=1),
}


@pytest.mark.parametrize("said", RULE)
def test_the_rule_for_verdicts(said):
    claim = verdict(RULE[said], 64, "it")
    if said in ("collapsing", "metastable", "stable"):
        assert (claim.value, claim.status, claim.kind) == (said, "holds", "measured")
    else:
        assert claim.value is None and claim.status == "unknown"
        assert claim.assumptions[-1].key == f"geometry.{said}" and claim.assumptions[-1].check == "caveat"


def test_intervals_are_students():
    values = np.array([0.3, 0.1, -0.4, 0.9, 0.2])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = interval_of_mean(values)
    assert found is not None and (found.low, found.high) == pytest.approx((expected.low, expected.high))


def trend(slope: float, noise: np.ndarray):
    """The trend of made-up measures whose contraction has this slope and noise [sequences, lengths]."""
    last = 0.8 * 2.0 ** (slope * np.arange(noise.shape[1]) + noise)
    spread = np.stack([np.full(noise.shape, 0.9), last], axis=1)
    lengths = tuple(32 * 2**n for n in range(noise.shape[1]))
    return length_trend(TokenMeasures(("embedding", "block 0"), lengths, 8, *[spread] * 6), "it")


@pytest.mark.parametrize("slope, reading", [(-0.2, "worse"), (0.2, "milder"), (0.0, "none")])
def test_the_trend_with_length_is_the_slope(slope, reading):
    noise = 0.02 * np.random.default_rng(3).normal(size=(6, 4))
    found = trend(slope, noise - noise.mean(axis=0))
    assert found.value == pytest.approx(slope, abs=1e-12) and reading == found.evidence["reading"]
    assert trend(slope, noise[:, :1]).status == "unknown"


def test_the_interval_of_a_trend_holds_it_as_often_as_it_says():
    noise = 0.05 * np.random.default_rng(0).normal(size=(200, 4, 6))
    held = np.mean([-0.1 in trend(-0.1, one).interval for one in noise])  # pyright: ignore
    assert abs(held - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / 200)


def test_lengths_double_up_to_the_longest():
    assert doubling_lengths(1024) == (32, 64, 128, 256, 512, 1024)
    assert doubling_lengths(600) == (32, 64, 128, 256, 600) and doubling_lengths(100) == (32, 64, 100)
    assert doubling_lengths(20) == (5, 10, 20) and doubling_lengths(4) == (3, 4)


# --- the record and its inputs --------------------------------------------------------------------------------------


def test_the_record_says_what_it_found(llama, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = torch.randint(31, (3, 128), generator=torch.Generator().manual_seed(2)).tolist()
    path.write_text("".join(json.dumps({"tokens": row}) + "\n" for row in rows))
    found = lw.inspect(llama, probes=["geometry"], data=path).record("geometry")
    assert not found.failed
    by_length, by_block, trained, random, angles = found.tables
    assert [row[0] for row in by_length.rows] == [32, 64, 128]
    assert [row[0] for row in by_block.rows] == ["embedding", "block 0", "block 1", "block 2"]
    assert by_block.rows[0][1] == pytest.approx(by_block.rows[0][3])  # the reference starts where the model does
    assert [claim.kind for claim in found.claims] == ["measured"] * (3 + 8) + ["certified"] * 2
    assert [row[0] for row in angles.rows] == [row[0] for row in by_block.rows]
    assert all(row[1] <= row[2] <= row[3] and row[4] <= row[5] for row in angles.rows)  # pyright: ignore
    assert {row[2] for row in trained.rows} != {row[2] for row in random.rows}


def at_longest(low: float, high: float, energy: list[float]) -> AtLongest:
    """Made-up measures of two sequences at as many places as there are energies."""
    zeros = np.zeros((2, len(energy)))
    bounds = np.array([[low, high]] * len(energy))
    return AtLongest(zeros, zeros, np.zeros((2, len(energy), 3)), np.array([energy, energy]), bounds)


@pytest.mark.parametrize(
    "bounds, value, status",
    [
        ((0.2, 0.3), True, "holds"),
        ((-0.5, 1e-15), False, "holds"),
        ((-0.5, 0.3), None, "unknown"),
        ((1e-12, 1e-12), False, "holds"),
        ((1e-12, 0.1), None, "unknown"),
    ],
)
def test_hemispheres_are_certified_or_not_said(bounds, value, status):
    found = dataclasses.replace(RULE["stable"], longest=at_longest(*bounds, [1, 2, 3, 2.5, 4, 4]))
    *_, energy, first, last = geometry_claims(found, found)
    assert (first.value, first.status) == (last.value, last.status) == (value, status)
    assert ("geometry.flat_margin" in [one.key for one in first.assumptions]) == (value is False)
    assert first.evidence["place"] == "embedding" and last.evidence["place"] == "block 4"
    assert energy.value == 1 and energy.evidence["never_falls"] is False and energy.evidence["beta"] == 1


def test_trained_and_random_weights_are_shown_the_same_tokens(anatomy, tokens):
    one, two = compare(anatomy, tokens, seed=3), compare(anatomy, tokens, seed=3, single=True)
    assert one.trained.spread == pytest.approx(two.trained.spread, abs=1e-5)
    again = compare(anatomy, tokens, seed=3)
    assert np.array_equal(one.random.spread, again.random.spread)
    assert not np.array_equal(one.random.spread, one.trained.spread)


def test_too_few_tokens_are_said(llama, tmp_path):
    path = tmp_path / "short.jsonl"
    path.write_text('{"tokens": [1, 2, 3]}\n{"tokens": [3, 4, 5]}\n')
    found = lw.inspect(llama, data=path, probes=["geometry"])
    assert "3 tokens each, and 4 are needed" in found.record("geometry").failed and not found.broken


def test_the_built_in_text_is_shown_where_there_is_a_tokenizer(llama, tmp_path):
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel

    llama.save_pretrained(tmp_path)
    assert "made-up" in dict(lw.inspect(tmp_path, probes=["layers"]).facts)["inputs"]
    words = ["[UNK]", "Alice", "the", "and", "rabbit", "to", "a", "she", "it", ",", "."]
    cutter = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    cutter.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    (tmp_path / "tokenizer.json").write_text(cutter.to_str())
    said = "2 parts of the built-in text (Alice's Adventures in Wonderland), of each the first 64 tokens"
    assert dict(lw.inspect(tmp_path, probes=["layers"], items=2).facts)["inputs"] == said
    longer = inputs_for(open_subject(tmp_path), Context(), 8, longest=1024)
    assert longer.tokens.shape == (8, 1024) and len({tuple(row) for row in longer.tokens.tolist()}) == 8


def test_the_parts_of_the_text_are_the_text():
    whole = "".join(built_in_parts(1))
    assert len(whole) > 60_000 and whole.isascii() and "Gutenberg" not in whole
    parts = built_in_parts(8)
    assert "".join(parts) == whole and max(map(len, parts)) < 1.6 * min(map(len, parts))
    assert all(before.endswith("\n\n") for before in parts[:-1])
    assert len(built_in_parts(3000)) == 3000


def test_longer_items_of_a_task_stay_within_the_table(tmp_path):
    from lengthwise.models.transformer import Architecture, Interface, Transformer
    from lengthwise.positions import make_position
    from lengthwise.tasks import tasks

    vocabulary = len(tasks.make("sort").vocabulary)
    subject = open_subject(
        Transformer(
            Architecture(1, 8, 2, 2, position=make_position("learned")), Interface(vocabulary, vocabulary, 40, 12)
        )
    )
    anatomy = subject.capability("anatomy")
    most = anatomy.longest
    assert most is not None and room_for(anatomy, 1024) == most and room_for(anatomy, 7) == 7
    wanted = Context(tasks.make("sort"), train_size=5)
    usual = inputs_for(subject, wanted, 2)
    longer = inputs_for(subject, wanted, 2, longest=1024)
    assert "of size 5" in usual.described and usual.tokens.shape[1] < longer.tokens.shape[1] <= most
    asked = inputs_for(subject, dataclasses.replace(wanted, sizes=(6,)), 2, longest=1024)
    assert "of size 6" in asked.described


# --- a model that people use ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_smollm2(tmp_path):
    found = lw.inspect(smollm2(tmp_path), probes=["geometry"])
    assert "built-in text" in dict(found.facts)["inputs"]
    section = found.record("geometry")
    assert [row[0] for row in section.tables[0].rows] == [32, 64, 128, 256, 512, 1024]
    assert not section.failed and not math.isnan(section.tables[0].rows[-1][2])  # pyright: ignore
