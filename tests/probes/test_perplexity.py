"""Losses of a text by position: the same numbers as a plain pass, bands, intervals, and dynamic scaling."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.probes.perplexity import PerplexityProbe
from lengthwise.probes.perplexity.bands import BANDS
from lengthwise.probes.probe import Context, ask
from lengthwise.statistics.means import mean_interval
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.scaled import scaled
from lengthwise.testing import check_probe
from lengthwise.text import built_in_text
from small_hub import small_bert
from small_language_models import small_decoder
from small_runs import trained


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    return open_subject(small_decoder(tmp_path_factory.mktemp("models") / "m", max_position_embeddings=64))


@pytest.fixture
def text(tmp_path) -> str:
    (tmp_path / "text.txt").write_text(built_in_text()[:600])
    return str(tmp_path / "text.txt")


def test_the_contract(subject):
    check_probe(PerplexityProbe(windows=1), subject, Context())


@torch.inference_mode()
def plain_losses(subject, tokens):
    """The loss of every token but the first in one pass."""
    logits = subject.loaded[0](input_ids=torch.tensor([tokens[:-1]])).logits[0].double()
    return torch.nn.functional.cross_entropy(logits, torch.tensor(tokens[1:]), reduction="none").numpy()


def test_losses_are_those_of_a_plain_pass(subject, text):
    record = ask(PerplexityProbe(windows=2), subject, Context(data=text))
    tokens = subject.capability("tokenizer").cut(Path(text).read_text())
    starts = [0, len(tokens) // 2]
    losses = np.stack([plain_losses(subject, tokens[start : start + 65]) for start in starts])
    rows = record.table(BANDS).records()
    assert [(row["first"], row["last"]) for row in rows] == [(1, 8), (9, 16), (17, 32), (33, 64)]
    for row in rows:
        assert row["nats"] == pytest.approx(losses[:, row["first"] - 1 : row["last"]].mean(), abs=1e-5)
        assert row["low"] < row["nats"] < row["high"] and row["perplexity"] == pytest.approx(math.exp(row["nats"]))
    assert [claim.value for claim in record.claims] == [row["nats"] for row in rows]
    assert record.data["windows"] == 2 and record.data["length"] == 64


def test_a_shorter_context_reads_the_beginning_of_each_window(subject, text):
    long = ask(PerplexityProbe(length=256), scaled(subject, "none:factor=4"), Context(data=text))
    short = ask(PerplexityProbe(length=256), subject, Context(data=text))
    assert [len(row) for row in short.data["stretches"]] == [len(row) for row in long.data["stretches"][:4]] + [0, 0]
    assert short.data["stretches"][:4] == [pytest.approx(row, abs=1e-5) for row in long.data["stretches"][:4]]
    assert len(long.table(BANDS).rows) == 6 and len(short.table(BANDS).rows) == 4


def test_dynamic_reads_each_band_up_to_its_end(subject, text):
    """Within the original length nothing changes; beyond, the last token of a band has the base of its own place."""
    found = ask(PerplexityProbe(length=256, windows=1), scaled(subject, "dynamic", 4), Context(data=text))
    plain = ask(PerplexityProbe(length=256, windows=1), scaled(subject, "none:factor=4"), Context(data=text))
    assert found.data["stretches"][:4] == [pytest.approx(row, abs=1e-5) for row in plain.data["stretches"][:4]]
    assert found.data["stretches"][4] != pytest.approx(plain.data["stretches"][4], abs=1e-3)


def test_a_run_on_prose_reads_a_text_by_letters(tmp_path, text):
    record = ask(PerplexityProbe(), open_subject(trained(tmp_path / "run")), Context(data=text))
    assert record.data["length"] == 4 * 12
    assert all(1 < row["nats"] < 5 for row in record.table(BANDS).records())


def test_what_is_refused(subject, tmp_path, text):
    (tmp_path / "short.txt").write_text("a b")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe")
    for wrong, said in (("short.txt", "8 tokens or more"), ("binary.txt", "UTF-8"), ("none.txt", "cannot be read")):
        with pytest.raises(UsageError, match=said):
            ask(PerplexityProbe(), subject, Context(data=str(tmp_path / wrong)))
    with pytest.raises(UsageError):
        PerplexityProbe(windows=0)
    with pytest.raises(UsageError, match="encoder"):
        ask(PerplexityProbe(), open_subject(small_bert(tmp_path)), Context(data=text))


def test_the_interval_of_a_mean():
    mean, interval = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2 and interval is not None
    assert interval.high == pytest.approx(2 + 4.302653 / math.sqrt(3), rel=1e-6)
    assert mean_interval([5.0]) == (5.0, None)
