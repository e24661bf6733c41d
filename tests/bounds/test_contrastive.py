"""The InfoNCE certificate under attack: its range, its coverage, and sharing of pairs."""

import itertools
import math

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

from lengthwise.bounds.contrastive import (
    block_losses,
    contrastive_bound,
    effective_tuples,
    loss_range,
    unit_rows,
)
from lengthwise.errors import UsageError

DRAWS, DELTA = 2000, 0.05


def loss_of(vectors, dimensions, temperature):
    """The loss of one tuple: anchor, positive and negatives as one long vector."""
    rows = unit_rows(vectors.reshape(-1, dimensions))
    scores = rows[1:] @ rows[0] / temperature
    return float(scipy.special.logsumexp(scores) - scores[0])


@pytest.mark.parametrize("negatives, temperature", [(1, 1.0), (2, 0.5), (4, 2.0)])
def test_an_attack_on_the_range_reaches_both_ends_and_passes_neither(negatives, temperature):
    width, lowest = loss_range(negatives, temperature), math.log(1 + negatives * math.exp(-2 / temperature))
    ends = []
    for sign in (1, -1):
        best = math.inf
        for seed in range(2):
            start = np.random.default_rng(seed).standard_normal((negatives + 2) * 2)
            found = scipy.optimize.minimize(lambda v, s=sign: s * loss_of(v, 2, temperature), start)
            best = min(best, found.fun)
        ends.append(sign * best)
    assert lowest - 1e-9 <= ends[0] <= lowest + 1e-3
    assert lowest + width - 1e-3 <= ends[1] <= lowest + width + 1e-9
    assert width <= 4 / temperature


def test_the_range_for_many_negatives_and_low_temperatures_is_finite():
    assert loss_range(65_535, 0.01) == pytest.approx(
        math.log(1 + 65_535 * math.exp(-200)) * -1 + math.log(65_535) + 200, rel=1e-9
    )
    for wrong in (0.0, -1.0, math.nan, math.inf, 1e-4):
        with pytest.raises(UsageError, match="temperature"):
            loss_range(3, wrong)
    with pytest.raises(UsageError, match="negative"):
        loss_range(0, 1.0)


def signs(draws, pairs, share, generator):
    """Positives that are the anchor's direction with probability `share` and the opposite otherwise: the losses of such
    pairs lie at the ends of the range, where a bounded mean varies most."""
    return np.where(generator.random((draws, pairs)) < share, 1.0, -1.0)


def losses_of_signs(positive, negatives, temperature):
    """ln(1 + Σ e^((n - p) / t)) with the negatives on the last axis."""
    return np.log1p(np.exp((negatives - positive[..., None]) / temperature).sum(axis=-1))


def true_loss(share, negatives, temperature):
    """The expected loss, summed over how many of the negatives agree with the anchor."""
    total = 0.0
    for positive, chance in ((1.0, share), (-1.0, 1 - share)):
        for agree in range(negatives + 1):
            row = np.array([1.0] * agree + [-1.0] * (negatives - agree))
            likely = scipy.stats.binom.pmf(agree, negatives, share)
            total += chance * likely * float(losses_of_signs(np.array(positive), row, temperature))
    return total


def most_violations():
    """The largest number of violations that a rate of DELTA explains (one in 10,000)."""
    return scipy.stats.binom.ppf(0.9999, DRAWS, DELTA)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("negatives, blocks", [(1, 5), (1, 60), (4, 20)])
def test_coverage_of_batches_and_of_disjoint_tuples(share, negatives, blocks):
    generator, temperature = np.random.default_rng(7), 0.7
    v = signs(DRAWS, blocks * (negatives + 1), share, generator).reshape(DRAWS, blocks, negatives + 1)
    truth = true_loss(share, negatives, temperature)
    others = np.stack([np.delete(v, i, axis=2) for i in range(negatives + 1)], axis=2)
    every = losses_of_signs(v, others, temperature)  # [draws, blocks, anchors]
    gap = contrastive_bound(truth, blocks, negatives, temperature, delta=DELTA).risk.terms[1].value
    for means in (every.mean(axis=(1, 2)), every[:, :, 0].mean(axis=1)):
        assert means.mean() == pytest.approx(truth, abs=6 * means.std() / math.sqrt(DRAWS))
        assert (truth > means + gap).sum() <= most_violations()
    if share == 0.5 and negatives == 1:
        assert (truth > every[:, :, 0].mean(axis=1) + gap / 4).sum() > most_violations()  # it could fail


def test_the_simulated_losses_are_those_of_the_code():
    generator = np.random.default_rng(0)
    v = signs(1, 12, 0.6, generator)[0]
    positives, anchors = np.outer(v, [3.0, 4.0]), np.tile([6.0, 8.0], (12, 1))
    found = block_losses(anchors, positives, 3, 0.7, "disjoint")
    blocks = v.reshape(3, 4)
    assert found == pytest.approx(losses_of_signs(blocks[:, 0], blocks[:, 1:], 0.7))
    every = np.stack([losses_of_signs(blocks[:, i], np.delete(blocks, i, axis=1), 0.7) for i in range(4)], axis=1)
    assert block_losses(anchors, positives, 3, 0.7) == pytest.approx(every.mean(axis=1))


def test_coverage_of_the_mean_over_all_tuples():
    """Hoeffding's argument for U-statistics: as good as floor(N / (k + 1)) disjoint tuples."""
    pairs, temperature, share = 9, 0.7, 0.6
    v = signs(DRAWS, pairs, share, np.random.default_rng(1))
    tuples = np.array(list(itertools.permutations(range(pairs), 2)))
    means = losses_of_signs(v[:, tuples[:, 0]], v[:, tuples[:, 1:]], temperature).mean(axis=1)
    truth = true_loss(share, 1, temperature)
    gap = contrastive_bound(truth, pairs // 2, 1, temperature, delta=DELTA).risk.terms[1].value
    assert (truth > means + gap).sum() <= most_violations()


def test_tuples_that_share_a_negative_are_hardly_more_than_one():
    """The same N counted as for all tuples is wrong here, and the families find it out."""
    pairs, temperature, share = 400, 0.7, 0.5
    v = signs(DRAWS, pairs, share, np.random.default_rng(2))
    tuples = np.stack([np.arange(1, pairs), np.zeros(pairs - 1, dtype=np.int64)], axis=1)
    means = losses_of_signs(v[:, tuples[:, 0]], v[:, tuples[:, 1:]], temperature).mean(axis=1)
    truth = true_loss(share, 1, temperature)
    naive = contrastive_bound(truth, pairs // 2, 1, temperature, delta=DELTA).risk.terms[1].value
    assert (truth > means + naive).mean() > 0.4
    assert effective_tuples(tuples) == pytest.approx(1.0)
    right = contrastive_bound(truth, effective_tuples(tuples), 1, temperature, delta=DELTA).risk.terms[1].value
    assert (truth > means + right).sum() <= most_violations()


def test_families_of_tuples():
    assert effective_tuples(np.arange(40).reshape(10, 4)) == pytest.approx(10)
    around = (np.arange(12)[:, None] + np.arange(3)) % 12  # each shares pairs with two neighbours on either side
    assert effective_tuples(around) == pytest.approx(4)
    uneven = np.array([[0, 1], [2, 3], [4, 5], [0, 2]])  # families of 3 and 1, better than 4 / 2
    assert effective_tuples(uneven) == pytest.approx(16 / (math.sqrt(3) + 1) ** 2)


def test_coverage_of_tuples_around_a_circle():
    pairs, temperature, share = 30, 0.7, 0.5
    tuples = (np.arange(pairs)[:, None] + np.arange(3)) % pairs
    v = signs(DRAWS, pairs, share, np.random.default_rng(3))
    means = losses_of_signs(v[:, tuples[:, 0]], v[:, tuples[:, 1:]], temperature).mean(axis=1)
    truth = true_loss(share, 2, temperature)
    gap = contrastive_bound(truth, effective_tuples(tuples), 2, temperature, delta=DELTA).risk.terms[1].value
    assert (truth > means + gap).sum() <= most_violations()


def test_the_best_of_many_encoders_needs_its_bits():
    """2^12 encoders that all are at chance: without bits the best one's bound fails, with 12 bits it does not."""
    generator, temperature, blocks, bits = np.random.default_rng(4), 0.7, 30, 12
    truth, failed = true_loss(0.5, 1, temperature), {0: 0, bits: 0}
    gaps = {b: contrastive_bound(truth, blocks, 1, temperature, bits=b).risk.terms[1].value for b in failed}
    for _ in range(60):
        v = signs(2**bits, 2 * blocks, 0.5, generator).reshape(2**bits, blocks, 2)
        best = losses_of_signs(v[:, :, 0], v[:, :, 1:], temperature).mean(axis=1).min()
        for b, gap in gaps.items():
            failed[b] += truth > best + gap
    assert failed[0] > 10 and failed[bits] <= scipy.stats.binom.ppf(0.9999, 60, DELTA)


def test_claims_and_chance():
    bound = contrastive_bound(0.3, 4000, 15, 0.5, checked=True)
    claim = bound.claim()
    assert claim.status == "holds" and claim.kind == "certified" and claim.evidence["chance"] == math.log(16)
    assert str(claim.reference) == "docs/explanation/contexture.md, proposition 7"
    assert contrastive_bound(0.3, 4, 15, 0.5).claim().status == "vacuous"
    assert contrastive_bound(math.log(2), 10**9, 1, 1.0).claim().status == "vacuous"
    assert contrastive_bound(0.3, 40, 15, 0.5, bits=12).claim().assumptions[1].values == {"bits": 12}


def test_one_negative_and_a_constant_encoder_are_at_chance():
    same = np.ones((40, 3))
    assert block_losses(same, same, 4, 0.1) == pytest.approx(math.log(5))


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: block_losses(np.ones((3, 2)), np.ones((3, 2)), 3, 1.0), "need 4 pairs or more"),
        (lambda: block_losses(np.ones((3, 2)), np.ones((4, 2)), 1, 1.0), "one shape"),
        (lambda: block_losses(np.zeros((3, 2)), np.ones((3, 2)), 1, 1.0), "row 1 has length 0"),
        (lambda: block_losses(np.ones((3, 2)), np.full((3, 2), np.nan), 1, 1.0), "finite"),
        (lambda: block_losses(np.ones(3), np.ones(3), 1, 1.0), "pairs, dimensions"),
        (lambda: contrastive_bound(9.0, 10, 1, 1.0), "mean loss must lie between"),
        (lambda: contrastive_bound(1.0, 0, 1, 1.0), "1 independent block"),
        (lambda: contrastive_bound(1.0, 10, 1, 1.0, delta=1.0), "delta between 0 and 1"),
        (lambda: contrastive_bound(1.0, 10, 1, 1.0, bits=-1), "0 bits or more"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(UsageError) as error:
        call()
    assert sentence in str(error.value)
