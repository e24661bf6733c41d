"""The model in docs/data/smooth_majority: its certified error at twice the length bites, and is not exceeded."""

from pathlib import Path

import numpy as np
import pytest

from lengthwise.probes.probe import Context, ask
from lengthwise.probes.shift_bound import ShiftBoundProbe
from lengthwise.probes.shift_bound.measures import attack_measures, token_distance, views_of
from lengthwise.probes.shift_bound.samples import drawn_side
from lengthwise.subjects.open import open_subject
from lengthwise.tasks import tasks

FOLDER = Path(__file__).parents[2] / "docs" / "data" / "smooth_majority"
TASK = tasks.make("binary_majority")

pytestmark = pytest.mark.system


def test_the_certified_error_bites_and_holds_on_fresh_items():
    record = ask(ShiftBoundProbe("100", "50", "measure", items=2000), open_subject(FOLDER), Context(TASK, seed=3))
    bound = record.claim("shift_bound.certified")
    assert bound.status == "holds" and bound.kind == "certified" and bound.value <= 0.5
    assert record.claim("shift_bound.fresh_error").value <= 0.1


def test_no_attack_exceeds_its_constant():
    """Mixtures by search, and all pairs of all inputs of both lengths with one label."""
    subject = open_subject(FOLDER)
    source, target = (drawn_side(subject, Context(TASK, seed=4), at, 1000, at) for at in ("50", "100"))
    model, asked, _ = views_of(subject.capability("anatomy"), source, target)
    constant = max(model.constant(each)[0] for each in asked)
    assert 0.5 * constant <= attack_measures(model, asked, 10_000, 0) <= constant
    zero, one = (model.tokens.index(TASK.vocabulary.index(bit)) for bit in "01")
    bos, sep = (model.tokens.index(token) for token in (1, 2))
    shares = []
    for length in (50, 100):
        for count in range(length // 2):  # zeros, the fewer of both
            p = np.zeros(len(model.tokens))
            p[[zero, one, bos, sep]] = np.array([count, length - count, 1, 1]) / (length + 2)
            shares.append(p)
    margins = model.margins(2, np.array(shares), TASK.vocabulary.index("1"))
    for i, p in enumerate(shares):
        for j in range(0, i, 3):
            assert abs(margins[i] - margins[j]) <= constant * token_distance(model.distances, p, shares[j]) * (1 + 1e-9)
