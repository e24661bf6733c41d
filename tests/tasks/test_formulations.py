"""Formulations: the contract and exact answers; what windows settle of them is tested in `oracle/locality`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.digits import MultiplicationMarked
from lengthwise.tasks.formulations.formulation import Formulation, State
from lengthwise.tasks.formulations.layouts import Columns
from lengthwise.testing.tasks import check_task


def make(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


def starts(task: Formulation, size: int, items: int = 20) -> list[State]:
    return task.starts(size, Seeds(5).draws("test", size, items=range(items)))


# What the answer is, from the first state and in Python's own numbers.


def line(state: State) -> list[str]:
    return [column[0] for column in state]


def number(digits: Iterable[str], base: int = 2) -> int:
    return sum(int(digit) * base**place for place, digit in enumerate(digits))


def digits(value: int, length: int, base: int = 2) -> tuple[str, ...]:
    return tuple(str(value // base**place % base) for place in range(length))


def parity(state: State) -> tuple[str, ...]:
    return (str(line(state).count("1") % 2),)


def running(state: State) -> tuple[str, ...]:
    bits = [int(bit) for bit in line(state)[:-1]]
    return tuple(str(sum(bits[: end + 1]) % 2) for end in range(len(bits)))


def total(state: State) -> tuple[str, ...]:
    left, _, rest = "".join(line(state)).partition("+")
    return digits(number(left) + number(rest.partition("=")[0]), len(left) + 1)


def stacked_total(state: State) -> tuple[str, ...]:
    return digits(number(c[0] for c in state) + number(c[1] for c in state), len(state))


def copied(state: State) -> tuple[str, ...]:
    return tuple(line(state)[: line(state).index("=")])


def product(state: State) -> tuple[str, ...]:
    left, _, rest = "".join(line(state)).partition("*")
    right = rest.partition("=")[0]
    return digits(number(left) * number(right), len(left) + len(right))


def value(state: State, prime: int = 7) -> tuple[str, ...]:
    return (str(eval(" ".join(line(state))) % prime),)


def quotient(state: State) -> tuple[str, ...]:
    """Of columns `digit|divisor|...`, or of `digits / divisor =`; the most significant digit first."""
    tokens = line(state)
    end = tokens.index("/") if "/" in tokens else len(tokens)
    divisor = int(tokens[end + 1] if "/" in tokens else state[0][1])
    return digits(number(tokens[:end][::-1]) // divisor, end)


ANSWERS: dict[str, Callable[[State], tuple[str, ...]]] = {
    "parity_direct": parity,
    "parity_leftmost": parity,
    "parity_appended": running,
    "parity_columns": parity,
    "addition_appended": total,
    "addition_marked": total,
    "addition_marked_alike": total,
    "addition_columns": stacked_total,
    "addition_three_lines": stacked_total,
    "division_columns": quotient,
    "division_appended": quotient,
    "copy_distinct_steps": copied,
    "copy_repeat_steps": copied,
    "copy_pointer": copied,
    "multiplication_marked": product,
    "multiplication_two_lines": product,
    "multiplication_appended": product,
    "arithmetic_parenthesised": value,
    "arithmetic_flat": value,
    "arithmetic_flat_leftmost": value,
}
every_formulation = pytest.mark.parametrize("name", ANSWERS)


@every_formulation
def test_contract(name: str) -> None:
    check_task(make(name), [1, 2, 3, 6])


@every_formulation
def test_steps_lead_to_the_answer(name: str) -> None:
    task = make(name)
    for size in (1, 2, 3, 5, 8, 12, 23):
        for start in starts(task, size, 8):
            *_, final = task.chain(start)
            assert task.answer(final) == ANSWERS[name](start)
            assert task.step(final) is None
            if task.readout == "tags":
                assert task.apply(final, task.labels(final)) == final


@every_formulation
def test_labels_give_the_next_state(name: str) -> None:
    task = make(name)
    for start in starts(task, 6):
        for move in task.moves(start):
            assert len(move.labels) == len(move.state) and len(move.sources) == len(move.after)
            assert task.apply(move.state, move.labels) == task.step(move.state) == move.after
            if task.readout == "tags":
                prompt = ["|".join(column) for column in move.state]
                assert task.apply(move.state, tuple(str(label) for label in task.solve(prompt))) == move.after
            known = {*task.symbols, "=", "<eos>"}
            assert all("|".join(column) in known for column in move.after)


@every_formulation
def test_sources_determine_the_next_column(name: str) -> None:
    """What stands at the sources of a column, and whether they start the state, fixes the column."""
    task, seen, spread = make(name), {}, {}
    for size in (2, 3, 4, 5, 6):
        for start in starts(task, size, 40):
            for move in task.moves(start):
                for column, sources in zip(move.after, move.sources, strict=True):
                    key = (sources[0] == 0, *(move.state[source] for source in sources))
                    if name != "multiplication_appended":  # where how many digits were written counts as well
                        assert seen.setdefault(key, column) == column, key
                    spread[size] = max(spread.get(size, 0), sources[-1] - sources[0])
                    assert list(sources) == sorted(set(sources))
    finite = {"parity_leftmost": 1, "parity_columns": 1, "addition_columns": 1, "arithmetic_parenthesised": 4}
    finite |= {"addition_three_lines": 1, "division_columns": 1, "arithmetic_flat": 2, "arithmetic_flat_leftmost": 2}
    if name in finite:
        assert set(spread.values()) == {finite[name]}
    else:
        assert all(spread[size] < spread[size + 1] for size in (2, 3, 4, 5))


@pytest.mark.parametrize("name", ["arithmetic_parenthesised", "arithmetic_flat", "arithmetic_flat_leftmost"])
def test_arithmetic_keeps_its_value(name: str) -> None:
    task = make(f"{name}:prime=5")
    for start in starts(task, 9):
        states = list(task.chain(start))
        assert {value(state, 5) for state in states} == {value(start, 5)}
        assert all(len(state) > len(after) for state, after in itertools.pairwise(states))
        if name == "arithmetic_flat_leftmost":
            assert len(states) == 10


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 11), st.lists(st.integers(0, 10), min_size=1, max_size=7), st.data())
def test_multiplication_of_any_lengths_and_base(base: int, first: list[int], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.integers(0, base - 1), min_size=1, max_size=7))
    first = [digit % base for digit in first]
    task = MultiplicationMarked(base)
    states = list(task.chain(task.between(first, second)))
    assert len(states) == len(second) * (len(first) + 1) + 1
    expected = number(map(str, first), base) * number(map(str, second), base)
    assert task.answer(states[-1]) == digits(expected, len(first) + len(second), base)
    assert {"|".join(column) for state in states for column in state} <= set(task.symbols)


@pytest.mark.parametrize("name", ["addition_appended", "addition_columns", "addition_marked"])
def test_addition_in_base_ten(name: str) -> None:
    task = make(f"{name}:base=10")
    check_task(task, [1, 4])
    for row in ((9, 9, 9, 1, 0, 0), (5, 0, 9, 5, 9, 0), (0, 0, 0, 0, 0, 0)):
        *_, final = task.chain(task.start(3, row))
        assert number(task.answer(final), 10) == number(map(str, row[:3]), 10) + number(map(str, row[3:]), 10)


@pytest.mark.parametrize("name", [name for name in ANSWERS if isinstance(make(name), Columns)])
def test_frames_are_the_chain(name: str) -> None:
    task = cast(Columns, make(name))
    rows = task.some(4, Seeds(1).draws("test", items=range(6)))
    for row in rows:
        states = list(task.chain(task.start(4, row)))
        assert len(states) == task.steps(4) + 1
        for time, state in enumerate(states):
            frame = task.frames(row[None], np.array([[time]]))[0]
            assert task.spelled(frame) == tuple("|".join(column) for column in state)


def test_shrunken_states_are_laid_out_for_a_model() -> None:
    task = make("arithmetic_flat")
    samples = task.draw(5, 0, range(50))
    assert samples.prompts.shape == samples.answers.shape == (50, 11)
    assert (samples.prompts == NOTHING).any()
    assert ((samples.prompts == NOTHING) == (samples.answers == NOTHING)).all()
    batch = task.batch(5, 0, range(50), causal=False)
    assert (batch.scored[:, 1:] == (samples.prompts != NOTHING)).all() and not batch.scored[:, 0].any()
    assert (batch.targets[batch.scored] == samples.answers[samples.answers != NOTHING] + 4).all()


def test_times_are_uniform() -> None:
    """Every time of the chain is drawn, its end too, as often as the others: 2,500 items over 5 times, in 5 sigma."""
    for name, size in (("parity_leftmost", 5), ("parity_columns", 4), ("arithmetic_flat_leftmost", 4)):
        prompts = make(name).draw(size, 0, range(2500)).prompts
        if name == "parity_columns":
            times = (prompts % 3 > 0).sum(axis=1)
        else:
            times = (prompts == NOTHING).sum(axis=1) // (2 if name == "arithmetic_flat_leftmost" else 1)
        assert np.abs(np.bincount(times, minlength=5) - 500).max() < 5 * 20 and times.max() == 4


@pytest.mark.parametrize("name", [name for name in ANSWERS if make(name).readout == "tags"])
def test_finished_states_are_asked_for_themselves(name: str) -> None:
    task, finished = make(name), 0
    for size in (1, 2, 4):
        samples = task.draw(size, 3, range(200))
        for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
            state = task.read(task.spelled(prompt))
            assert task.apply(state, task.spelled(answer)) == (task.step(state) or state)
            finished += task.step(state) is None
    assert finished > 20


WORKED = [
    ("parity_leftmost", "1 0 1 1", "1 drop keep keep"),
    ("parity_leftmost", "1", "keep"),
    ("parity_appended", "1 0 1 1", "1 1 0 1"),
    ("parity_columns", "1|1 0|· 1|· 1|·", "1|1 0|1 1|· 1|·"),
    ("addition_appended", "1 0 1 + 1 1 0", "0 0 0 1"),
    ("addition_columns", "1|1|0|1 0|1|·|· 0|0|·|·", "1|1|0|1 0|1|0|1 0|0|·|·"),
    (
        "addition_marked",
        "1|a 0|· +|· 1|b 1|· =|· _|c0 _|· _|·",
        "1|· 0|a +|· 1|· 1|b =|· 0|· _|c1 _|·",
    ),
    (
        "addition_marked_alike",
        "1|^ 0|· +|· 1|^ 1|· =|· _|c0 _|· _|·",
        "1|· 0|^ +|· 1|· 1|^ =|· 0|· _|c1 _|·",
    ),
    ("addition_three_lines", "1|1|2 0|1|· 0|0|·", "1|1|2 0|1|2 0|0|·"),
    ("division_columns", "1|3|0|1 0|3|·|· 1|3|·|·", "1|3|0|1 0|3|0|2 1|3|·|·"),
    ("division_appended", "1 0 1 / 3", "0 0 1"),
    ("division_columns:base=10,most=9", "9|7|1|2 3|7|·|·", "9|7|1|2 3|7|3|2"),
    ("multiplication_appended", "1 1 * 1 1", "1 0 0 1"),
    (
        "multiplication_two_lines",
        "1|j 1|· *|· 1|i 1|· =|· 0|>k0 0|· 0|· 0|·",
        "1|· 1|j *|· 1|i 1|· =|· 1|> 0|k0 0|· 0|·",
    ),
    ("copy_pointer", "0|· 1|^ 1|· =|· 0|· _|· _|·", "0|· 1|· 1|^ =|· 0|· 1|· _|·"),
    (
        "multiplication_marked",
        "1|j|· 1|·|· *|·|· 1|i|· 1|·|· =|·|· 0|k0|> 0|·|· 0|·|· 0|·|·",
        "1|·|· 1|j|· *|·|· 1|i|· 1|·|· =|·|· 1|·|> 0|k0|· 0|·|· 0|·|·",
    ),
    ("arithmetic_parenthesised", "( ( 3 + 2 ) * 4 )", "keep drop drop 5 drop drop keep keep keep"),
    ("arithmetic_flat", "3 + 2 * 4 - 1 * 6", "keep keep drop 1 drop keep drop 6 drop"),
    ("arithmetic_flat", "3 - 2 + 4 * 1 * 6", "drop 1 drop keep drop 4 drop keep keep"),
    ("arithmetic_flat_leftmost", "3 + 2 * 4 - 1 * 6", "keep keep drop 1 drop keep keep keep keep"),
]


@pytest.mark.parametrize("name, prompt, answer", WORKED)
def test_worked_examples(name: str, prompt: str, answer: str) -> None:
    assert make(name).solve(prompt.split()) == tuple(answer.split())


BAD = [
    ("parity_appended", "1 2"),
    ("parity_columns", "1"),
    ("addition_appended", "1 0 + 1"),
    ("addition_appended", "1 0 1"),
    ("addition_marked", "1|a 0|· +|· 1|· 1|b =|· _|c0 _|· _|·"),
    ("addition_marked", "1|a 0|·"),
    ("division_appended", "1 0 1"),
    ("division_appended", "1 / 0"),
    ("multiplication_appended", "1 * 1 1"),
    ("multiplication_two_lines", "1|j *|· 1|i =|· 0|> 0|·"),
    ("copy_distinct_steps", "1 1"),
    ("copy_pointer", "0|^ =|· 0|·"),
    ("multiplication_marked", "1|j|· *|·|· 1|i|· =|·|· 0|·|> 0|·|·"),
    ("arithmetic_parenthesised", "( 3 + 2"),
    ("arithmetic_parenthesised", "( 3 + 2 ) )"),
    ("arithmetic_flat", "3 + *"),
    ("arithmetic_flat", "3 + 2 keep"),
]


@pytest.mark.parametrize("name, prompt", BAD)
def test_bad_prompts_are_usage_errors(name: str, prompt: str) -> None:
    with pytest.raises(UsageError):
        make(name).solve(prompt.split())


def test_a_modulus_that_is_not_prime_is_refused() -> None:
    with pytest.raises(UsageError):
        make("arithmetic_flat:prime=6")
