"""The picture of the predictions: signs, colours that contrast, and sizes that fit."""

from __future__ import annotations

import pytest

from lengthwise.analyses.agreement import LOOKS, agreement_matrix
from lengthwise.analyses.agreement.predictions import predict
from lengthwise.messages import sentence

TABLE = {
    ("sort", "a"): [60],
    ("sort", "b"): [20],
    ("sort", "c"): [60],
    ("sort", "d"): [20],
    ("parity", "a"): [60],
    ("parity", "b"): [0],
    ("parity", "c"): [None],
}
TOLD = {
    ("sort", "a"): "can hold",
    ("sort", "b"): "cannot hold",
    ("sort", "c"): "cannot hold",
    ("sort", "d"): "can hold",
}


@pytest.fixture
def drawn(content_of, told):
    content = content_of(TABLE, unlearned=[("parity", "b")])
    foretold = predict(content, told(TOLD))
    return agreement_matrix(content, foretold)


def test_a_cell_has_the_sign_of_what_was_foretold_and_what_came(drawn):
    shown = [row for name in ("judged", "others") for row in drawn.data[name]]
    cells = {(row["row"], row["encoding"]): row["text"] for row in shown}
    assert cells == {
        ("sort", "a"): "✓ held",
        ("sort", "b"): "✓ did not",
        ("sort", "c"): "✗ held",
        ("sort", "d"): "○ did not",
        ("parity", "a"): "? held",
        ("parity", "c"): "–",
    }
    assert [row["outcome"] for row in drawn.data["hatched"]] == ["not_learned"]
    assert [row["outcome"] for row in drawn.data["others"]] == ["not_measured"]
    assert drawn.data["judged"][2]["why"] == "a witness says that sort cannot hold"


def test_every_look_is_another_colour_and_its_sign_contrasts():
    """WCAG's contrast of the ink on the colour, and different names for different colours."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for _, _, colour, ink in LOOKS.values():
        light, dark = sorted((luminance(colour), luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour
    assert len({name for _, name, _, _ in LOOKS.values()}) == len({colour for _, _, colour, _ in LOOKS.values()}) == 5


@pytest.mark.wording
def test_the_legend_repeats_the_signs():
    assert all(sentence(name).startswith(sign) for sign, name, _, _ in LOOKS.values())


def test_the_legend_has_what_occurs_and_no_more(content_of, told):
    content = content_of({("sort", "a"): [60], ("sort", "c"): [60]})
    template = agreement_matrix(content, predict(content, told(TOLD))).template
    scale = template["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [LOOKS["contradiction"][1], LOOKS["attained"][1]]
    assert scale["range"] == [LOOKS["contradiction"][2], LOOKS["attained"][2]]


def test_a_legend_without_entries_is_left_out(content_of, told):
    """Vega gives one in columns an infinite size, and the whole picture with it."""
    content = content_of({("sort", "a"): [60]}, unlearned=[("sort", "a")])
    drawn = agreement_matrix(content, predict(content, told(TOLD)))
    assert drawn.data["judged"] == [] and drawn.template["layer"][0]["encoding"]["color"]["legend"] is None


@pytest.mark.parametrize("tasks, encodings", [(25, 2), (4, 19)])
def test_the_usual_shapes_fit_the_page(content_of, told, tasks, encodings):
    """The page gives 72 rem of width and 46 rem of height."""
    table = {(f"task_{row}", f"encoding_{column}"): [60] for row in range(tasks) for column in range(encodings)}
    content = content_of(table)
    template = agreement_matrix(content, predict(content, told({}))).template
    assert template["width"]["step"] * encodings <= 900 and template["height"]["step"] * tasks <= 550
    assert template["width"]["step"] >= 44  # "✓ held" has room


def test_a_long_reason_is_cut_where_one_hovers(content_of, told):
    content = content_of({("sort", "`" + "x" * 500): [60]})
    (row,) = agreement_matrix(content, predict(content, told({}))).data["judged"]
    assert row["why"].startswith("nobody knows about xxx") and len(row["why"]) == 320 and row["why"][-1] == "…"
