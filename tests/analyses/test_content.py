"""The stored records, arranged."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lengthwise.analyses.content import read_content
from lengthwise.analyses.words import counted, duration, listed, percent, times
from lengthwise.errors import UsageError


def test_rows_and_columns_follow_the_grid(study):
    content = read_content(study)
    assert [row.label for row in content.rows] == ["sort", "(aa)*"]
    assert content.encodings == ("none", "learned+offset", "rope")
    assert content.counts == {"done": 17, "running": 0, "waiting": 0, "failed": 1}
    assert content.noun == "task" and content.rule.in_range == 0.9
    learned = [run for run in content.runs if run.summary is not None and run.summary.reach >= 20]
    assert content.kept == {run.key for run in learned if run.summary.in_range >= 0.9} and 0 < len(content.kept) < 17


def test_labels_are_unlike_where_names_are_alike(content_of):
    content = content_of({("a (b)", "none"): [5], ("a@b", "none"): [6]})
    assert [row.label for row in content.rows] == ["a (b)", "a (b) (2)"]
    values = [cell.values("reach") for row in content.rows for cell in content.row_cells(row).values()]
    assert values == [{0: 5.0}, {0: 6.0}]
    assert content.noun == "task"


def test_the_training_size_is_named_where_there_are_several(content_of):
    small, large = content_of({("a", "none"): [5]}), content_of({("a", "none"): [5]}, train_size=30)
    both = type(small)("both", (*small.runs, *large.runs))
    assert [row.label for row in both.rows] == ["a (trained to 20)", "a (trained to 30)"]
    assert both.noun == "task setting"


def test_a_missing_study_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no study"):
        read_content(tmp_path)


@pytest.mark.system
def test_reading_a_study_needs_no_torch(study, tmp_path):
    code = (
        "import sys; from pathlib import Path; import lengthwise.reports.page as page; page.bundle = lambda: ''; "
        f"page.write_report(Path({str(study)!r}), Path({str(tmp_path / 'page.html')!r})); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "text, wanted",
    [
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b", "c"]), "a, b and c"),
        (listed(["a", "b"], last="or"), "a or b"),
        (listed(list("abcdef"), 4), "a, b, c, d and 2 more"),
        (listed(list("abcde"), 4), "a, b, c, d and e"),
        (counted(1, "run"), "1 run"),
        (counted(5000, "run"), "5,000 runs"),
        (times(3.0), "3 times"),
        (times(1.0), "once"),
        (times(1.5), "1.5 times"),
        (percent(1.0), "100 %"),
        (percent(0.99999), "99.9 %"),
        (percent(0.00001), "<0.1 %"),
        (percent(0.0), "0 %"),
        (percent(0.5), "50 %"),
        (duration(42), "42 s"),
        (duration(600), "10 min"),
        (duration(7200), "2 h"),
        (duration(12000), "3 h 20 min"),
    ],
)
def test_numbers_in_words(text, wanted):
    assert text == wanted
