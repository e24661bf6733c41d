"""The page as text: what a parser makes of it, how large it is, how long it takes."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
from collections.abc import Callable
from html.parser import HTMLParser
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.errors import UsageError
from lengthwise.probes.curve.spread import Keep
from lengthwise.records import Figure, Record
from lengthwise.reports.page import render, widgets_of, write_report
from lengthwise.reports.record_section import pieces, script_safe


class Parsed(HTMLParser):
    """The elements of a page, the text outside scripts, and the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[dict[str, str | None]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted(name for name, _ in attrs))))
        self.attributes.append(dict(attrs))
        self.inside = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif not self.inside:
            self.text += data


def without_bundle(study: StudyContent, records: list[Record] | None = None) -> str:
    with patch("lengthwise.reports.page.bundle", lambda: "bundle()"):
        return render(study, analyse(study) if records is None else records)


def test_the_page_is_written_into_the_study_or_where_one_says(study, report, tmp_path, told, report_of):
    assert report == study / "report.html"
    other = report_of(study, told({("sort", "none"): "can hold"}), tmp_path / "other.html")
    assert other == tmp_path / "other.html" and other.read_bytes() == report.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["other.html"]


def test_an_output_that_cannot_be_written_is_a_usage_error(study, tmp_path):
    with pytest.raises(UsageError, match="cannot write the report"):
        write_report(study, tmp_path / "nowhere" / "page.html")
    with pytest.raises(UsageError):
        write_report(study, tmp_path)


@pytest.mark.wording
def test_the_page_names_what_it_must(report):
    page = Parsed(report.read_text(encoding="utf-8"))
    said = " ".join(page.text.split())
    assert "How far do these tasks hold with each encoding?" in said
    assert "17 of 18 runs done, 1 failed" in said
    assert str(Keep(0.9)) in said and "cells learned" in said
    assert "lengthwise study usual" in said and "keep = 0.9" in said and "threads" in said
    assert "sort with learned+offset" in said and "<b>the task</b> broke" in said
    headings = [int(tag[1]) for tag, _ in page.tags if tag in ("h1", "h2", "h3", "h4")]
    assert headings[0] == 1 and headings.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))


def test_nothing_is_loaded_from_elsewhere(report):
    page = Parsed(report.read_text(encoding="utf-8"))
    for attributes in page.attributes:
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") or name == "style" for name in attributes)


def test_only_the_scripts_of_the_page_may_run(report):
    page = Parsed(report.read_text(encoding="utf-8"))
    policy = next(a["content"] for a in page.attributes if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and "unsafe" not in policy and "default-src 'none'" in policy
    assert len(page.scripts) == 3
    for script in page.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_hostile_names_stay_text(content_of, hostile):
    plain = content_of({(f"t{n}", f"e{n}"): [60, None] for n in range(len(hostile))})
    evil = content_of({(name, name): [60, None] for name in hostile}, study={"question": hostile[1]}, toml=hostile[1])
    usual, page = Parsed(without_bundle(plain)), Parsed(without_bundle(evil))
    assert set(page.tags) <= {*usual.tags, ("pre", ("tabindex",))}
    assert len(page.scripts) == len(usual.scripts) == 3
    assert page.text.count(hostile[1]) >= 3
    data = json.loads(page.scripts[0])
    assert [figure["title"] for figure in data["figures"] if figure["name"].startswith("curves")] == list(hostile)
    assert data["tables"]["runs"][0]["texts"] == list(hostile)


def named_record(name: str) -> Record:
    """A record in which everything that can have a name has this one."""
    figure = Figure("curves.1", {}, {"lines": [{"encoding": name, "exact": 1.0}]}, name, name, name)
    layout = PageLayout(
        name, notes=(name,), menus=(Menu("m", name, ((name, name),)),), filters=(name,), lists=((name, (name,)),)
    )
    return Record("curves", title=name, text=(name,), figures=(figure,), data={LAYOUT: layout.plain()})


@functools.cache
def usual_tags(content_of: Callable[..., StudyContent]) -> set[tuple[str, tuple[str, ...]]]:
    """The elements, with their attributes, of a page whose names are harmless."""
    usual = content_of({("t", "e"): [60]}, study={"question": "q"}, command="c", toml="t")
    return {*Parsed(without_bundle(usual, [named_record("`t`")] * 2)).tags, ("wbr", ())}  # where a long name may break


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1), st.text())
def test_any_name_stays_text(content_of, task, encoding, reason):
    task = task.replace("@", "a")  # the helper's own sign
    content = content_of({(task, encoding): [60]}, study={"question": reason}, command=reason, toml=task)
    page = Parsed(without_bundle(content, [named_record(task), named_record(encoding)]))
    assert set(page.tags) <= usual_tags(content_of) and len(page.scripts) == 3
    data = json.loads(page.scripts[0])
    found = {column["title"]: column["texts"] for column in data["tables"]["runs"] if "texts" in column}
    assert found["task"] == [task] and found["encoding"] == [encoding]
    assert [figure["title"] for figure in data["figures"]] == [task, encoding]
    assert data["figures"][1]["data"]["lines"]["encoding"]["texts"] == [encoding]


def test_only_scripts_of_this_package_are_widgets(content_of):
    """A record may ask for any script by name, and gets none that is not shipped."""
    evil = [
        Record(
            "x", data={LAYOUT: PageLayout("x", widget={"name": name, "data": {"a": "</script>"}, "words": []}).plain()}
        )
        for name in ("traces", "../page", "none")
    ]
    assert widgets_of(evil) == ["traces"]
    page = Parsed(without_bundle(content_of({("a", "none"): [60]}), evil))
    assert len(page.scripts) == 3 + 1 + 3 and page.scripts[0] == '{"a":"\\u003c/script\\u003e"}'


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda part: st.lists(part) | st.dictionaries(st.text(), part))
)
def test_data_in_a_script_block_reads_back_and_cannot_end_it(data):
    text = script_safe(data)
    assert json.loads(text) == data
    assert not set(text) & {"<", ">", "&", "\u2028", "\u2029"}


def test_a_name_that_is_no_unicode_does_not_break_the_page(content_of):
    page = without_bundle(content_of({("bad\udcff", "none"): [60]}, toml="bad\udcff"))
    page.encode("utf-8")


def test_sentences_are_cut_at_backticks():
    assert pieces("a `b` c") == [("a ", False), ("b", True), (" c", False)]
    assert pieces("a") == [("a", False)]


@pytest.mark.parametrize(
    "table, more",
    [
        ({}, {}),
        ({("a", "none"): [None]}, {}),
        ({}, {"others": {("a", "none"): "waiting"}}),
        ({("a", "none"): [60]}, {}),
        ({("a", "none"): [0, 0]}, {"unlearned": [("a", "none")]}),
        ({("a", "none"): [60]}, {"study": {"analyses": ["plateau", "reach"]}}),
        ({("a", "none"): [3]}, {"test_size": 20}),
        ({("a", "x"): [60], ("b", "y"): [60]}, {"tasks": {"a": {"crasp": {"x": True}}}}),
        ({("sort", "none"): [60], ("gone.py::Task", "none"): [60]}, {}),
    ],
)
def test_odd_shapes_have_a_page(content_of, table, more):
    page = Parsed(without_bundle(content_of(table, **more)))
    assert "How far?" in page.text and "None" not in page.text.replace("None of", "")
    json.loads(page.scripts[0])


@pytest.mark.system
def test_500_runs_are_under_3_megabytes(tmp_path, synthetic_study):
    tasks = [f"a_task_with_a_name:setting={number}" for number in range(25)]
    positions = ["none", "learned+offset", "rope:scaling=yarn,factor=4", "alibi"]
    folder = synthetic_study(tmp_path / "s", tasks, positions, seeds=5)
    assert write_report(folder).stat().st_size < 3_000_000


def test_failures_are_grouped_by_reason(content_of):
    page = Parsed(without_bundle(content_of({("a", "none"): [None, None, 60], ("b", "none"): [None]})))
    said = " ".join(page.text.split())
    assert "ValueError: it broke — a, none, seed 0, a, none, seed 1 and b, none, seed 0" in said
    assert "1 of 4 runs done, 3 failed" in said and "1 of 1 cell learned" in said and "1 seed kept, 0 discarded" in said


@pytest.mark.slow
def test_the_page_of_5000_runs_is_small(large_report):
    assert large_report.stat().st_size < 8_000_000
