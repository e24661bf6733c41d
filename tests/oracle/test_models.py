"""Models that are not our Transformer: every "can" is carried out by weights, every "cannot" attacked."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from lengthwise.errors import UsageError
from lengthwise.models.named import models
from lengthwise.oracle.asked_model import _USUAL, asked_model, state_numbers
from lengthwise.oracle.check import check, model_verdict
from lengthwise.oracle.communication import _PROOFS
from lengthwise.oracle.crasp.promise import Promise, everything, prefixes
from lengthwise.oracle.crasp.quick import transition_monoid
from lengthwise.oracle.reflections import permutations, reflections
from lengthwise.oracle.theories.transitions import followed
from lengthwise.oracle.turns import actions, apart, circle_lengths, turn
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import CopyRepeat
from lengthwise.tasks.batch import Readout, Samples
from lengthwise.tasks.chomsky.binary import BinaryMultiplication
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.task import Task
from oracle.crasp.random_automata import random_automaton

RNG = np.random.default_rng(3)
STEEP = 50.0  # tanh of it is 1 in float32
OPEN, SHUT = 200.0, -200.0  # sigmoids of these are 1 and 0 in float32


# Theorem 1: automata in gated cells


def following_cells(dfa: Dfa, high: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weights of tanh cells of ±`high` that say which letter was read in which state, from a state of zeros on: one
    cell for each pair, and one that says that something was read. Input, recurrent weights and biases."""
    letters, states = len(dfa.alphabet), len(dfa.transitions)
    pairs = list(itertools.product(range(states), range(letters)))
    size = len(pairs) + 1
    entry, back, bias = torch.zeros(size, letters), torch.zeros(size, size), torch.zeros(size)
    for unit, (state, letter) in enumerate(pairs):
        into = [place for place, (p, a) in enumerate(pairs) if dfa.transitions[p][a] == state]
        first = 1.0 if state == dfa.start else -1.0  # is the state before anything was read
        back[unit, into] = 1 / high
        back[unit, -1] = (len(into) - 1 - first) / high
        entry[unit, letter], bias[unit] = 2.0, first - 2.0
    bias[-1] = 1.0
    return STEEP * entry, STEEP * back, STEEP * bias


def network_of(kind: str, dfa: Dfa) -> nn.Module:
    """A network of torch whose gates are saturated, so that it is those cells."""
    entry, back, bias = following_cells(dfa, np.tanh(1.0) if kind == "LSTM" else 1.0)
    size, gates = len(bias), {"LSTM": (OPEN, SHUT, None, OPEN), "GRU": (OPEN, SHUT, None)}[kind]
    network = getattr(nn, kind)(len(dfa.alphabet), size, batch_first=True)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for gate, constant in enumerate(gates):
            rows = slice(gate * size, (gate + 1) * size)
            network.bias_ih_l0[rows] = bias if constant is None else constant
            if constant is None:
                network.weight_ih_l0[rows], network.weight_hh_l0[rows] = entry, back
    return network


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_gated_cells_follow_random_automata_for_a_thousand_letters(kind: str) -> None:
    source = random.Random(1)
    for _ in range(4):
        dfa = random_automaton(source, source.randint(2, 7), source.randint(1, 3))
        network, letters = network_of(kind, dfa), len(dfa.alphabet)
        assert network.hidden_size == len(dfa.transitions) * letters + 1
        words = RNG.integers(0, letters, (3, 1000))
        with torch.no_grad():
            cells = network(nn.functional.one_hot(torch.tensor(words), letters).float())[0][..., :-1]
        assert ((cells > 0.7).sum(dim=-1) == 1).all() and ((cells.abs() - cells.abs().max()).abs() < 1e-5).all()
        said = cells.argmax(dim=-1).numpy()
        for word, row in zip(words, said, strict=True):
            states = dfa.run([dfa.alphabet[letter] for letter in word])
            assert [dfa.transitions[unit // letters][unit % letters] for unit in row] == list(states[1:])


def test_an_lstm_counts_and_says_the_sign() -> None:
    """Theorem 3 for one difference of counts: the cell adds 1 or -1, and the sign of its output compares them."""
    network = nn.LSTM(2, 1, batch_first=True)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.bias_ih_l0[:] = torch.tensor([OPEN, OPEN, 0.0, OPEN])
        network.weight_ih_l0[2] = torch.tensor([STEEP, -STEEP])
        bits = RNG.integers(0, 2, 4000)
        read, (_, cell) = network(nn.functional.one_hot(torch.tensor(bits), 2).float()[None])
    counts = np.cumsum(1 - 2 * bits)
    assert (np.sign(read[0, :, 0].numpy()) == np.sign(counts)).all() and cell.item() == counts[-1]


# Theorems 4 and 5: real transitions


def rounded(numbers: np.ndarray) -> np.ndarray:
    """Floating-point numbers with few digits, in which slow changes soon come to an end."""
    return (numbers.astype(np.float16).view(np.uint16) & 0xFFF0).view(np.float16)


def settled_period(layers: int, low: float, word: Sequence[int], rng: np.random.Generator) -> int:
    """The period, in words, of a random network of diagonal layers after very many repetitions; 0 if there is none."""
    width, last = 8, 20
    tokens, mixing = rng.normal(size=(3, width)), rng.normal(size=(layers, 2, width, 2 * width))
    states, seen = np.zeros((layers, width), dtype=np.float16), []
    for _ in range(500):
        for letter in word:
            x = tokens[letter]
            for layer, (gates, inputs) in enumerate(mixing):
                read = np.concatenate([x, tokens[letter]])
                gate = rounded(np.clip(gates @ read, low, 1))  # often one of the ends
                states[layer] = rounded(rounded(gate * states[layer]) + rounded(np.tanh(inputs @ read)))
                x = np.tanh(states[layer])
        seen = [*seen[-last:], states.tobytes()]
    return next((one for one in range(1, 9) if all(a == b for a, b in zip(seen, seen[one:], strict=False))), 0)


def test_diagonal_layers_settle() -> None:
    """Theorem 4: with transitions in [0, 1] to a fixed state, with [-1, 1] to a period that divides 2^layers."""
    rng = np.random.default_rng(0)
    periods = {low: set() for low in (0.0, -1.0)}
    for low, found in periods.items():
        for _ in range(4):
            found.add(settled_period(2, low, rng.integers(0, 3, rng.integers(1, 4)).tolist(), rng))
    assert periods[0.0] == {1} and periods[-1.0] <= {1, 2, 4}


def test_two_signed_layers_count_modulo_four() -> None:
    """The bound is attained: the second sign changes whenever the first is positive again."""
    first, second, seen = 1.0, 1.0, []
    for _ in range(40):
        first = -first
        second = second * (first if first < 0 else 1.0)
        seen.append((first, second))
    assert len(set(seen)) == 4 and seen == seen[:4] * 10


def test_every_circle_is_a_witness_and_without_one_words_settle() -> None:
    """Against the definition: a monoid is free of groups if every element has a power that is its own next power."""
    source, found = random.Random(7), 0
    for _ in range(150):
        dfa = random_automaton(source, source.randint(2, 5), source.randint(1, 3)).minimised()
        for promise in () if dfa.is_empty() else (everything(dfa), prefixes(dfa)):
            monoid = actions(promise)
            assert monoid is not None
            circle = turn(promise, monoid, 1)
            if promise.whole:
                assert (circle is None) == aperiodic(dfa)
            if circle is not None:
                found += 1
                assert_changes(promise, circle.lead, circle.word, len(circle.circle), circle)
    assert found > 20


def aperiodic(dfa: Dfa) -> bool:
    monoid = transition_monoid(dfa)
    assert monoid is not None
    for element in monoid.maps:
        power = element
        for _ in range(len(element)):
            power = element[power]
        if (power != element[power]).any():
            return False
    return True


def assert_changes(promise: Promise, lead, word, length: int, circle) -> None:
    """However often the word was read, reading it `steps` more times changes what is asked after the suffix."""
    for rounds in range(4):
        states = [promise.dfa.run([*lead, *word * (rounds * length + more)])[-1] for more in (0, circle.steps)]
        answers = [promise.answer(state, circle.clash.suffix, circle.clash.at_end) for state in states]
        assert answers == [circle.clash.answer, circle.clash.other] and None not in answers


# Theorem 6: the delta rule


@pytest.mark.parametrize("order", [1, 3])
def test_delta_with_positive_eigenvalues_settles(order: int) -> None:
    """A repeated word leaves the state as it is in the end, also for products of three factors, which may rotate."""
    for _ in range(20):
        keys = RNG.normal(size=(3 * order, 4))
        keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
        word, added = np.eye(4), np.zeros((4, 2))
        for k, beta, v in zip(
            keys, RNG.choice([0.0, 0.3, 1.0], 3 * order), RNG.normal(size=(3 * order, 2)), strict=True
        ):
            word = word - beta * np.outer(k, k @ word)
            added = added + beta * np.outer(k, v - k @ added)
        # From zeros, the states after one word more and one word fewer differ by the word's power times `added`.
        assert np.abs(np.linalg.matrix_power(word, 2**20) @ added).max() < 1e-6


# Theorem 7: products of reflections


def reflected(matrix: np.ndarray, most: int) -> list[np.ndarray]:
    """Unit vectors whose reflections multiply to an orthogonal matrix, the first applied first: each makes one further
    vector fixed (Cartan and Dieudonné)."""
    keys, left = [], matrix.copy()
    while np.abs(left - np.eye(len(left))).max() > 1e-8:
        moved = left - np.eye(len(left))
        step = moved[:, np.linalg.norm(moved, axis=0).argmax()]
        keys.append(step / np.linalg.norm(step))
        left = left - 2 * np.outer(keys[-1], keys[-1] @ left)
    assert len(keys) <= most
    return keys[::-1]


def follow_by_reflections(promise: Promise, length: int) -> None:
    """The delta rule with β = 2 and values of 0, in one layer, tells all states apart that need different answers."""
    found = reflections(promise)
    assert found is not None and found.heads
    kept, letters = sorted(promise.kept), len(promise.dfa.alphabet)
    keys = [[reflected(head.letters[letter], found.order) for letter in range(letters)] for head in found.heads]
    state, apart_from = kept.index(promise.dfa.start), apart(promise)
    vectors = [head.vectors[state].copy() for head in found.heads]
    row = {old: new for new, old in enumerate(kept)}
    for _ in range(length):
        moves = [letter for letter in range(letters) if promise.dfa.transitions[kept[state]][letter] in promise.kept]
        letter = int(RNG.choice(moves))
        state = row[promise.dfa.transitions[kept[state]][letter]]
        for head, vector in enumerate(vectors):
            for k in keys[head][letter]:
                vector -= 2 * k * (k @ vector)
        gaps = sum(
            ((head.vectors - vector) ** 2).sum(axis=1) for head, vector in zip(found.heads, vectors, strict=True)
        )
        assert not apart_from[state, int(gaps.argmin())]


def group(points: int, even: bool, letters: Sequence[tuple[int, ...]] = ()) -> Promise:
    """The word problem of a group of permutations: after every word the product is asked."""
    rows = [row for row in itertools.permutations(range(points)) if not even or not crossings(row) % 2]
    number = {row: place for place, row in enumerate(rows)}
    used = letters or rows
    table = tuple(tuple(number[tuple(row[point] for point in by)] for by in used) for row in rows)
    dfa = Dfa(tuple(map(str, range(len(used)))), table, 0, frozenset())
    return Promise(dfa, frozenset(range(len(rows))), tuple((*(None,) * len(used), place) for place in range(len(rows))))


def crossings(row: Sequence[int]) -> int:
    return sum(one > other for one, other in itertools.combinations(row, 2))


SWAPS = [(1, 0, 2, 3, 4), (0, 2, 1, 3, 4), (0, 1, 3, 2, 4), (0, 1, 2, 4, 3)]


@pytest.mark.parametrize(
    ("promise", "order"),
    [
        (group(2, False), 1),
        (group(3, False), 2),  # S3 in one layer: order 2 (siems2025)
        (group(4, False), 2),  # S4 and A5 turn in three dimensions, where two reflections are enough (siems2025)
        (group(5, True), 2),
        pytest.param(group(5, False), 4, marks=pytest.mark.system),  # S5: 4, and no fewer in one layer (siems2026)
        pytest.param(group(5, False, SWAPS), 1, marks=pytest.mark.system),  # S5 by swaps alone (grazzi2025)
    ],
)
def test_orders_of_groups_are_the_published_ones(promise: Promise, order: int) -> None:
    found = reflections(promise)
    assert found is not None and found.order == order
    follow_by_reflections(promise, 500)


def test_reflections_follow_random_automata_of_permutations() -> None:
    """Some letters are not asked in some states, so that they are permutations only in part."""
    source, followed_ones = random.Random(5), 0
    for _ in range(25):
        states, letters = source.randint(2, 6), source.randint(1, 3)
        moves = [source.sample(range(states), states) for _ in range(letters)]
        dead = [[source.random() < 0.2 for _ in range(states)] for _ in range(letters)]
        rows = [tuple(states if dead[a][q] else moves[a][q] for a in range(letters)) for q in range(states)]
        accepting = frozenset(q for q in range(states) if source.random() < 0.5)
        dfa = Dfa(tuple("abc"[:letters]), (*rows, (states,) * letters), 0, accepting)
        if dfa.is_empty():
            continue
        promise = prefixes(dfa)
        moved = permutations(promise)
        assert moved is not None and (np.sort(moved, axis=1) == np.arange(moved.shape[1])).all()
        found = reflections(promise)
        onward = all(any(to in promise.kept for to in promise.dfa.transitions[state]) for state in promise.kept)
        if found and found.heads and onward:
            followed_ones += 1
            follow_by_reflections(promise, 60)
    assert followed_ones > 8


# The verdicts


@pytest.mark.parametrize(
    ("task", "model", "outlook", "key"),
    [
        ("tomita_5", "lstm", "can hold", "gated"),
        ("tomita_5", "gru", "can hold", "gated"),
        ("tomita_5", "ssm", "cannot hold", "turns"),
        ("tomita_5", "ssm:negative=true,depth=1", "can hold", "mirrors"),
        ("tomita_6", "ssm:negative=true,depth=9", "cannot hold", "turns"),
        ("aaaa_star", "ssm:negative=true,depth=1", "cannot hold", "turns"),
        ("aaaa_star", "ssm:negative=true,depth=2", "can hold", "cascade"),
        ("tomita_4", "ssm", "can hold", "cascade"),
        ("tomita_5", "delta", "cannot hold", "turns"),
        ("tomita_5", "delta:negative=true", "can hold", "mirrors"),
        ("tomita_6", "delta:order=2", "cannot hold", "turns"),
        ("tomita_6", "delta:negative=true,depth=1", "cannot hold", "turns"),
        ("tomita_6", "delta:negative=true", "unknown", "none"),
        ("tomita_6", "delta:negative=true,order=2", "can hold", "mirrors"),
        ("tomita_4", "delta", "can hold", "cascade"),
        ("parity", "delta:negative=true,depth=1", "can hold", "mirrors"),
        ("parity", "ssm:depth=9", "cannot hold", "turns"),
        ("modular_arithmetic", "ssm:negative=true", "cannot hold", "turns"),
        ("modular_arithmetic", "lstm", "can hold", "gated"),
        ("modular_arithmetic", "delta:negative=true,order=51", "can hold", "mirrors"),
        ("anbn", "lstm", "can hold", "counters"),
        ("anbn", "gru", "cannot hold", "bounded"),
        ("anbn", "ssm", "can hold", "counters"),
        ("anbn", "delta:negative=true", "unknown", "none"),
        ("anbn", "delta:negative=true,order=2", "can hold", "counters"),
        ("tomita_6", "looped", "can hold", "loops"),
        ("tomita_6", "looped:loops=log", "can hold", "loops"),
        ("tomita_6", "looped:loops=6", "cannot hold", "crasp"),
        ("tomita_1", "looped:loops=6", "can hold", "crasp"),
        ("anbn", "looped", "can hold", "loops"),
        ("simple_task", "lstm", "unknown", "none"),
        ("tomita_5", "my.py::Net", "unknown", "none"),
    ],
)
def test_verdicts(task: str, model: str, outlook: str, key: str) -> None:
    verdict = check(task, model=model, quick=True).verdicts[model]
    assert (verdict.outlook, verdict.leading and verdict.leading.key) == (outlook, key), verdict.why
    assert json.dumps(verdict.plain())
    if verdict.deciding:
        assert verdict.deciding.grounds is not None and verdict.deciding.grounds.assumptions
        assert verdict.deciding.claim.reference is not None and verdict.deciding.standing


@pytest.mark.system
def test_a_fixed_state_is_too_small_from_a_length_on() -> None:
    """Two numbers of 32 bits hold 64 bits: copying 65 symbols of two letters is one too many, 64 are not decided."""
    for size, outlook in ((64, "unknown"), (65, "cannot hold")):
        verdict = model_verdict(tasks.make("copy_repeat"), "lstm:width=1", 20, size)
        assert verdict.outlook == outlook and verdict.opinions[0].grounds is not None
        assert (verdict.opinions[0].grounds.key, verdict.opinions[0].grounds.value) == ("models.length", 65)
    assert model_verdict(tasks.make("copy_repeat"), "gru:width=1", 20, 60).outlook == "cannot hold"


def test_encodings_are_asked_about_only_if_they_are_given() -> None:
    assert list(check("tomita_1", model=["gru", "ssm"], quick=True).verdicts) == ["gru", "ssm"]
    assert list(check("tomita_1", ["none"], model="gru", quick=True).verdicts) == ["none", "gru"]
    assert "rope" in check("tomita_1", model="transformer", quick=True).verdicts
    with pytest.raises(UsageError):
        check("tomita_1", model="gru:wide=3", quick=True)


def test_what_would_change_a_verdict_is_known_to_help() -> None:
    card = check("tomita_6", model="delta", quick=True)
    change = card.verdicts["delta"].changes[0]
    assert change.reason == "advice.order" and change.values["order"] == 2
    better = check("tomita_6", model="delta:negative=true,order=2", quick=True).verdicts
    assert [verdict.outlook for verdict in better.values()] == ["can hold"]
    reasons = [change.reason for change in check("tomita_5", model="ssm", quick=True).changes]
    assert reasons == ["advice.negative", "advice.order", "advice.gated"]


@dataclass(frozen=True)
class Running(Task):
    """Say the sum so far modulo 3 after every digit.

    `1 2 2` → `1 0 2`.
    """

    readout: ClassVar[Readout] = "tags"

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "2")

    def sample(self, size: int, draws: Draws) -> Samples:
        digits = draws.integers(0, 3, size)
        return Samples(digits, digits.cumsum(axis=1) % 3)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [str(total % 3) for total in itertools.accumulate(map(int, prompt))]


def test_a_task_that_labels_prefixes_is_learned() -> None:
    """The empty word has no label, and is one with the state of 0."""
    known = followed(Running(), quick=True)
    assert known is not None and known.kind == "predicted" and known.everywhere
    assert len(known.promise.dfa.transitions) == 3 and circle_lengths(actions(known.promise)) == {3}
    asked = ("delta:negative=true,order=2,depth=1", "delta:negative=true,depth=1", "ssm:negative=true")
    found = check(Running(), model=asked, quick=True).verdicts
    assert [verdict.outlook for verdict in found.values()] == ["can hold", "cannot hold", "cannot hold"]
    assert all(verdict.grounds == "predicted" for verdict in found.values())


@pytest.mark.parametrize("name", ["modular_arithmetic:modulus=3", "parity", "parity_check", "cycle_navigation"])
def test_known_machines_answer_as_the_solvers(name: str) -> None:
    task = tasks.make(name)
    known = followed(task, quick=True)
    assert known is not None and known.kind == "proved"
    for size in (1, 3, 9, 25):
        for row in task.draw(size, seed=0, items=range(40)).prompts:
            word = task.spelled(row)
            assert known.promise.answers[known.promise.dfa.run(word)[-1]][-1] == task.solve(word)[0]


def test_settings_are_those_of_the_models() -> None:
    """Names and usual values; `lengthwise.models` may not be imported by the oracle."""
    for name, usual in _USUAL.items():
        if name not in models.names() or "delta" not in models.names():
            pytest.skip("these models are not there")
        made = models.make(name)
        own = {one.name: getattr(made, one.name) for one in dataclasses.fields(made)}  # pyright: ignore
        assert {
            key: value if isinstance(value, bool | int | str) else usual[key] for key, value in own.items()
        } == usual


def test_the_length_at_which_bits_run_out() -> None:
    """Copying n bits takes n of them; x * 1 has an answer for each of the 2^(n - 2) - 1 positive numbers x."""
    assert [_PROOFS[CopyRepeat].exceeds(bits) for bits in (0, 64, 4096)] == [1, 65, 4097]
    assert _PROOFS[BinaryMultiplication].exceeds(64) == 67


def test_the_size_of_a_state() -> None:
    sizes = {"lstm": 128, "gru": 64, "ssm": 2048, "delta": 2048, "delta:heads=1,depth=1": 4096}
    assert {text: state_numbers(*asked_model(text)) for text in sizes} == sizes
