"""A limit transformer of a user's own: what is written can be read, and what is wrong is said in one sentence."""

from __future__ import annotations

import json

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.examples import EXAMPLES, example, limit_from, load_limit, majority
from limit_models import plain, random_limit


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_written_is_read(tmp_path, name: str) -> None:
    model = example(name)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(plain(model)))
    word = [model.symbols[0]] * 3 + [model.symbols[1]] * 2
    assert load_limit(path).answer(word) == model.answer(word)
    assert load_limit(path).exact == model.exact


def test_fractions_survive() -> None:
    for seed in range(10):
        model = random_limit(seed, denominator=7)
        again = limit_from(json.loads(json.dumps(plain(model))))
        assert plain(again) == plain(model) and again.exact


def changed(path: str, value: object) -> dict:
    content = plain(majority())
    *front, last = path.split(".")
    target = content
    for key in front:
        target = target[int(key) if key.isdigit() else key]
    if value is None:
        del target[last]
    else:
        target[int(last) if last.isdigit() else last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("readout", None, "has no 'readout'"),
        ("symbols", "01", "symbols must be a list of texts"),
        ("symbols", ["0", "0"], "all different"),
        ("symbols", ["0", "1", "2"], "embeddings has the shape 2 x 2 where 3 x 2 is needed"),
        ("embeddings", [[1, 0], [1]], "row 2, has 1 numbers where 2 are needed"),
        ("embeddings", [], "list of rows"),
        ("embeddings.0.0", "x", 'embeddings, row 1, entry 1, must be a number or a text such as "2/3"'),
        ("embeddings.0.0", "1/0", "must be a number"),
        ("embeddings.0.0", float("inf"), "finite"),
        ("embeddings.0.0", True, "must be a number"),
        ("layers", [], "one or two layers"),
        ("layers.0.heads", [], "each with a head"),
        ("layers.0.heads.0.value", [[1]], "layer 1: value has the shape"),
        ("layers.0.heads.0.local", [], "local has the shape"),
        (
            "layers.0.mlp",
            {"inner": [[1, 0]], "offset": [0], "outer": [[1], [0]], "activation": "gelu"},
            "activation must be one of",
        ),
        ("mode", "soft", "mode must be one of"),
        ("bits", 0, "bits must lie between"),
        ("bits", "8", "bits must be a whole number"),
        ("layer", [], "did you mean 'layers'"),
    ],
)
def test_what_is_wrong_is_said(path: str, value: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        limit_from(changed(path, value))


def test_files_that_are_not_there_or_not_json(tmp_path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_limit(tmp_path / "none.json")
    path = tmp_path / "bad.json"
    for text, sentence in (("{", "as JSON"), ("[1]", "must be a JSON object"), ("[" * 100_000, "nested too deeply")):
        path.write_text(text)
        with pytest.raises(UsageError, match=sentence):
            load_limit(path)
