"""Automata guessed from solvers, and what is concluded from them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from lengthwise.oracle.crasp import guess as guessing
from lengthwise.oracle.crasp.automata import Word
from lengthwise.oracle.crasp.guess import guess_automaton, learn
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.task import Axis, Task
from oracle.crasp.random_automata import random_automaton, words


@pytest.mark.parametrize(
    ("name", "states", "none", "absolute"),
    [
        ("parity", 2, False, False),
        ("parity_check", 3, False, False),  # a state for the empty prompt, which has no answer
        ("even_pairs", 5, False, True),  # the last letter is seen with positions alone
        ("cycle_navigation", 5, False, False),
        ("cycle_navigation:modulus=3", 3, False, False),
        ("regular_member:expression=(ab)*", 3, True, True),
        ("regular_member:expression=(ab|bba)*", 5, False, True),
    ],
)
def test_tasks(name: str, states: int, none: bool, absolute: bool) -> None:
    guess = guess_automaton(tasks.make(name))
    assert guess is not None and len(guess.machine.transitions) == states
    assert guess.everywhere is (name != "regular_member:expression=(ab)*")  # which has no words of odd length to tell
    plain, placed = guess.decide(), guess.decide(positions=True)
    assert (plain.member, placed.member) == (none, absolute)
    claim = plain.claim()
    assert claim.kind == "predicted" and claim.status == ("holds" if none else "refuted")
    assert claim.assumptions[0].values["checked_to"] == guess.checked_to and claim.assumptions[0].check == "assumed"
    assert placed.member is absolute and json.dumps(placed.claim().plain())


@pytest.mark.parametrize("name", ["binary_majority", "sort", "copy_repeat", "addition", "tomita_3", "simple_task"])
def test_tasks_without_one(name: str) -> None:
    assert guess_automaton(tasks.make(name)) is None


def test_the_languages_are_those_of_the_answers() -> None:
    task = tasks.make("cycle_navigation:modulus=3")
    guess = guess_automaton(task, longest=4)
    assert guess is not None and guess.checked_to == 4
    languages = guess.languages()
    assert set(languages) == {"0", "1", "2"}
    for word in words(("-1", "0", "1"), 5):
        assert [answer for answer, dfa in languages.items() if dfa.accepts(word)] == list(task.solve(word))


CLOCK = [0.0]  # seconds, as slow solvers take them


@dataclass(frozen=True)
class Odd(Task):
    """A task made for these tests: `kind` says how it misbehaves."""

    kind: str = ""
    axes = (Axis("length", "symbols in the prompt"),)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1")

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        if self.kind == "promise":
            prompts[:, 1:] = prompts[:, :1]
        return Samples(prompts, prompts[:, :1])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        ones = sum(symbol == "1" for symbol in prompt)
        if self.kind == "partial" and ones > 8:
            raise KeyError("too many ones")
        if self.kind == "two" and ones > 8:
            return ["0", "0"]
        if self.kind == "late":  # differs from a small machine on long words alone
            return [str(int(ones % 2 == 1 and len(prompt) < 150))]
        if self.kind == "slow":
            CLOCK[0] += 0.02
        return [str(ones % 2)]


@pytest.mark.parametrize("kind", ["partial", "two", "late"])
def test_misbehaving_tasks_have_none(kind: str) -> None:
    assert guess_automaton(Odd(kind), seconds=1.0) is None


def test_a_slow_solver_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only the solver moves: it is asked no more once the seconds are over."""
    monkeypatch.setattr(guessing, "time", SimpleNamespace(monotonic=lambda: CLOCK[0]))
    began = CLOCK[0]
    assert guess_automaton(Odd("slow"), seconds=0.3) is None
    assert 0.3 < CLOCK[0] - began < 0.35


def test_a_task_that_does_not_ask_every_word_gets_no_refusal() -> None:
    guess = guess_automaton(Odd("promise"))
    assert guess is not None and not guess.everywhere
    decision = guess.decide()
    assert decision.member is None and decision.claim().status == "unknown"


def test_learning_finds_the_minimal_automaton() -> None:
    source = random.Random(41)
    for _ in range(80):
        dfa = random_automaton(source, source.randint(2, 5), 2).minimised()
        count = len(dfa.transitions)

        def answer(word: Word, dfa: Dfa = dfa) -> str:
            return "yes" if dfa.accepts(word) else "no"

        machine = learn(answer, dfa.alphabet, lambda: words(("a", "b"), 8), count)  # 2 x 5 - 2 letters tell any two
        assert machine is not None
        accepting = frozenset(state for state, given in enumerate(machine.answers) if given == "yes")
        assert Dfa(dfa.alphabet, machine.transitions, 0, accepting).minimised() == dfa
        if count > 1:
            assert learn(answer, dfa.alphabet, lambda: words(("a", "b"), 8), count - 1) is None
