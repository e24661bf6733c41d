"""The map of an atlas: every cell is in it, names stay text, menus and cells answer in a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.cli import main
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, load_atlas, save_atlas
from lengthwise.reports.atlas_page import render_map, write_map
from synthetic_atlas import synthetic_atlas


def test_every_task_and_cell_is_in_the_page_whatever_it_is_called(hostile) -> None:
    atlas = synthetic_atlas(3, 2, ("none", "alibi"))
    names = dict(zip(atlas.tasks, hostile, strict=False))
    named = Atlas(tuple(replace(run, task=names[run.task]) for run in atlas.runs))
    text = render_map(named)
    assert len(re.findall(r'<td class="level-\d theory-\w+" data-cell="\d+"', text)) == 6
    assert "<script>window.hacked" not in text and "<img" not in text and "<svg onload" not in text


def test_a_cell_that_was_not_measured_is_empty_and_one_not_learned_has_no_number() -> None:
    atlas = synthetic_atlas(2, 1, ("none", "alibi"))
    _, *rest = (replace(run, learned=run.position == "none", exact=(1.0,) * len(run.exact)) for run in atlas.runs)
    text = render_map(Atlas(tuple(rest)))
    assert text.count("<td></td>") == 1 and len(re.findall(r'class="level-0 [^>]*>–</td>', text)) == 2
    assert len(re.findall(r'class="level-8 [^>]*>8</td>', text)) == 1


def test_columns_are_sorted_by_how_many_tasks_hold_and_sizes_of_a_cell_are_named() -> None:
    atlas = synthetic_atlas(3, 1, ("none", "alibi"))
    runs = [replace(run, learned=True, exact=(float(run.position == "alibi"),) * len(run.exact)) for run in atlas.runs]
    longer = replace(runs[0], train_size=2 * runs[0].train_size)
    text = render_map(Atlas((*runs, longer)))
    assert text.index(">alibi<") < text.index(">none<")
    assert f"reach 0, trained to {longer.train_size}" in text and f"reach 0, trained to {runs[0].train_size}" in text


@pytest.mark.wording
def test_the_page_says_what_was_not_learned_and_which_encoding_holds_most_often() -> None:
    atlas = synthetic_atlas(3, 1, ("none", "alibi"))
    learned = {run: run.position == "none" for run in atlas.runs}
    runs = [replace(run, learned=own, exact=(float(own),) * len(run.exact)) for run, own in learned.items()]
    text = render_map(Atlas(tuple(runs)))
    missed, advice = (text.partition(f'id="{name}"')[2].partition("</div>")[0] for name in ("not-learned", "advice"))
    assert "<code>alibi</code>" in missed and "3 of 6" in missed and "<code>none</code>" not in missed
    assert advice.index("<code>") == advice.index("<code>none</code>") and "3 of 3" in advice
    assert text.index('id="advice"') < text.index('class="map"')


@pytest.mark.wording
def test_the_map_in_the_docs_is_that_of_the_package() -> None:
    """`make docs` writes it."""
    page = Path(__file__).parents[2] / "docs" / "findings" / "atlas.html"
    assert page.read_text().startswith(render_map(load_atlas()))


def test_an_empty_atlas_is_refused() -> None:
    with pytest.raises(UsageError):
        render_map(Atlas(()))


def test_the_command_draws_a_file_and_refuses_what_belongs_to_studies(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    save_atlas(synthetic_atlas(2, 1, ("none",)), "own.json.gz")
    assert main(["report", "own.json.gz"]) == 0 and (tmp_path / "atlas.html").stat().st_size > 5_000
    assert main(["report", "own.json.gz", "--figures", "there"]) == 2
    assert main(["report", "missing.json.gz"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.system
def test_menus_hide_rows_and_a_cell_shows_its_curves_also_on_a_phone(visit, tmp_path) -> None:
    path = write_map(synthetic_atlas(9, 2), tmp_path / "map.html")
    for wide, scheme in ((1300, "light"), (390, "dark")):
        opened = visit(path, viewport={"width": wide, "height": 800}, color_scheme=scheme)
        opened.page.hover("td[data-cell='4']")
        assert opened.ask("document.querySelectorAll('#curves .own').length") == 2
        opened.page.select_option("[data-filter=class]", "neither")
        assert opened.ask("[...document.querySelectorAll('.map tbody tr')].filter(row => !row.hidden).length") == 3
        assert opened.ask("document.documentElement.scrollWidth") <= wide and opened.complaints == []
