"""What guessing scores: closed forms against enumeration, estimates against their errors, all against samples."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.chance import chance_between, chance_of_sample, log_choose
from lengthwise.tasks.task import Task

NEED_SETTINGS = {"regular", "regular_member", "along", "hinted", "jsonl", "layout"}
OTHERS = [
    "regular:expression=(ab|ba)*",
    "regular_member:expression=(ab)*",
    "along:task=dyck_k:exact=true,axis=depth,at=12",
    "sort:alphabet=7",
    "bucket_sort:alphabet=2",
    "bounded_dyck_k:kinds=3,depth=2",
    "dyck_k:exact=true,depth=2",
    "modular_arithmetic:modulus=101",
]
ALL = [*(name for name in tasks.names() if name not in NEED_SETTINGS), *OTHERS]


def best_of(rows: Iterable[tuple[Sequence[str], Fraction]], tags: bool) -> tuple[Fraction, Fraction]:
    """The chance of answers with their probabilities, by plain counting: of an answer and of a symbol."""
    whole, places, symbols = Counter(), Counter(), Fraction(0)
    for answer, weight in rows:
        if not tags or len(set(answer)) == 1:
            whole[answer[0] if tags else tuple(answer)] += weight
        for place, symbol in enumerate(answer):
            places[0 if tags else place, symbol] += weight
        symbols += weight * len(answer)
    columns = {place for place, _ in places}
    best = sum(max(weight for (at, _), weight in places.items() if at == column) for column in columns)
    return max(whole.values(), default=Fraction(0)), best / symbols


def uniform(prompts: Iterable[Sequence[str]], task: Task) -> list[tuple[Sequence[str], Fraction]]:
    answers = [tuple(map(str, task.solve(prompt))) for prompt in prompts]
    return [(answer, Fraction(1, len(answers))) for answer in answers]


def words(task: Task, letters: str, length: int) -> list[tuple[str, ...]]:
    """All words of a language: those that every prefix may go on to, and that may end."""
    found = []
    for word in itertools.product(letters, repeat=length):
        try:
            if "$" in task.solve(word)[-1]:
                found.append(word)
        except ValueError:
            continue
    return found


ENUMERATED = {
    "sort:alphabet=6": lambda size: itertools.permutations(map(str, range(6)), size),
    "bucket_sort:alphabet=3": lambda size: itertools.product("012", repeat=size),
    "cycle_navigation": lambda size: itertools.product(["-1", "0", "1"], repeat=size),
    "cycle_navigation:modulus=2": lambda size: itertools.product(["-1", "0", "1"], repeat=size),
    "compute_sqrt": lambda size: [p for p in itertools.product("01", repeat=size) if "1" in p],
    "modular_arithmetic:modulus=4": lambda size: itertools.product(
        *("0123" if place % 2 == 0 else "+-*" for place in range(size))
    ),
}


@pytest.mark.parametrize("spec", ENUMERATED)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_closed_forms_by_enumeration(spec: str, size: int) -> None:
    task = tasks.make(spec)
    if not task.has(size):
        return
    exact, token = best_of(uniform(ENUMERATED[spec](size), task), tags=False)
    stated = task.chance(size)
    assert stated.exact == pytest.approx(float(exact), rel=1e-9) and stated.exact_error == 0
    assert abs(stated.token - token) < 1e-9 + 5 * stated.token_error


LANGUAGES = {
    "regular:expression=(ab|ba)*": "ab",
    "regular:expression=(a|ba)*": "ab",
    "regular:expression=a*b(a|bb)*": "ab",
    "regular:expression=(a|b)*c?a": "abc",
    "regular:expression=a*": "a",
    "tomita_3": "01",
    "tomita_7": "01",
    "d_2": "ab",
    "dyck_1": "()",
    "dyck_k:depth=2": "()[]",
    "dyck_k:depth=3,exact=true": "()[]",
    "bounded_dyck_k:depth=2": "()[]",
    "bounded_dyck_k:depth=1,kinds=1": "()",
    "anbn": "ab",
}


@pytest.mark.parametrize("spec", LANGUAGES)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_languages_by_enumeration(spec: str, size: int) -> None:
    task = tasks.make(spec)
    if not task.has(size):
        return
    rows = uniform(_sampled_words(task, LANGUAGES[spec], size), task)
    exact, token = best_of(rows, tags=True)
    stated = task.chance(size)
    assert (stated.exact_error, stated.token_error) == (0, 0)
    assert stated.exact == pytest.approx(float(exact), abs=1e-12) and stated.token == pytest.approx(float(token))


def _sampled_words(task: Task, letters: str, size: int) -> list[tuple[str, ...]]:
    """All words of a size as the sampler means them: it keeps to the depth of the settings."""
    depth = getattr(task, "depth", None)
    if depth is None or not hasattr(task, "kinds"):
        return words(task, letters, size)
    found = []
    for word in words(task, letters, size):
        heights = np.cumsum([1 if letter in "([" else -1 for letter in word])
        if heights.max() <= depth and (heights.max() == depth or not task.exact):
            found.append(word)
    return found


@pytest.mark.parametrize("spec", ALL)
def test_no_guess_beats_chance_and_one_reaches_it(spec: str) -> None:
    """On items that the estimate did not see: a guess chosen on half of them does not beat what is stated on the other
    half, and the best of all on all of them is not below it, within five standard errors."""
    task, items = tasks.make(spec), 1200
    for size in task.sizes(1, 9)[-2:]:
        stated, answers = task.chance(size), task.draw(size, 77, range(items), role="else").answers
        chosen = chance_between(answers[::2], answers[1::2], task.readout, task.tolerance)
        # A constant between two answers may be near to both, and is no answer of the sample.
        seen = chance_between(answers, answers, task.readout, 2 * task.tolerance)
        for part in ("exact", "token"):
            value, error = getattr(stated, part), getattr(stated, f"{part}_error")
            slack = 5 * np.hypot(error, getattr(chosen, f"{part}_error")) + 1e-9
            assert getattr(chosen, part) - slack <= value <= getattr(seen, part) + slack, (size, part, stated)


def test_sorting_one_symbol_of_64() -> None:
    one, all_of_them = (tasks.make("sort").chance(size) for size in (1, 64))
    assert (one.exact, one.exact_error) == (1 / 64, 0) and one.token == pytest.approx(1 / 64)
    assert (all_of_them.exact, all_of_them.exact_error) == (1, 0) and all_of_them.token == pytest.approx(1)


@pytest.mark.parametrize("symbols", [2, 64, 1000])
def test_the_estimate_is_not_biased(symbols: int) -> None:
    """The commonest of uniform symbols on the sample itself would look up to several times as common as it is."""
    rng = np.random.default_rng(0)
    found = [chance_of_sample(rng.integers(0, symbols, (1000, 1)), "answer") for _ in range(300)]
    for part in ("exact", "token"):
        values = np.array([getattr(one, part) for one in found])
        assert abs(values.mean() - 1 / symbols) < 4 * values.std() / np.sqrt(len(values))
    stated = np.mean([one.exact_error for one in found])
    assert 0.7 < stated / np.std([one.exact for one in found]) < 2.5


def test_numbers_and_tags_are_not_biased_either() -> None:
    rng = np.random.default_rng(1)
    numbers = [chance_of_sample(rng.random((200, 1)), "numbers", 0.1).exact for _ in range(300)]
    assert 0.19 < np.mean(numbers) < 0.2 + 1e-3
    tags = [chance_of_sample(rng.integers(0, 8, (200, 1)), "tags").exact for _ in range(300)]
    assert abs(np.mean(tags) - 1 / 8) < 4 * np.std(tags) / np.sqrt(300)


def test_one_item_says_next_to_nothing() -> None:
    one = chance_of_sample(np.array([[3, 1]]), "answer")
    assert one.exact == 0 and one.exact_error > 0.15
    short = np.array([[3, NOTHING], [3, 1]])
    assert chance_between(short[:1], short[1:], "answer").token == 0.5


def test_a_file_is_not_judged_by_its_own_answers(tmp_path) -> None:
    """Forty inputs with as many answers; forty with one answer; and a single one."""
    lines = [{"input": f"a {n}", "answer": f"{n}", "n": 1} for n in range(40)]
    lines += [{"input": f"b {n}", "answer": "7", "n": 2} for n in range(40)]
    lines += [{"input": "c 1", "answer": "1", "n": 3}]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = tasks.make(f"jsonl:path={path},size=n,held_out=0.3").part("test")
    different, alike, single = (task.chance(size) for size in (1, 2, 3))
    assert different.exact == 0 and alike.exact == 1 and single.exact == 0
    assert single.exact_error > different.exact_error > 0 and alike.exact_error > 0


def test_numbers_of_choices() -> None:
    assert np.exp(log_choose([5, 5, 5, 0], [0, 2, 6, 0])) == pytest.approx([1, 10, 0, 1])
    assert log_choose(4000, 2000) == pytest.approx(math.log(math.comb(4000, 2000)))
