"""Facts in a text of other sentences, counted letters, and brackets to close."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.tasks import make_task
from lengthwise.tasks.haystack import FILLERS, NAMES
from lengthwise.testing import check_task

SIZES = [1, 2, 9, 40, 101]
SPECS = [
    "needle",
    "needle:names=2,values=2",
    "multi_key",
    "multi_key:keys=1",
    "multi_value",
    "multi_value:count=2,values=5",
    "variable_tracking",
    "variable_tracking:chains=1,hops=1",
    "variable_tracking:chains=4,hops=5",
    "count",
    "count:letters=2",
    "brackets",
    "brackets:kinds=1",
    "brackets:kinds=4",
]
WORKED = [
    ("needle", "s7 s2 amber 8919 s38 amber", "8919"),
    ("needle", "amber 8919 amber", "8919"),
    ("multi_key", "s7 birch 1000 s2 amber 8919 amber", "8919"),
    ("multi_value", "s7 amber 1000 s2 amber 8919 amber", "1000 8919"),
    ("variable_tracking", "s7 amber 8919 s2 birch amber s9 cedar birch 8919", "amber birch cedar"),
    ("variable_tracking", "amber 8919 birch 1000 cedar amber basil birch 1000", "birch basil"),
    ("count", "a c a b a", "2"),
    ("count", "b b a c", "0"),
    ("count", "a a a a a a a a a a a", "1 0"),
    ("brackets", "( [ ] { (", ") } )"),
    ("brackets", "(", ")"),
]
UNREADABLE = [
    ("needle", ""),
    ("needle", "s1 amber"),
    ("needle", "s1 amber 8919 birch"),
    ("needle", "s1 8919 amber"),
    ("needle", "s1 amber s2 amber"),
    ("needle", "s99 amber 8919 amber"),
    ("needle", "amber 1000 amber 8919 amber"),
    ("multi_value", "s1 birch 1000 amber"),
    ("variable_tracking", "amber 1000 8919"),
    ("count", "a"),
    ("count", "a z a"),
    ("brackets", ""),
    ("brackets", "( )"),
    ("brackets", "( ]"),
    ("brackets", ")"),
]
REFUSED = [
    "needle:names=1",
    "needle:names=49",
    "needle:values=9001",
    "multi_key:keys=0",
    "multi_key:keys=5,names=4",
    "multi_value:count=9,values=8",
    "variable_tracking:hops=0",
    "variable_tracking:chains=20",
    "count:letters=1",
    "brackets:kinds=5",
]


@pytest.mark.parametrize("spec", SPECS)
def test_contract(spec: str) -> None:
    check_task(make_task(spec), SIZES)


@pytest.mark.parametrize(("name", "prompt", "answer"), WORKED)
def test_worked_examples(name: str, prompt: str, answer: str) -> None:
    assert list(make_task(name).solve(prompt.split())) == answer.split()


@pytest.mark.parametrize(("name", "prompt"), UNREADABLE)
def test_what_is_no_prompt_is_refused(name: str, prompt: str) -> None:
    with pytest.raises(UsageError):
        make_task(name).solve(prompt.split())


@pytest.mark.parametrize("spec", REFUSED)
def test_settings_that_make_no_sense_are_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_task(spec)


@pytest.mark.parametrize("spec", ["needle", "multi_key"])
def test_every_depth_is_as_likely(spec: str) -> None:
    task = make_task(spec)
    prompts = task.draw(9, 0, range(4000)).prompts
    depths = Counter(round(task.depth(task.spelled(row)), 6) for row in prompts)
    places = 9 + task.hidden
    assert set(depths) == {round(place / (places - 1), 6) for place in range(places)}
    assert max(abs(count / 4000 - 1 / places) for count in depths.values()) < 5 * np.sqrt(1 / places / 4000)


def test_the_depth_of_an_item_is_where_its_fact_stands() -> None:
    assert make_task("needle").depth(["amber", "8919", "s1", "s2", "amber"]) == 0
    assert make_task("needle").depth(["s1", "s2", "amber", "8919", "amber"]) == 1
    assert make_task("multi_key").depth(["birch", "1000", "amber", "8919", "s2", "amber"]) == 0.5
    assert make_task("multi_value").depth(["amber", "1000", "s2", "amber", "8919", "amber"]) == 0.5
    assert make_task("variable_tracking").depth(["amber", "1000", "birch", "8919", "cedar", "birch", "8919"]) == 0.75


def test_the_text_is_english_and_gives_nothing_else_away() -> None:
    for sentence in FILLERS:
        assert sentence[0].isupper() and sentence.endswith(".") and not any(map(str.isdigit, sentence))
        assert not set(sentence.lower().rstrip(".").split()) & set(NAMES)
    assert len(set(FILLERS)) == len(FILLERS) and len(set(NAMES)) == len(NAMES) == 48
    task = make_task("needle")
    for spec in ("needle", "multi_key", "multi_value", "variable_tracking"):
        task = make_task(spec)
        prompt = task.spelled(task.draw(6, 0, [0]).prompts[0])
        text = task.words.told(prompt)
        assert text.count("\n") == 1 and text.endswith("?") and " s" + "1" not in text


def test_counts_and_depths_of_brackets_vary() -> None:
    task = make_task("count")
    answers = Counter("".join(task.spelled(row)) for row in task.draw(12, 0, range(2600)).answers)
    assert set(answers) == {str(number) for number in range(13)} and min(answers.values()) > 130
    brackets = make_task("brackets")
    for size in (1, 2, 7):
        found = {len(brackets.spelled(row)) for row in brackets.draw(size, 0, range(500)).answers}
        assert min(found) >= 1 and max(found) == size
