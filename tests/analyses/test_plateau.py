"""Plateaus and training lengths: planted power laws are found, what the data do not show is not claimed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lengthwise.analyses.analysis import analyse, analyses_of
from lengthwise.analyses.plateau import CELLS, EXPONENTS, PlateauAnalysis
from lengthwise.analyses.plateau.levels import plateau_cells
from lengthwise.analyses.plateau.series import reached, series_of, settings_of_task
from lengthwise.errors import UsageError
from lengthwise.probes.errors import ERRORS
from lengthwise.records import Record, Table, columns
from lengthwise.reports.page import render
from lengthwise.studies.record import packed

COLUMNS = columns("size:whole | items:whole | average | worst | dirichlet")
SIZES = (8, 16, 32)


def measured(run, level, rise=0.0):
    """The run with errors: a tenth of the plateau in range, the plateau beyond, more by `rise` in the last doubling."""
    n = run.train_size
    values = {n // 2: level / 10, n: level / 10, 2 * n: level, 3 * n: level, 4 * n: level * (1 + rise)}
    values |= {6 * n: level * (1 + rise), 8 * n: level * (1 + rise)}
    rows = tuple((size, 100, value, 3 * value, value / 2) for size, value in values.items())
    record = Record("errors", tables=(Table(ERRORS, COLUMNS, rows),))
    return replace(run, stored={**run.stored, **packed({"errors": record})})


def family(
    content_of, level, tasks=("simple_task:omega=1", "simple_task:omega=4"), sizes=SIZES, seeds=3, rise=0.0, **more
):
    """A study whose plateaus are level(task settings, N, seed)."""
    runs = []
    for size in sizes:
        content = content_of({(task, "none"): [size] * seeds for task in tasks}, train_size=size, **more)
        for run in content.runs:
            value = level(settings_of_task(run.task)[1], size, run.seed)
            runs.append(measured(replace(run, key=f"{run.key}-{size}"), value, rise))
    return replace(content_of({}, study={"analyses": ["plateau:error=0.01"]}), runs=tuple(runs))


def wave(settings, size, seed):
    """omega / N, with a little that depends on all of it."""
    return settings["omega"] / size * (1 + 0.03 * math.sin(size + 3 * settings["omega"] + 0.3 * seed))


def test_a_planted_law_is_found(content_of):
    content = family(content_of, wave)
    (record,) = analyse(content, analyses_of(content)[:1])
    claims = {claim.key: claim for claim in record.claims}
    for key, wanted in (
        ("plateau.falls", 1.0),
        ("plateau.rises", 1.0),
        ("lengths.error_exponent", 1.0),
        ("lengths.parameter_exponent", 1.0),
    ):
        claim = claims[key]
        assert claim.value == pytest.approx(wanted, abs=0.1) and wanted in claim.interval, key
        assert (claim.status, claim.kind, claim.evidence["seeds"]) == ("holds", "measured", [0, 1, 2])
    rows = record.table(EXPONENTS).records()
    assert [(row["power"], row["exponent"]) for row in rows if row["low"] is None] == [
        *(("1/error", 2.0), ("1/error", 1.0), ("omega", 2.0), ("omega", 1.0))
    ]
    assert [row["exponent"] for row in rows if row["low"] is not None] == pytest.approx([1, 1], abs=0.1)
    table = record.table(CELLS).records()
    assert [row["task"] for row in table[:2]] == ["simple_task:omega=1", "simple_task:omega=4"]
    assert len(table) == 6 and table[0]["plateau"] == pytest.approx(1 / 8, rel=0.05)
    assert table[0]["worst"] == pytest.approx(3 / 8, rel=0.05) and table[0]["growth"] == pytest.approx(0, abs=1e-9)
    assert len(record.figures) == 1 and not analyse(replace(content, pictures=False))[0].figures


def test_the_needed_length_is_the_first_that_is_enough(content_of):
    content = family(content_of, lambda settings, size, seed: wave(settings, size, seed) / 10)
    (series,) = series_of(plateau_cells(content.cells, "average"))
    first, second = series.needed(0.01, "average")
    assert (first.value, first.interval.low, first.interval.high) == (16, 9, 16)
    assert second.value is None and second.status == "unknown", "0.0125 at 32 is not below"
    assert second.evidence["by_fit"] == pytest.approx(40, rel=0.1) and first.evidence["by_fit"] == pytest.approx(
        10, rel=0.1
    )


def test_what_the_data_do_not_show_is_not_claimed(content_of):
    """Without a trend neither falling nor rising holds, and no exponent of a length is given."""
    noise = {(1.0, 8): 0.1, (4.0, 8): 0.09, (1.0, 16): 0.12, (4.0, 16): 0.1, (1.0, 32): 0.09, (4.0, 32): 0.11}
    content = family(content_of, lambda settings, size, seed: noise[settings["omega"], size] * (1 + seed / 100))
    (record,) = analyse(content, analyses_of(content)[:1])
    claims = {claim.key: claim for claim in record.claims}
    assert claims["plateau.falls"].status == claims["plateau.rises"].status == "unknown"
    assert claims["lengths.error_exponent"].value is None


def test_the_opposite_is_said(content_of):
    content = family(content_of, lambda settings, size, seed: size / settings["omega"] / 1000 * (1 + seed / 100))
    (record,) = analyse(content, analyses_of(content)[:1])
    claims = {claim.key: claim for claim in record.claims}
    assert claims["plateau.falls"].status == claims["plateau.rises"].status == "refuted"
    assert claims["lengths.error_exponent"].value is None


def test_what_was_not_learned_is_left_out_of_the_fit(content_of):
    lost = [("simple_task:omega=4", "none")]
    content = family(content_of, lambda *_: 0.3, unlearned=lost)
    (series,) = series_of(plateau_cells(content.cells, "average"))
    assert {value for value, _ in series.fitted} == {1.0} and len(series.cells) == 6
    assert not any(reached(cell, 0.5) for value, cell in series.cells if value == 4)


def test_an_error_that_still_rises_is_not_enough(content_of):
    for rise, enough in ((0.2, True), (0.3, False)):
        content = family(content_of, lambda *_: 0.001, rise=rise)
        assert {reached(cell, 0.01) for cell in plateau_cells(content.cells, "average")} == {enough}


def test_settings_that_vary_are_series_of_their_own(content_of):
    tasks = ("kgram_law:k=1,letters=2", "kgram_law:k=1,letters=3", "kgram_law:k=2,letters=2")
    content = family(content_of, lambda settings, size, seed: settings["k"] * settings["letters"] / size, tasks)
    found = {(one.parameter, one.fixed): one.values for one in series_of(plateau_cells(content.cells, "worst"))}
    assert found == {("k", "letters=2"): [1.0, 2.0], ("letters", "k=1"): [2.0, 3.0]}
    assert settings_of_task("modp_task")[1]["period"] == 5


def test_a_study_without_errors_says_so(content_of):
    content = content_of({("a", "none"): [60]}, study={"analyses": ["plateau"]})
    (record,) = analyse(content, analyses_of(content))
    assert not record.claims and not record.failed and record.text
    assert PlateauAnalysis() not in analyses_of(content_of({("a", "none"): [60]}))


@pytest.mark.parametrize("settings", [{"error": 1.0}, {"error": -0.1}, {"measure": "median"}])
def test_settings_that_make_no_analysis(settings):
    with pytest.raises(UsageError):
        PlateauAnalysis(**settings)


def test_the_figure_is_drawn_in_a_browser(visit, content_of, tmp_path):
    content = family(content_of, wave)
    page = tmp_path / "plateau.html"
    page.write_text(render(content, analyse(content)), encoding="utf-8")
    opened = visit(page, "?all")
    marks = "[...document.querySelectorAll('.plot[data-kind=plateaus] svg .mark-{}.role-mark path')].length"
    assert (opened.ask(marks.format("line")), opened.ask(marks.format("symbol"))) == (2, 6) and opened.complaints == []
