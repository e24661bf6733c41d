"""Cuts: the bound at a size is right, growth is told, and nothing with a program is ever flagged."""

import csv
import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.communication import _PROOFS, cut_growth
from lengthwise.oracle.cuts import cut_after_prompt, cut_inside, pairwise_distinguished
from lengthwise.oracle.programs.find import find_program, program_for
from lengthwise.oracle.programs.syntax import Count, locality, period, walk
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import Addition, CopyRepeat
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.task import Task
from published_names import ALGORITHMIC, TABLE

FLAGGED = ["copy_repeat", "addition", "binary_addition"]
ALIKE = ["reverse_string", "duplicate_string", "odds_first"]  # as copy_repeat
NOT_FLAGGED = ["parity", "binary_majority", "majority", "dyck_1", "anbn", "bucket_sort", "shuffle_2", "kgram"]


@functools.cache
def growth_of(name):
    """Measured once for all tests."""
    return cut_growth(tasks.make(name))


@pytest.mark.parametrize("name", [*FLAGGED, *(pytest.param(name, marks=pytest.mark.system) for name in ALIKE)])
def test_linear_growth_is_flagged_with_a_witness_that_can_be_checked(name):
    task = tasks.make(name)
    growth = growth_of(name)
    assert growth.flags is True and growth.proof is not None and growth.claim().kind == "proved"
    _check_witness(task, growth.witness)
    assert len(growth.explain()) == 5


@pytest.mark.parametrize("name", NOT_FLAGGED)
def test_what_grows_slowly_is_not_flagged(name):
    growth = growth_of(name)
    assert growth.flags is False
    assert growth.claim().status == "unknown", "not seen is not refuted"


@pytest.mark.parametrize("name", ["copy_unique", "sort", "associative_recall"])
def test_bounded_sizes_say_nothing(name):
    growth = cut_growth(tasks.make(name))
    assert growth.flags is None and growth.reason == "cuts.bounded"


def test_an_automaton_bounds_the_memory():
    claim = cut_growth(tasks.make("tomita_5")).claim()
    assert (claim.value, claim.status, claim.kind) == (False, "refuted", "proved")


def _check_witness(task, witness):
    """The two texts are prompts with the answers so far as the solver has them, and they need different next tokens."""
    following = []
    for beginning, said in ((witness.one, witness.after_one), (witness.other, witness.after_other)):
        text = (*beginning, *witness.continuation)
        place = text.index("<sep>")
        answer = (*task.solve(text[:place]), "<eos>")
        written = text[place + 1 :]
        assert answer[: len(written)] == written
        assert said == f"`{answer[len(written)]}`"
        following.append(answer[len(written)])
    assert following[0] != following[1]


@dataclass(frozen=True)
class OwnCopy(CopyRepeat):
    """A user's task: nobody has an argument for it."""


@dataclass(frozen=True)
class OwnAddition(Addition):
    """The same."""


@dataclass(frozen=True)
class LookUp(Task):
    """The bit at a place given in unary at the end: `0 1 1 # #` → the second bit. One bit of answer, much memory."""

    @property
    def symbols(self):
        return ("0", "1", "#")

    def has(self, size):
        return size >= 2 and size % 2 == 0

    def sample(self, size, draws):
        half = size // 2
        bits = draws.integers(0, 2, half)
        place = draws.integers(0, half, 1)
        marks = np.where(np.arange(half) <= place, 2, draws.integers(0, 2, half))
        return Samples(np.concatenate([bits, marks], axis=1), np.take_along_axis(bits, place, axis=1))

    def solve(self, prompt):
        half = len(prompt) // 2
        if len(prompt) % 2 or "#" in prompt[:half] or prompt[half] != "#":
            raise UsageError("bits, then as many symbols that begin with #")
        marks = "".join(prompt[half:])
        return (prompt[len(marks) - len(marks.lstrip("#")) - 1],)


@pytest.mark.parametrize("own", [OwnCopy(), OwnAddition(), LookUp()], ids=["copy", "addition", "lookup"])
def test_a_users_task_is_flagged_as_evidence_and_not_as_proof(own):
    growth = cut_growth(own)
    assert growth.flags is True and growth.proof is None
    claim = growth.claim()
    assert claim.kind == "heuristic" and claim.assumptions[0].check == "assumed"
    _check_witness(own, growth.witness)


@pytest.mark.parametrize("cls", list(_PROOFS), ids=lambda cls: cls.__name__)
def test_a_proved_number_of_answers_is_reached_by_prompts_the_task_draws(cls):
    task = cls()
    proof = _PROOFS[cls]
    for size in [size for size in range(1, 8) if task.has(size)]:
        drawn = task.draw(size, seed=0, items=np.arange(6000), role="proof")
        answers = {tuple(row) for row in drawn.answers.tolist()}
        assert len(answers) >= proof.answers(size) > 0 or proof.answers(size) <= 0
    assert math.log2(proof.answers(60)) > 20, "linear"


def _brute_clique(table):
    """The largest set of rows pairwise distinguished, by trying all sets."""

    def apart(one, other):
        return any(a != b and a >= 0 and b >= 0 for a, b in zip(table[one], table[other], strict=True))

    rows = range(len(table))
    return max(
        count
        for count in range(len(table) + 1)
        if any(
            all(apart(a, b) for a, b in itertools.combinations(some, 2)) for some in itertools.combinations(rows, count)
        )
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_rows_chosen_are_pairwise_distinguished_and_never_more_than_possible(seed):
    generator = np.random.default_rng(seed)
    table = generator.integers(-1 if seed % 2 else 0, 3, (7, 4))
    chosen = pairwise_distinguished(table)
    for one, other in itertools.combinations(chosen, 2):
        assert any(a != b and a >= 0 and b >= 0 for a, b in zip(table[one], table[other], strict=True))
    best = _brute_clique(table)
    assert len(chosen) <= best
    if seed % 2 == 0:  # nothing undefined: exact
        assert len(chosen) == best


def test_prompts_with_one_answer_are_one_row_after_the_prompt():
    cut = cut_after_prompt({("a",): ("x",), ("b",): ("x",), ("c",): ("x", "y")})
    assert cut.distinguished == 2
    assert cut.witness is not None and cut.witness.continuation == ("x",)
    inside = cut_inside({(("a",), ("c",)): ("x",), (("b",), ("c",)): ("y",), (("b",), ("d",)): ("y",)}, "", True)
    assert inside.distinguished == 2 and inside.rows == 2


@pytest.mark.parametrize(
    "name", [*NOT_FLAGGED, "even_pairs", "interleaved_majority", "induction", "anbncn", "bounded_dyck_k"]
)
def test_a_program_never_needs_to_remember_more_than_it_can(name):
    """The lemma, attacked: counts at the cut, the phase and the window are all that a program carries over."""
    task = tasks.make(name)
    program = program_for(task, "absolute")
    if program is None:
        return
    growth = growth_of(name)
    assert growth.flags is not True
    far = locality(program).total
    for size, bits in zip(growth.sizes, growth.distinguished, strict=True):
        window = far * math.log2(len(task.vocabulary))
        nodes = (node for line in program.lines for node in walk(line.expression))
        counts = sum(isinstance(node, Count) and node.back is None for node in nodes)
        carried = counts * math.log2(size + 2) + math.log2(period(program)) + window
        assert math.log2(bits) <= carried


def _published():
    with TABLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            encoding = {"ape_random_offset": "absolute", "nope": "none"}.get(row["encoding"])
            if row["task"] in ALGORITHMIC and encoding:
                yield ALGORITHMIC[row["task"]], encoding, row["predicted_to_generalize"] == "True"


def test_no_published_flag_of_the_tasks_that_are_not_regular_is_contradicted():
    verdicts = {}
    for name, encoding, holds in _published():
        task = tasks.make(name)
        found = find_program(task, encoding, budget_seconds=0.1)
        verdict = found.right if found else None
        if verdict is None and growth_of(name).flags:
            verdict = False
        assert verdict in (holds, None), f"{name} with {encoding}"
        verdicts[name, encoding] = verdict
    assert len(verdicts) == 16
    unknown = {key for key, verdict in verdicts.items() if verdict is None}
    assert unknown == {
        ("interleaved_majority", "none"),
        ("copy_unique", "none"),
        ("parity", "none"),
        ("parity", "absolute"),
    }


def test_bad_input_is_one_sentence():
    with pytest.raises(UsageError, match="numbers"):
        cut_growth(tasks.make("simple_task"))
    with pytest.raises(UsageError, match="no items"):
        cut_growth(tasks.make("dyck_1"), sizes=[3])
    with pytest.raises(UsageError, match="no items"):
        cut_growth(tasks.make("parity"), sizes=[])
    assert cut_growth(tasks.make("parity"), sizes=[3, 5]).sizes == (3, 5)
