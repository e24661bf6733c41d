"""What is kept of every token, against the plainest computation of it; and every token once, in reading order."""

import json

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.probes.guarantee import GuaranteeProbe, losses
from lengthwise.probes.guarantee.bound import only_the_past
from lengthwise.probes.guarantee.losses import losses_on, token_losses
from lengthwise.probes.guarantee.source import ItemSource, limited
from lengthwise.probes.guarantee.texts import (
    DocumentFile,
    Reader,
    TokenWindow,
    laid_out,
    stretches_of,
    windows_of,
)
from lengthwise.subjects.open import open_subject


def naive(logits: torch.Tensor, token: int) -> tuple:
    p = logits.double().softmax(0).numpy()
    rank = sum(p[other] >= p[token] for other in range(len(p)) if other != token)
    mass = [np.sort(p)[::-1][:k].sum() for k in (1, 5, 10)]
    return -np.log(p[token]), -(p * np.log(p)).sum(), rank, mass


def documents(count: int = 9) -> list[tuple[int, list[int]]]:
    rng = np.random.default_rng(0)
    return [(number, rng.integers(0, 31, 1 + 5 * number).tolist()) for number in range(count)]


@pytest.mark.parametrize("folder", ["llama_folder", "gpt2_folder"])
def test_losses_are_those_of_one_window_after_the_other(request, monkeypatch, folder):
    monkeypatch.setattr(losses, "CELLS", 100)  # a few tokens at a time
    monkeypatch.setattr(losses, "TOKENS", 40)
    predictor = open_subject(request.getfixturevalue(folder)).capability("predictor")
    given = documents()
    found = token_losses(
        [losses_on(predictor, some) for some in stretches_of(windows_of(given, 7), 50)], predictor.vocabulary
    )
    place = 0
    for number, tokens in given:
        for first in range(0, len(tokens) - 1, 7):
            window = tokens[first : first + 8]
            with torch.no_grad():
                logits = predictor.model(torch.tensor([window[:-1]])).logits[0]
            for row, token in zip(logits, window[1:], strict=True):
                surprise, entropy, rank, mass = naive(row, token)
                assert found.surprise[place] == pytest.approx(surprise, abs=1e-4)
                assert found.entropy[place] == pytest.approx(entropy, abs=1e-4)
                assert found.rank[place] == rank and found.documents[place] == number
                np.testing.assert_allclose(found.mass[place], mass, atol=1e-4)
                place += 1
    assert place == len(found) == sum(len(tokens) - 1 for _, tokens in given)


def test_every_token_but_the_first_is_predicted_once():
    given = documents()
    windows = list(windows_of(given, 4))
    for number, tokens in given:
        own = [window.tokens for window in windows if window.document == number]
        assert [token for window in own for token in window[1:]] == tokens[1:]
        assert all(len(window) <= 5 for window in own)


def test_ties_count_against_the_model(llama_folder):
    predictor = open_subject(llama_folder).capability("predictor")
    predictor.logits = lambda states: torch.zeros(len(states), 31)
    found = losses._statistics_of(predictor, torch.zeros(3, 24), torch.tensor([0, 5, 30]), np.zeros(3))
    assert found.rank.tolist() == [30, 30, 30]
    np.testing.assert_allclose(found.surprise, np.log(31), rtol=1e-6)


def test_a_limit_keeps_the_first_tokens_in_reading_order(llama_folder):
    predictor = open_subject(llama_folder).capability("predictor")
    whole = losses_on(predictor, laid_out(list(windows_of(documents(), 7)))).surprise
    for most in (1, 10, 33, len(whole), len(whole) + 5):
        parts = limited(stretches_of(windows_of(documents(), 7), 20), most)
        some = np.concatenate([losses_on(predictor, part).surprise for part in parts])
        assert len(some) == min(most, len(whole))
        np.testing.assert_allclose(some, whole[: len(some)], atol=1e-5)


def test_a_model_that_looks_ahead_is_found_out(llama_folder):
    predictor = open_subject(llama_folder).capability("predictor")
    part = laid_out(list(windows_of(documents(), 7)))
    assert only_the_past(predictor, part).check == "checked"
    honest = predictor.states

    def ahead(inputs, scored):
        return honest(inputs.flip(1), scored)

    predictor.states = ahead
    assert only_the_past(predictor, part).check == "violated"


def test_other_weights_make_another_predictor(llama_folder, prose_run):
    for path in (llama_folder, prose_run):
        predictor = open_subject(path).capability("predictor")
        before = {name: np.array(tensor) for name, tensor in predictor.tensors().items()}
        zeros = predictor.with_weights({name: np.zeros_like(tensor) for name, tensor in before.items()})
        assert all(np.abs(tensor).max() == 0 for tensor in zeros.tensors().values())
        for same in (predictor, zeros.with_weights(before)):
            assert all(np.array_equal(same.tensors()[name], before[name]) for name in before)
        with pytest.raises(UsageError, match="is in one of them alone"):
            predictor.with_weights(dict(list(before.items())[1:]))


def test_tied_weights_are_written_once(llama_folder):
    predictor = open_subject(llama_folder).capability("predictor")
    assert not any("lm_head" in name for name in list(predictor.tensors())[1:])
    assert sum(tensor.size for tensor in predictor.tensors().values()) == predictor.parameters


def survey(tmp_path, text: str, name: str = "x.jsonl", **options):
    path = tmp_path / name
    path.write_text(text)
    return DocumentFile(path, Reader(lambda words: [len(word) for word in words.split()], 31)).survey(**options)


def test_a_survey_counts_what_is_empty_and_what_is_repeated(tmp_path):
    lines = ['{"text": "a bb"}', "", '{"text": " "}', '{"text": "a bb"}', '{"tokens": [1, 2, 3]}', '{"tokens": []}']
    found = survey(tmp_path, "\n".join(lines), count_tokens=True)
    assert (found.documents, found.empty, found.repeated, found.tokens) == (3, 3, 1, 1 + 1 + 2)
    plain = survey(tmp_path, "a bb\n\nccc\n", "x.txt", count_tokens=True)
    assert (plain.documents, plain.empty, plain.tokens) == (2, 1, 1)


def test_a_survey_stops_when_it_has_seen_enough(tmp_path):
    lines = ['{"text": "a bb ccc"}', '{"text": "a bb ccc"}', '{"tokens": [1, 2, 3]}', "this line is no JSON"]
    found = survey(tmp_path, "\n".join(lines), enough=3)
    assert (found.documents, found.repeated, found.tokens, found.whole) == (2, 1, 4, False)
    assert survey(tmp_path, "\n".join(lines[:3]), enough=3).digest == found.digest  # only what was read counts
    assert survey(tmp_path, "\n".join(lines[:3]), enough=7).whole
    with pytest.raises(UsageError, match="line 4, is not JSON"):
        survey(tmp_path, "\n".join(lines), enough=7)


BAD = {
    "": "contains no document",
    "\n\n": "contains no document",
    '{"text": "a"}\n{"text": ': "line 2, is not JSON",
    "[1, 2]": "line 1: a line is",
    '{"words": 3}': "line 1: a line is",
    '{"tokens": [1, 31]}': "line 1: the model knows the tokens 0 to 30, and 31",
    '{"tokens": [1, -1]}': "and -1 is not one",
    '{"tokens": [1, 99999999999999999999]}': "at most 64 bits",
    '{"tokens": ["a"]}': "list of whole numbers",
    '{"tokens": [true, false]}': "list of whole numbers",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_lines_are_refused_in_one_sentence(tmp_path, text):
    with pytest.raises(UsageError, match=BAD[text].replace("[", r"\[")):
        survey(tmp_path, text)


def test_texts_need_a_tokenizer(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"text": "a"}))
    with pytest.raises(UsageError, match="no tokenizer"):
        DocumentFile(path, Reader(None, 31)).survey()


# --- rounding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["prose_run", "sort_run", "llama_folder", "gpt2_folder"])
def test_single_precision_moves_a_loss_by_little(request, folder):
    """Mean, largest difference and entropy of single tokens, beside the same weights in double precision."""
    place = request.getfixturevalue(folder)
    predictor = open_subject(place).capability("predictor")
    if folder.endswith("_run"):
        some = next(
            iter(ItemSource(open_subject(place).capability("run"), GuaranteeProbe(sample=64)).stretches(1 << 20))
        )
    else:
        rng = np.random.default_rng(0)
        some = laid_out([TokenWindow(number, rng.integers(0, 31, 17).tolist()) for number in range(64)])
    single = losses_on(predictor, some)
    predictor.network.double()
    double = losses_on(predictor, some)
    assert not np.array_equal(single.surprise, double.surprise)  # it is another arithmetic
    for name in ("surprise", "entropy"):
        apart = getattr(single, name).astype(np.float64) - getattr(double, name)
        assert abs(apart.mean()) < 1e-6 and np.abs(apart).max() < 1e-5
    assert np.array_equal(single.rank, double.rank) and np.abs(single.mass - double.mass).max() < 1e-5


def test_many_small_probabilities_are_summed_up_without_a_bias():
    """In single precision the mean was off by more than 1e-6 here."""
    logits = 3 * torch.randn(64, 49_152, generator=torch.Generator().manual_seed(0))
    targets = torch.arange(64)
    found = losses._some(logits, targets, np.zeros(64))
    right = (logits.double().logsumexp(dim=1) - logits[targets, targets].double()).numpy()
    assert abs((found.surprise - right).mean()) < 5e-7 and found.surprise.dtype == np.float32
