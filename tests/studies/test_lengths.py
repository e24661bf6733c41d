"""The study behind train-length: the tasks of a family, their encodings, and which lengths come next."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.errors import UnknownName, UsageError
from lengthwise.studies.grid import plans
from lengthwise.studies.lengths import FURTHEST, LengthQuestion, family_of, next_lengths, position_for, read_sizes
from lengthwise.tasks import tasks


def test_a_family_has_its_usual_values_or_those_given() -> None:
    name, found = family_of("simple_task", None)
    assert name == "simple_task-omega" and [tasks.make(one) for one in found] == [
        tasks.make(f"simple_task:omega={omega}") for omega in (1, 2, 4, 8)
    ]
    name, found = family_of("kgram_law:letters=2", "k=1,2")
    assert name == "kgram_law-k" and [tasks.make(one) for one in found] == [
        tasks.make("kgram_law:letters=2,k=1"),
        tasks.make("kgram_law:letters=2,k=2"),
    ]
    assert family_of("modp_task:period=4", "")[1] == ("modp_task:period=4",)


@pytest.mark.parametrize(
    ("task", "vary"),
    [
        ("sort", None),
        ("simple_task", "omega"),
        ("simple_task", "omega="),
        ("simple_task", "omga=1"),
        ("simple_task", "omega=a"),
        ("modp_task", "period=2.5"),
        ("modp_task", "period=0"),
    ],
)
def test_what_is_no_family_is_refused(task: str, vary: str | None) -> None:
    with pytest.raises(UsageError):
        family_of(task, vary)


OWN = """
from dataclasses import dataclass
from lengthwise.tasks.formulations.arctan import ArctanCount
@dataclass(frozen=True)
class Mine(ArctanCount):
    flip: bool = False
"""


@pytest.mark.wording
def test_settings_that_are_true_or_false_have_no_lengths(tmp_path: Path) -> None:
    """`bool("false")` is true, so that both values would be one task."""
    (tmp_path / "mine.py").write_text(OWN)
    assert len(family_of(f"{tmp_path / 'mine.py'}::Mine", "scale=1,2")[1]) == 2
    with pytest.raises(UsageError, match="has no setting 'flip' that is a number"):
        family_of(f"{tmp_path / 'mine.py'}::Mine", "flip=true,false")


@pytest.mark.wording
def test_a_measure_that_a_task_has_not_is_refused() -> None:
    assert LengthQuestion("f", ("simple_task",), 0.1, "dirichlet").measure == "dirichlet"
    with pytest.raises(UsageError, match="no setting dirichlet"):
        LengthQuestion("f", ("simple_task", "arctan_count"), 0.1, "dirichlet")


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownName):
        family_of("simpel_task", None)


@pytest.mark.parametrize(
    "wrong",
    [{"error": 0.0}, {"error": 1.0}, {"minutes": 0.0}, {"minutes": -1.0}, {"sizes": (8, 16)}, {"sizes": (8, 32, 16)}],
)
def test_a_question_that_makes_no_sense_is_refused(wrong) -> None:
    with pytest.raises(UsageError):
        LengthQuestion(**{"family": "f", "tasks": ("simple_task",), "error": 0.1, **wrong})


def test_sizes_are_numbers() -> None:
    assert read_sizes("4,8,16") == (4, 8, 16)
    with pytest.raises(UsageError):
        read_sizes("4,x")


def test_every_task_has_its_encoding_and_its_lengths() -> None:
    name, found = family_of("modp_task", "period=2,5")
    question = LengthQuestion(name, found, 0.05, sizes=(4, 8, 16, 32), seeds=(7, 8))
    lengths = next_lengths(question.first(), [found[0]], 4)
    made = plans(question.study(lengths, 5.0))
    assert {(plan.task_name, plan.position_name) for plan in made} == {
        (one, position_for(tasks.make(one))) for one in found
    }
    assert sorted({(plan.task_name, plan.train_size) for plan in made}) == sorted(
        [*((found[0], size) for size in (4, 8, 16)), *((found[1], size) for size in (4, 8, 16, 32))]
    )
    assert {plan.test_size // plan.train_size for plan in made} == {FURTHEST} and {plan.seed for plan in made} == {7, 8}


def test_lengths_grow_until_there_are_no_more() -> None:
    assert next_lengths({"a": 3, "b": 4}, [], 4) == {"a": 4, "b": 4}
    assert next_lengths({"a": 3, "b": 4}, ["a"], 4) == {"a": 3, "b": 4}
    assert position_for(tasks.make("kgram_law:k=3")) == "local:window=3,sharpen=log"
