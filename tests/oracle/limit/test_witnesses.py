"""Limit transformers that answer the real-valued tasks: against the solvers, at every offset, and in `check`."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from lengthwise.oracle.check import check
from lengthwise.oracle.limit.witnesses import (
    Witness,
    marked_followers,
    marked_share,
    marked_wave,
    verify_witness,
    wave_pieces,
    witness_for,
)
from lengthwise.oracle.programs.prompts import BOS, SEP
from lengthwise.tasks import tasks

SPECS = (
    "simple_task",
    "simple_task:omega=9",
    "modp_task:period=3,residue=2",
    "kgram_law:k=1",
    "kgram_law:k=3,letters=2",
)


@pytest.mark.parametrize("spec", SPECS)
def test_witnesses_agree_with_the_solvers(spec: str) -> None:
    task = tasks.make(spec)
    witness = witness_for(task)
    assert witness is not None and witness.error <= task.tolerance / 2
    tried = verify_witness(witness, task)
    assert tried.wrong is None and tried.difference <= witness.error + 1e-9
    assert tried.checked_to >= 5 and tried.sampled_to >= 64 and tried.prompts > 100


def test_rational_witnesses_are_exact_to_the_last_digit() -> None:
    """In rational numbers there is no tolerance to hide in; long, lopsided prompts included."""
    draw = random.Random(3)
    for length in (4, 7, 20):
        bits = [draw.choice("0001") for _ in range(length)]
        for period, residue, start in ((2, 1, 0), (3, 0, 2), (4, 3, 3)):
            chosen = bits[residue::period]
            found = marked_share(period, residue, start).answer([BOS, *bits, SEP])
            assert found == (Fraction(chosen.count("1"), len(chosen)),)
        word = [draw.choice("ab") for _ in range(length)]
        followers = [b for a, b in itertools.pairwise(word) if a == word[-1]]
        if followers:
            shares = tuple(Fraction(followers.count(letter), len(followers)) for letter in "ab")
            assert marked_followers(("a", "b"), 1).answer([BOS, *word, SEP]) == shares


@pytest.mark.parametrize(("omega", "error"), [(1.0, 0.05), (7.0, 0.05), (3.0, 0.001)])
def test_pieces_keep_their_error_at_every_share(omega: float, error: float) -> None:
    """Attack: a fine grid of shares; and half the pieces are too few, so the number is of the right order."""
    words = [[BOS, *"1" * ones, *"0" * (257 - ones), SEP] for ones in range(0, 258, 3)]

    def worst(pieces: int) -> float:
        model, task = marked_wave(omega, pieces), tasks.make(f"simple_task:omega={omega}")
        return max(abs(model.answer(word)[0] - task.solve(word[1:-1])[0]) for word in words)

    pieces = wave_pieces(omega, error)
    assert worst(pieces) <= omega**2 / (2 * pieces**2) + 1e-9 <= error + 2e-9
    assert worst(max(1, pieces // 3)) > error


def test_a_wrong_witness_is_refused() -> None:
    task = tasks.make("modp_task:period=3")
    wrong = Witness(lambda offset: marked_share(3, 1, offset), 0.0, True, 2, 3)
    assert verify_witness(wrong, task).wrong is not None
    coarse = replace(witness_for(tasks.make("simple_task:omega=9")), build=lambda _: marked_wave(9.0, 4))
    assert verify_witness(coarse, tasks.make("simple_task:omega=9")).wrong is not None


def test_check_uses_them_where_it_is_proved() -> None:
    simple = check("simple_task", quick=True).verdicts
    assert {name: verdict.outlook for name, verdict in simple.items()} == {
        "none": "can hold",
        "learned+offset": "can hold",
        "learned": "unknown",
        "rope": "can hold",
        "alibi": "unknown",
    }
    assert simple["none"].grounds == simple["rope"].grounds == "proved"
    for name in ("modp_task", "kgram_law"):
        verdicts = check(name, ["none", "learned+offset", "rope", "t5"], quick=True).verdicts
        assert [verdict.outlook for verdict in verdicts.values()] == ["unknown", "can hold", "unknown", "unknown"]
        assert verdicts["learned+offset"].deciding.key == "limit"
    assert check("modp_task", ["learned+offset"], quick=True).limits and not check("kgram_law", quick=True).limits
