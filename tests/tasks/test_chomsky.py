"""The suite of Delétang et al. 2023: the contract, answers worked out by hand, and brute force at small sizes."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.chomsky.binary import positive
from lengthwise.tasks.chomsky.strings import DELETANG
from lengthwise.tasks.task import Task
from lengthwise.testing.tasks import check_task

ANY, ODD, EVEN, THREE = (1, 2, 3, 8, 20, 151), (1, 3, 9, 21, 151), (2, 4, 20, 150), (3, 4, 5, 8, 20, 151)
SIZES = {
    "even_pairs": ANY,
    "modular_arithmetic": ODD,
    "parity_check": ANY,
    "cycle_navigation": ANY,
    "modular_arithmetic_brackets": (1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 151),
    "reverse_string": ANY,
    "stack_manipulation": ANY,
    "solve_equation": (3, 4, 5, 6, 7, 8, 9, 20, 151),
    "duplicate_string": ANY,
    "missing_duplicate_string": EVEN,
    "odds_first": ANY,
    "binary_addition": THREE,
    "binary_multiplication": THREE,
    "compute_sqrt": (1, 2, 3, 7, 8, 9, 15, 16, 17, 150, 301),
    "bucket_sort": ANY,
}
SETTINGS = (
    "modular_arithmetic:modulus=2",
    "modular_arithmetic:modulus=12",
    "cycle_navigation:modulus=2",
    "modular_arithmetic_brackets:multiplication=False",
    "modular_arithmetic_brackets:modulus=12",
    "solve_equation:modulus=2",
    "reverse_string:alphabet=11",
    "duplicate_string:alphabet=4",
    "odds_first:alphabet=3",
    "bucket_sort:alphabet=2",
)
WORKED = (
    ("even_pairs", "0 0 1 1 1 0", "0"),
    ("even_pairs", "0 1 0 1 0 0 1", "1"),
    ("even_pairs", "1", "0"),
    ("modular_arithmetic", "1 + 2 * 3", "2"),
    ("modular_arithmetic", "1 - 1 - 1", "4"),
    ("modular_arithmetic", "0 * 1 + 4 * 3 - 2", "0"),
    ("modular_arithmetic", "2 - 3 * 4 * 2 + 1", "4"),  # 2 - 24 + 1 = -21
    ("parity_check", "1 0 1 0 1 0 0", "1"),
    ("parity_check", "0 1 1 1 1", "0"),
    ("cycle_navigation", "1 -1 0 -1 -1", "3"),
    ("cycle_navigation", "1 1 1 -1", "2"),
    ("cycle_navigation:modulus=3", "1 1 1 1", "1"),
    ("modular_arithmetic_brackets", "( ( 1 - 3 ) * - 4 )", "3"),
    ("modular_arithmetic_brackets", "( - 3 - - 2 )", "4"),
    ("modular_arithmetic_brackets", "- 1", "4"),
    ("modular_arithmetic_brackets", "( 3 )", "3"),
    ("modular_arithmetic_brackets", "( 4 - ( 1 - ( 2 + 4 ) ) )", "4"),  # 4 - (1 - 6) = 9
    ("reverse_string", "0 1 1 0 1 0", "0 1 0 1 1 0"),
    ("reverse_string:alphabet=4", "1 2 3 0 2 1", "1 2 0 3 2 1"),
    ("stack_manipulation", "0 1 1 0 push1 pop pop", "1 1 0"),
    ("stack_manipulation", "1 1 0 pop pop pop", ""),
    ("stack_manipulation", "1 pop pop push0 push1", "1 0"),  # the second pop finds nothing
    ("stack_manipulation", "1 0", "0 1"),
    ("solve_equation", "( ( 1 - x ) + 2 ) = 4", "4"),
    ("solve_equation", "x = 3", "3"),
    ("solve_equation", "- x = 3", "2"),
    ("solve_equation", "( 2 - ( 1 - x ) ) = 0", "4"),
    ("duplicate_string", "1 0 1", "1 0 1 1 0 1"),
    ("missing_duplicate_string", "0 1 1 0 0 _ 1 0", "1"),
    ("missing_duplicate_string", "1 _ 1 1 0 1", "0"),
    ("missing_duplicate_string", "_ 1", "1"),
    ("odds_first", "0 0 1 1 0 1 0 1", "0 1 0 0 0 1 1 1"),
    ("odds_first", "1 1 0", "1 0 1"),
    ("odds_first:alphabet=7", "1 2 3 4 5 6", "1 3 5 2 4 6"),
    ("binary_addition", "0 1 0 0 1 + 0 1 1", "0 0 0 1 1"),  # 18 + 6 = 24
    ("binary_addition", "0 0 1 + 0 1 1 0 1", "0 1 0 1 1"),  # 4 + 22 = 26
    ("binary_addition", "1 + 1", "0 1"),
    ("binary_addition", "1 0 0 + 1 1 1", "0 0 0 1"),  # 1 + 7 = 8: the carry runs to the end
    ("binary_multiplication", "0 0 1 * 0 1 1 0 1", "0 0 0 1 1 0 1"),  # 4 * 22 = 88
    ("binary_multiplication", "1 0 0 1 * 0 0 0 0 0 1", "0 0 0 0 0 1 0 0 1"),  # 9 * 32 = 288
    ("binary_multiplication", "1 * 1", "1"),
    ("compute_sqrt", "1 0 0 1 0 1", "1 1 0"),  # 37 → 6
    ("compute_sqrt", "1 1 1", "1 0"),  # 7 → 2
    ("compute_sqrt", "1 1 0", "1 0"),  # 6 → 2
    ("compute_sqrt", "0 0 0 0 1", "0 0 1"),
    ("bucket_sort", "1 0 2 0 4 1 1 2", "0 0 1 1 1 2 2 4"),
    ("bucket_sort", "1 1 1 0 0 0 1", "0 0 0 1 1 1 1"),
)


@pytest.mark.parametrize("name", SIZES)
def test_keeps_the_contract(name: str) -> None:
    task = tasks.make(name)
    check_task(task, SIZES[name])
    assert DELETANG in task.facts.references


@pytest.mark.parametrize("spec", SETTINGS)
def test_keeps_the_contract_with_other_settings(spec: str) -> None:
    check_task(tasks.make(spec), (3, 11) if "modular" in spec else (4, 12))


@pytest.mark.parametrize(("spec", "prompt", "answer"), WORKED)
def test_worked_examples(spec: str, prompt: str, answer: str) -> None:
    assert list(tasks.make(spec).solve(prompt.split())) == answer.split()


@pytest.mark.parametrize("name", SIZES)
def test_a_size_is_the_exact_number_of_prompt_symbols(name: str) -> None:
    task = tasks.make(name)
    for size in task.sizes(1, 30):
        prompts = task.draw(size, seed=5, items=range(20)).prompts
        assert prompts.shape[1] == size and (prompts >= 0).all()


def test_sizes_the_original_rounds_do_not_exist() -> None:
    assert tasks.make("modular_arithmetic").sizes(0, 6) == [1, 3, 5]
    assert tasks.make("missing_duplicate_string").sizes(0, 6) == [2, 4, 6]
    for name in ("solve_equation", "binary_addition", "binary_multiplication"):
        assert tasks.make(name).sizes(0, 4) == [3, 4]
    for name, size in (("modular_arithmetic", 4), ("missing_duplicate_string", 5)):
        with pytest.raises(UsageError, match="no items of size"):
            tasks.make(name).draw(size, seed=0, items=range(2))


@pytest.mark.parametrize(
    ("spec", "prompt"),
    [
        ("even_pairs", ""),
        ("parity_check", "0 2"),
        ("cycle_navigation", "1 2"),
        ("modular_arithmetic", "1 +"),
        ("modular_arithmetic", "1 / 2"),
        ("modular_arithmetic", "5 + 1"),
        ("modular_arithmetic_brackets", "( 1 + 2"),
        ("modular_arithmetic_brackets", "1 )"),
        ("modular_arithmetic_brackets", "( 1 + 2 + 3 )"),
        ("modular_arithmetic_brackets", "( 1 + )"),
        ("modular_arithmetic_brackets", "( 1 2 )"),
        ("modular_arithmetic_brackets", "x"),
        ("modular_arithmetic_brackets:multiplication=False", "( 1 * 2 )"),
        ("solve_equation", "( x + x ) = 1"),
        ("solve_equation", "( 2 * x ) = 1"),
        ("solve_equation", "( 1 + x )"),
        ("solve_equation", "1 = x"),
        ("stack_manipulation", "1 pop 0"),
        ("missing_duplicate_string", "0 1 0"),
        ("missing_duplicate_string", "0 1 0 0"),
        ("missing_duplicate_string", "_ 0 _ _"),
        ("binary_addition", "1 0"),
        ("binary_addition", "+ 1"),
        ("binary_multiplication", "1 * 1 * 1"),
        ("compute_sqrt", "1 2"),
        ("bucket_sort", "7"),
    ],
)
def test_prompts_that_cannot_be_read(spec: str, prompt: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec).solve(prompt.split())


@pytest.mark.parametrize("spec", ["modular_arithmetic:modulus=1", "solve_equation:modulus=0", "bucket_sort:alphabet=1"])
def test_settings_without_a_task(spec: str) -> None:
    with pytest.raises(UsageError, match="at least 2"):
        tasks.make(spec)


def drawn(spec: str, size: int, items: int = 300) -> list[tuple[str, str]]:
    """Prompts and answers as text, from the sampler."""
    task = tasks.make(spec)
    samples = task.draw(size, seed=11, items=range(items))
    rows = zip(samples.prompts, samples.answers, strict=True)
    return [("".join(task.spelled(prompt)), "".join(task.spelled(answer))) for prompt, answer in rows]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 10, 15, 40])
def test_brackets_have_the_value_python_gives_them(size: int) -> None:
    for prompt, answer in drawn("modular_arithmetic_brackets", size):
        assert eval(prompt) % 5 == int(answer)


@pytest.mark.parametrize("size", [1, 3, 9, 25])
def test_arithmetic_has_the_value_python_gives_it(size: int) -> None:
    for prompt, answer in drawn("modular_arithmetic", size):
        assert eval(prompt) % 5 == int(answer)


@pytest.mark.parametrize("modulus", [2, 5, 6])
@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 12, 30])
def test_exactly_one_digit_solves_an_equation(size: int, modulus: int) -> None:
    for prompt, answer in drawn(f"solve_equation:modulus={modulus}", size, items=100):
        left, right = prompt.split("=")
        solutions = [x for x in range(modulus) if eval(left, {"x": x}) % modulus == int(right)]
        assert solutions == [int(answer)]


def test_the_unknown_takes_every_place() -> None:
    """`(d+d)` and `(d-d)`: x stands at 1 from the places 0, 1 and 4, and at 3 from 2 and 3."""
    places = Counter(prompt.index("x") for prompt, _ in drawn("solve_equation", 7, items=4000))
    assert set(places) == {1, 3} and abs(places[1] / 4000 - 3 / 5) < 0.04


def test_expressions_are_split_uniformly() -> None:
    """Seven symbols leave four for the operands: 1 + 3, 2 + 2 or 3 + 1."""
    prompts = [prompt for prompt, _ in drawn("modular_arithmetic_brackets:multiplication=False", 7, items=6000)]
    shapes = Counter("".join("d" if symbol.isdigit() else symbol for symbol in prompt) for prompt in prompts)
    expected = {f"({left}{op}{right})" for op in "+-" for left, right in (("d", "(d)"), ("-d", "-d"), ("(d)", "d"))}
    assert set(shapes) == expected
    assert all(abs(count - 1000) < 150 for count in shapes.values())


def test_stack_answers_by_matching_pops_backwards() -> None:
    """A pushed bit stays if no pop takes it: read from the right, each pop cancels the next push it meets."""
    task = tasks.make("stack_manipulation")
    for size in (1, 2, 3, 5, 12, 40):
        samples = task.draw(size, seed=2, items=range(200))
        for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
            left, pending = [], 0
            for symbol in reversed(task.spelled(prompt)):
                if symbol == "pop":
                    pending += 1
                elif pending:
                    pending -= 1
                else:
                    left.append(symbol[-1])
            assert list(task.spelled(answer)) == left


def test_stack_sampling() -> None:
    task = tasks.make("stack_manipulation")
    prompts = task.draw(5, seed=1, items=range(4000)).prompts
    given_bits = Counter((prompts < 2).sum(axis=1).tolist())
    assert set(given_bits) == {1, 2, 3, 4} and all(abs(count - 1000) < 150 for count in given_bits.values())


@pytest.mark.parametrize("size", [1, 2, 7, 8, 16, 53, 54, 64, 107, 150, 301])
def test_roots_are_floors(size: int) -> None:
    for prompt, answer in drawn("compute_sqrt", size):
        number, root = int(prompt, 2), int(answer, 2)
        assert root**2 <= number < (root + 1) ** 2
        assert len(answer) == -(-size // 2) and number > 0


@given(st.integers(1, 2**80))
@settings(max_examples=100, deadline=None)
def test_roots_next_to_squares(root: int) -> None:
    task = tasks.make("compute_sqrt")
    for number, floor in ((root**2 - 1, root - 1), (root**2, root), (root**2 + 2 * root, root)):
        assert int("".join(map(str, task.solve(list(f"{number:b}")))), 2) == floor


@pytest.mark.parametrize(("name", "sign"), [("binary_addition", "+"), ("binary_multiplication", "*")])
@pytest.mark.parametrize("size", [3, 4, 9, 40, 150])
def test_binary_arithmetic(name: str, sign: str, size: int) -> None:
    for prompt, answer in drawn(name, size):
        first, second = (int(part[::-1], 2) for part in prompt.split(sign))
        assert first > 0 and second > 0
        assert int(answer[::-1], 2) == (first + second if sign == "+" else first * second)
        assert answer.endswith("1")


def test_the_first_operand_takes_every_length() -> None:
    lengths = Counter(prompt.index("+") for prompt, _ in drawn("binary_addition", 6, items=4000))
    assert set(lengths) == {1, 2, 3, 4} and all(abs(count - 1000) < 150 for count in lengths.values())


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_positive_numbers_are_uniform(length: int) -> None:
    draws = Seeds(4).draws("test", items=range(20_000))
    bits = positive(draws, np.full(20_000, length), 6)
    counts = np.bincount(bits @ (1 << np.arange(6)), minlength=64)
    expected = 20_000 / (2**length - 1)
    assert counts[0] == 0 and (counts[2**length :] == 0).all()
    assert (np.abs(counts[1 : 2**length] - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("name", ["even_pairs", "parity_check"])
def test_bit_properties_by_counting(name: str) -> None:
    task = tasks.make(name)
    for bits in product("01", repeat=7):
        text = "".join(bits)
        changes = sum(text[i : i + 2] in ("01", "10") for i in range(6))
        expected = changes % 2 if name == "even_pairs" else text.count("1") % 2
        assert task.solve(bits) == [str(expected)]


@pytest.mark.parametrize("spec", ["modular_arithmetic_brackets:multiplication=False", "even_pairs", "solve_equation"])
def test_closed_form_chance_agrees_with_the_estimate(spec: str) -> None:
    task = tasks.make(spec)
    for size in (3, 9, 20):
        estimate = Task.chance(task, size)
        assert abs(task.chance(size).exact - estimate.exact) < 0.07


@pytest.mark.parametrize("spec", ["reverse_string:alphabet=3", "duplicate_string", "odds_first"])
def test_closed_form_chance_of_strings(spec: str) -> None:
    task = tasks.make(spec)
    estimate, chance = Task.chance(task, 3), task.chance(3)
    assert abs(chance.exact - estimate.exact) < 0.05 and abs(chance.token - estimate.token) < 0.05
