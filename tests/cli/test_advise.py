"""`lengthwise advise`: text, one object, and one sentence for what is wrong."""

from __future__ import annotations

import json

import pytest

from lengthwise.evidence import save_atlas
from synthetic_atlas import synthetic_atlas

FILE = "atlas.json.gz"


def test_advice_as_text_and_as_one_object(cli) -> None:
    save_atlas(synthetic_atlas(12, 1), FILE)
    answer = cli("advise", "--regex", "(aa)*", "--train-size", "20", "--test-size", "80", "--atlas", FILE)
    command = next(line for line in answer.out.splitlines() if line.startswith("  lengthwise train"))
    assert answer.code == 0 and all(len(line) <= 80 for line in answer.out.splitlines() if line != command)
    found = json.loads(cli("advise", "--regex", "(aa)*", "--test-size", "80", "--atlas", FILE, "--json").out)
    assert found["command"] == "advise" and found["data"]["commands"][0] == command.strip()
    scored = json.loads(cli("advise", "--evaluate", "--atlas", FILE, "--json").out)
    assert [table["key"] for table in scored["tables"]] == ["advise.regret"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["sort", "--evaluate"], ["sort", "--test-size", "10"], ["sort", "--atlas", "missing.json.gz"], ["no_such"]],
)
def test_bad_input_is_one_sentence(cli, arguments: list[str]) -> None:
    save_atlas(synthetic_atlas(3, 1), FILE)
    answer = cli("advise", *arguments, *([] if "--atlas" in arguments else ["--atlas", FILE]))
    assert answer.code == 2 and answer.out == "" and len(answer.err.strip().splitlines()) == 1
