"""Languages with counters and stacks: direct definitions, uniform words, published values."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.counters import balanced
from lengthwise.testing import check_task


def reduces(word: str, *pairs: str) -> bool:
    """Whether removing matched neighbours, again and again, empties a word."""
    while any(pair in word for pair in pairs):
        for pair in pairs:
            word = word.replace(pair, "")
    return not word


def _deepest(word: str) -> int:
    return max(itertools.accumulate((1 if letter in "([<" else -1 for letter in word), initial=0))


def shuffled(word: str) -> bool:
    kinds = ["".join(letter for letter in word if letter in kind) for kind in ("()", "[]")]
    return all(reduces(kind, "()", "[]") for kind in kinds)


def blocks(letters: str) -> Callable[[str], bool]:
    return lambda word: len(word) > 0 and word == "".join(letter * (len(word) // len(letters)) for letter in letters)


# spec → its letters, and whether a word belongs
LANGUAGES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "dyck_1": ("()", lambda w: reduces(w, "()")),
    "dyck_k": ("()[]", lambda w: reduces(w, "()", "[]")),
    "dyck_k:kinds=1": ("()", lambda w: reduces(w, "()")),
    "bounded_dyck_k:depth=1": ("()[]", lambda w: reduces(w, "()", "[]") and _deepest(w) <= 1),
    "bounded_dyck_k:depth=2": ("()[]", lambda w: reduces(w, "()", "[]") and _deepest(w) <= 2),
    "shuffle_2": ("()[]", shuffled),
    "anbn": ("ab", blocks("ab")),
    "anbncn": ("abc", blocks("abc")),
    "anbncndn": ("abcd", blocks("abcd")),
}


@pytest.mark.parametrize("spec", LANGUAGES)
def test_tags_are_the_definition(spec: str) -> None:
    """On all prefixes of 3 letters: with one more they are completed within 8 brackets, or 5 letters a block."""
    letters, belongs = LANGUAGES[spec]
    task = tasks.make(spec)
    prefix = 3
    if letters.startswith("a"):
        words = {"".join(letter * n for letter in letters) for n in range(1, 6)}
    else:
        words = {w for n in range(0, 9, 2) for w in map("".join, itertools.product(letters, repeat=n)) if belongs(w)}
    assert all(belongs(word) for word in words)
    beginnings = {word[:n] for word in words for n in range(len(word) + 1)}
    for text in map("".join, itertools.product(letters, repeat=prefix)):
        if text not in beginnings:
            with pytest.raises(UsageError, match="no word of the language begins with"):
                task.solve(text)
            continue
        legal = [
            [*(a for a in letters if text[:n] + a in beginnings), *(["$"] if text[:n] in words else [])]
            for n in range(prefix + 1)
        ]
        assert task.solve(text) == ["{" + ",".join(symbols) + "}" for symbols in legal]


@pytest.mark.parametrize("spec", [*LANGUAGES, "dyck_k:kinds=5,depth=3", "dyck_k:exact=true", "bounded_dyck_k"])
def test_contract(spec: str) -> None:
    task = tasks.make(spec)
    sizes = task.sizes(1, 50)
    check_task(task, [*sizes[:4], sizes[-1], task.sizes(148, 156)[0]])
    assert all(symbol in task.symbols for symbol in task.solve(task.spelled(task.draw(sizes[2], 0, [5]).prompts[0])))


@pytest.mark.parametrize("spec", LANGUAGES)
def test_words_belong_to_the_language(spec: str) -> None:
    _, belongs = LANGUAGES[spec]
    task = tasks.make(spec)
    for size in task.sizes(1, 40):
        for row in task.draw(size, 2, range(20)).prompts:
            assert belongs("".join(task.spelled(row)))
            assert task.solve(task.spelled(row))[-1].endswith("$}")


def catalan(n: int) -> int:
    return comb(2 * n, n) // (n + 1)


@pytest.mark.parametrize(
    ("spec", "size", "count"),
    [
        ("dyck_1", 2, 1),
        ("dyck_1", 8, catalan(4)),
        ("dyck_1", 10, catalan(5)),
        ("dyck_k:depth=3", 6, 2**3 * catalan(3)),
        ("dyck_k:depth=2", 6, 2**3 * 4),
        ("dyck_k:depth=2,exact=true", 6, 2**3 * 3),
        ("dyck_k:kinds=3,depth=1", 4, 3**2),
        ("bounded_dyck_k:depth=2", 6, 2**3 * 4),
        ("shuffle_2", 4, catalan(2) * catalan(3)),
        ("shuffle_2", 6, catalan(3) * catalan(4)),
        ("anbn", 6, 1),
    ],
)
def test_words_are_uniform(spec: str, size: int, count: int) -> None:
    task = tasks.make(spec)
    drawn = Counter(task.spelled(row) for row in task.draw(size, 1, range(300 * count)).prompts)
    assert len(drawn) == count
    assert count == 1 or chisquare(list(drawn.values())).pvalue > 1e-6


def test_balanced_rows_of_different_lengths() -> None:
    pairs = np.array([0, 1, 2, 5, 3])
    steps = balanced(pairs, 12, Draws(3, range(5)))
    heights = steps.cumsum(axis=1)
    assert (heights >= 0).all() and (heights[:, -1] == 0).all()
    for row, count in zip(steps, pairs, strict=True):
        assert (row[: 2 * count] != 0).all() and (row[2 * count :] == 0).all()


def test_the_depth_of_words() -> None:
    def depths(spec: str) -> list[int]:
        task = tasks.make(spec)
        return [_deepest("".join(task.spelled(row))) for row in task.draw(30, 0, range(200)).prompts]

    assert max(depths("dyck_k:depth=3")) == 3 > min(depths("dyck_k:depth=3"))
    assert set(depths("dyck_k:depth=6,exact=true")) == {6}
    assert max(depths("dyck_1")) > 6
    assert tasks.make("dyck_k:depth=6,exact=true").sizes(1, 14) == [12, 14]


def test_what_is_asked_does_not_change_along_the_depth() -> None:
    shallow, deep = tasks.make("dyck_k:depth=1"), tasks.make("dyck_k:depth=9")
    assert shallow.symbols == deep.symbols
    assert shallow.solve("[(<>)]"[:2]) == deep.solve("[(") == ["{(,[,$}", "{(,[,]}", "{(,),[}"]
    assert {axis.name for axis in deep.axes[1:]} == {"depth"}
    assert tasks.make("bounded_dyck_k:depth=1").solve("[]") == ["{(,[,$}", "{]}", "{(,[,$}"]
    check_task(tasks.make("along:task=dyck_k:exact=true,axis=depth,at=40"), [1, 4, 20])


def test_brackets_of_many_kinds() -> None:
    task = tasks.make("dyck_k:kinds=5")
    assert task.symbols[:10] == ("(", ")", "[", "]", "<", ">", "(4", ")4", "(5", ")5")
    assert task.solve(["(5", "<", ">", ")5"])[2] == "{(,[,<,>,(4,(5}"


@pytest.mark.parametrize(
    ("spec", "prompt", "message"),
    [
        ("dyck_1", "(]", "']' is not one of the brackets ( )"),
        ("dyck_k", "(]", "no word of the language begins with '( ]'"),
        ("dyck_k", "(a", "'a' is not one of the brackets ( ) [ ]"),
        ("bounded_dyck_k:depth=1", "(((", "no word of the language begins with '( ('"),
        ("shuffle_2", "([)]]", "no word of the language begins with '( [ ) ] ]'"),
        ("shuffle_2", "x", "'x' is not one of the brackets"),
        ("anbn", "aabbb", "no word of the language begins with 'a a b b b'"),
        ("anbncn", "aac", "no word of the language begins with 'a a c'"),
        ("anbncn", "aabc", "no word of the language begins with 'a a b c'"),
        ("anbn", "ac", "'c' is not one of the letters a b"),
    ],
)
def test_prompts_outside_the_language_are_refused(spec: str, prompt: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        tasks.make(spec).solve(prompt)


@pytest.mark.parametrize("spec", ["dyck_k:kinds=0", "dyck_k:depth=0"])
def test_wrong_settings_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="kinds and depth must be at least 1"):
        tasks.make(spec)


# Huang et al. 2025, result files of the formal-language suite; not plotted in the paper and not in its table here.
PUBLISHED = {
    "dyck_1": ((100, 100, 100), (100, 100, 100)),
    "shuffle_2": ((85.9, 82.2, 50.4), (81.2, 79.8, 42.7)),
    "anbn": ((100, 99.4, 92.3), (100, 100, 100)),
    "anbncn": ((100, 91.2, 87.4), (100, 100, 100)),
    "anbncndn": ((100, 86.4, 75.2), (100, 100, 100)),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values(name: str) -> None:
    facts = tasks.make(name).facts
    assert {curve.encoding: curve.exact_match for curve in facts.published} == dict(
        zip(("learned+offset", "none"), PUBLISHED[name], strict=True)
    )
    assert dict(facts.crasp) == {"learned+offset": True, "none": True}
