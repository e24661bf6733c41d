"""The recursive runner: judged on walkers whose every step is known, and on models trained for a moment."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.batches import right_on
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.recursion import RecursionProbe
from lengthwise.probes.recursion import walk as recursion
from lengthwise.probes.recursion.walk import run_chains
from lengthwise.probes.recursion.walkers import StepSymbols, StepWalker, Walk, Writer, differing, first_error
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import BOS, EOS, NOTHING, PAD, SEP, SPECIALS, pack
from lengthwise.tasks.formulations.formulation import Formulation, Labels, State
from lengthwise.tasks.formulations.layouts import Appending, Columns, Rewriting
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

TAGGED = ["parity_columns", "parity_leftmost", "addition_columns", "copy_pointer", "arithmetic_flat", "addition_marked"]


def formulation(spec: str) -> Formulation:
    return cast(Formulation, tasks.make(spec))


def untrained(spec: str, position: str = "none", attention: str = "softmax", causal: bool | None = None) -> Transformer:
    task = tasks.make(spec)
    causal = isinstance(task, Appending) if causal is None else causal
    architecture = Architecture(1, 32, 2, 4, causal, attentions.make(attention), make_position(position))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        return Transformer(architecture, Interface(len(task.vocabulary), task.outputs, 60, 20))


class Scripted(StepWalker):
    """A walker whose steps are written down: those of the task, but for what `slip` makes of (state, next)."""

    def __init__(self, letters: StepSymbols, slip: Callable[[Ints, Ints], Ints | None]) -> None:
        self.letters, self.slip = letters, slip

    def apply(self, states: Sequence[Ints]) -> list[Ints | None]:
        return [self.slip(state, cast(Ints, self.letters.step(state))) for state in states]


def scripted(spec: str, slip: Callable[[Ints, Ints], Ints | None], size: int = 6, items: int = 20):
    return recursion._point(Scripted(StepSymbols(formulation(spec)), slip), size, items, 3)


@pytest.mark.parametrize("spec", TAGGED)
def test_the_task_itself_is_always_right_and_as_good_as_the_solver(spec: str) -> None:
    point = scripted(spec, lambda _, after: after)
    assert point.right == point.state_right == point.on_time == point.items == 20
    assert point.own_steps == point.own_right == point.true_steps == point.true_right
    assert point.erring == 0 and point.first_errors is None and point.own_lost == 0
    assert point.injuries.items == 20 and point.injuries.right == point.injuries.solver_right


def written(state: Ints) -> int:
    """How many parities stand below the bits of a state of parity_columns."""
    return int((state % 3 > 0).sum())


def test_a_model_that_stops_early() -> None:
    point = scripted("parity_columns", lambda state, after: state if written(state) >= 4 else after)
    assert (point.early, point.on_time, point.right) == (20, 0, 0)
    assert point.first_errors == (4 / 6,) * 3, "the fifth of seven steps, after four of six"
    assert (point.own_steps, point.own_right) == (20 * 5, 20 * 4)
    assert (point.true_steps, point.true_right) == (20 * 7, 20 * 5), "stopping at the end is right again"


def test_a_model_that_never_stops_is_caught_when_it_comes_round() -> None:
    """At the end the last parity is turned, and turned back: the states are right at times, but there is no answer."""

    def turns(state: Ints, after: Ints) -> Ints:
        return np.append(state[:-1], {1: 2, 2: 1, 4: 5, 5: 4}[state[-1]]) if written(state) == 6 else after

    point = scripted("parity_columns", turns)
    assert (point.endless, point.right, point.on_time) == (20, 0, 0) and point.first_errors == (1, 1, 1)
    assert point.true_right == point.true_steps - 20 and point.own_right == 20 * 6
    assert point.own_steps == 20 * 8, "six steps, one away from the end and one back"


def test_the_guard_ends_a_chain_that_never_comes_round() -> None:
    def grows(state: Ints, _: Ints) -> Ints:
        return np.append(state, 0)

    walker = Scripted(StepSymbols(formulation("parity_columns")), grows)
    walk = walker.walk([np.array([0, 3])], 17)[0]
    assert (walk.ending, walk.steps) == ("endless", 17)


def test_what_makes_no_state_ends_a_chain() -> None:
    point = scripted("parity_columns", lambda state, after: None if written(state) == 2 else after)
    assert (point.invalid, point.right, point.on_time) == (20, 0, 0)
    assert (point.own_steps, point.own_right) == (20 * 3, 20 * 2)
    assert point.true_right == 20 * 6


def test_an_error_that_heals_and_one_that_spreads() -> None:
    """A wrong running parity at the third bit spreads to all later ones; a walker that mends it recovers."""

    def slips(state: Ints, after: Ints) -> Ints:
        wrong = after.copy()
        if written(state) == 2:
            wrong[2] += 1 if wrong[2] % 3 == 1 else -1
        return wrong

    letters = StepSymbols(formulation("parity_columns"))
    truth = letters.chain(6, np.array([1, 0, 1, 1, 0, 1]))
    walk = Scripted(letters, slips).walk([truth[0]], 20)[0]
    assert first_error(walk, truth) == 2 and differing(walk.states[-1], truth[-1]) == 4
    spreads = scripted("parity_columns", slips)
    assert (spreads.erring, spreads.recovered, spreads.right, spreads.on_time) == (20, 0, 0, 20)
    assert spreads.own_right == spreads.own_steps - 20, "after the one slip every step is right for the state it is in"

    def mends(state: Ints, after: Ints) -> Ints:
        if written(state) == 2:
            return slips(state, after)
        again = state // 3 * 3 + np.where(state % 3 > 0, 1 + np.cumsum(state // 3) % 2, 0)
        return cast(Ints, letters.step(again))

    heals = scripted("parity_columns", mends)
    assert (heals.erring, heals.recovered, heals.right) == (20, 20, 20)
    assert heals.injuries.healed > spreads.injuries.healed


def test_counts_of_injuries_add_up_and_depend_on_the_layout() -> None:
    """Below the bits of a finished prefix a wrong parity is only carried over, unless the next step reads it."""
    injuries = scripted("parity_columns", lambda _, after: after, size=30, items=60).injuries
    assert injuries.healed + injuries.stayed + injuries.spread + injuries.unended == injuries.items == 60
    assert injuries.stayed > 10 and injuries.spread > 10 and 10 < injuries.right < 60
    leftmost = scripted("parity_leftmost", lambda _, after: after, size=8, items=60).injuries
    assert 10 < leftmost.right < 50, "one wrong bit turns the parity, one that is dropped may be a nought"


@pytest.mark.parametrize("spec", [*TAGGED, "arithmetic_parenthesised", "multiplication_marked"])
def test_batches_advance_as_single_states_do(spec: str) -> None:
    """The array form against `apply`, on true labels, on random ones, and on labels that are no symbols."""
    task, rng = formulation(spec), np.random.default_rng(1)
    letters, index = StepSymbols(task), len(task.symbols)
    starts = [letters.written(s) for s in task.starts(4, Seeds(2).draws("t", items=range(30)))]
    for state in starts:
        right = np.array(letters.labels(state))
        noise = rng.integers(0, index, right.shape)
        mixed = np.where(rng.random(right.shape) < 0.3, noise, right)
        lost = np.where(np.arange(len(right)) == len(right) // 2, NOTHING, right)
        block = np.stack([state] * 4)
        labels = np.stack([right, noise, mixed, lost])
        fast, slow = task.advance(block, labels), Formulation.advance(task, block, labels)
        assert [None if row is None else row.tolist() for row in fast] == [
            None if row is None else row.tolist() for row in slow
        ]
        assert fast[0] is not None and fast[0].tolist() == cast(Ints, letters.step(state)).tolist() and fast[3] is None


def test_dropping_every_token_makes_no_state() -> None:
    task = cast(Rewriting, formulation("parity_leftmost"))
    assert task.advance(np.array([[0, 1]]), np.array([[3, 3]])) == [None]


def test_walkers_ask_the_model_what_training_asked_it() -> None:
    """One step of every true state, the slow way: the labels of the training layout applied by the task."""
    task, model = formulation("parity_leftmost"), untrained("parity_leftmost", "rope")
    letters = StepSymbols(task)
    states = [s for start in task.starts(5, Seeds(1).draws("t", items=range(9))) for s in task.chain(start)]
    walker = StepWalker(model, letters, 0)
    walker.width = 5
    after = walker.apply([letters.written(state) for state in states])
    for state, mine in zip(states, after, strict=True):
        prompt = [len(SPECIALS) + task.symbols.index(token) for (token,) in state]
        tokens = torch.tensor([[BOS, *prompt, *[PAD] * (5 - len(prompt))]])
        with torch.no_grad():
            labels = [task.vocabulary[token] for token in model(tokens)[0, 1 : len(prompt) + 1].argmax(-1)]
        if set(labels) & set(SPECIALS) or set(labels) == {"drop"}:
            assert mine is None
        else:
            assert mine is not None and letters.read(mine) == task.apply(state, tuple(labels))


def test_small_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    task, model = "arithmetic_flat:prime=3", untrained("arithmetic_flat:prime=3", "rope")
    whole = run_chains(model, task, sizes=[3], items=20)
    monkeypatch.setattr("lengthwise.subjects.run.CELLS", 300)
    assert run_chains(model, task, sizes=[3], items=20) == whole
    monkeypatch.setattr(recursion, "_CELLS", 100)
    parts = run_chains(model, task, sizes=[3], items=20).points[0]
    assert (parts.right, parts.own_steps, parts.true_right) == (
        whole.points[0].right,
        whole.points[0].own_steps,
        whole.points[0].true_right,
    )


@functools.cache
def decoder() -> Transformer:
    """Trained for a moment on appended parities: some chains are right at size 3, and few at size 6."""
    model = untrained("parity_appended", "rope")
    train_model(model, tasks.make("parity_appended"), Recipe(steps=250, batch=32, rate=5e-3, check_every=250), 4, 0)
    return model


def reciting(letters: str) -> Transformer:
    """A decoder that writes the same `letters` and then `<eos>` after every prompt of four symbols: position t of its
    table is a vector of its own, and the output reads off it which token comes after position t."""
    task, model = tasks.make("parity_appended"), untrained("parity_appended", "learned")
    script = [*(task.vocabulary.index(letter) for letter in letters), EOS]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.norm.weight.fill_(1.0)
        table = next(parameter for parameter in model.encoder.parameters() if parameter.shape[0] == 60)
        table[: table.shape[1]] = torch.eye(table.shape[1])
        for step, token in enumerate(script):
            model.output.weight[token, 5 + step] = 1.0  # <bos>, four symbols and = are at 0 to 5
    return model


@pytest.mark.parametrize("kind", ["trained", "reciting"])
def test_a_decoder_writes_what_generation_writes(kind: str) -> None:
    """On all prompts of four bits. 0000 is right after one of them alone, so that both outcomes are seen."""
    task, model = cast(Appending, tasks.make("parity_appended")), decoder() if kind == "trained" else reciting("0000")
    letters = StepSymbols(task)
    rows = np.array(list(itertools.product((0, 1), repeat=4)))
    truths = [letters.chain(4, row) for row in rows]
    writer = Writer(model, letters, 0)
    walks = writer.walk([truth[0] for truth in truths], 9)
    prompts = torch.tensor([[BOS, *(row + len(SPECIALS)), SEP] for row in rows])
    tokens = model.generate(prompts, 9).numpy()
    for walk, told in zip(walks, tokens, strict=True):
        count = next((place for place, token in enumerate(told) if token < len(SPECIALS)), len(told))
        stopped = count < len(told) and told[count] == EOS
        mine = [letters.texts[letter] for letter in walk.states[-1][5:]]
        assert mine == [task.vocabulary[token] for token in told[: count + stopped]]
        assert [len(state) for state in walk.states] == list(range(5, 6 + len(mine)))
        assert walk.ending == ("endless" if count == len(told) else "stopped" if stopped else "invalid")
    batch = pack(task.lay(rows), "answer")
    judged = right_on(model, task, batch)
    assert writer.taught(truths, walks) == (len(judged.tokens), int(judged.tokens.sum()))
    right = [first_error(walk, truth) is None for walk, truth in zip(walks, truths, strict=True)]
    assert right == judged.items.tolist()
    if kind == "reciting":
        assert right == [True] + [False] * 15 and {walk.ending for walk in walks} == {"stopped"}


def test_a_decoder_goes_on_from_what_is_given() -> None:
    """Chains that begin at different places of the answer, in one batch and one by one."""
    letters, model = StepSymbols(formulation("parity_appended")), decoder()
    truths = [letters.chain(5, np.array(row)) for row in ([1, 0, 1, 1, 0], [0, 0, 1, 0, 1], [1, 1, 1, 0, 0])]
    starts = [truth[time] for truth, time in zip(truths, (0, 3, 5), strict=True)]
    writer = Writer(model, letters, 0)
    for together, start in zip(writer.walk(starts, 11), starts, strict=True):
        alone = writer.walk([start], 11)[0]
        assert together.states[-1][: len(alone.states[-1])].tolist() == alone.states[-1].tolist()
        assert together.states[0].tolist() == start.tolist()
        assert together.ending == alone.ending or alone.steps == 11, "a chain that is given more may go on longer"


def test_what_a_decoder_may_not_write_ends_its_chain() -> None:
    letters = StepSymbols(formulation("parity_appended"))
    writer = Writer(decoder(), letters, 0)
    start = letters.written((("1",), ("=",)))
    assert writer._walk(start, [5, SEP]) == _like(start, [1], "invalid")
    assert writer._walk(start, [5, EOS]) == _like(start, [1, letters.index["<eos>"]], "stopped")
    assert writer._walk(start, [5, 4]) == _like(start, [1, 0], "endless")


def _like(start: Ints, letters: list[int], ending: str) -> object:
    """Equal to a walk with these letters after the start."""

    class Same:
        def __eq__(self, walk: object) -> bool:
            assert isinstance(walk, Walk)
            return (walk.states[-1].tolist(), walk.steps, walk.ending) == ([*start, *letters], len(letters), ending)

    return Same()


@functools.cache
def columns_model() -> Transformer:
    """Two-line parity, trained to size 6 in a few seconds: one layer that sees three columns."""
    model = untrained("parity_columns", "rope", "window:size=2")
    train_model(model, tasks.make("parity_columns"), Recipe(steps=400, batch=32, rate=4e-3, check_every=400), 6, 0)
    return model


@pytest.mark.system
def test_two_lines_hold_at_ten_times_the_training_size() -> None:
    """And so they do with an error inside: the model goes on exactly as the solver would."""
    result = run_chains(columns_model(), "parity_columns", sizes=[6, 60], items=60)
    for point in result.points:
        assert point.right == point.on_time == point.state_right == 60 and point.true_step == 1
        assert abs(point.injuries.right - point.injuries.solver_right) <= 6
    assert result.at(60).steps == 60 and result.at(60).interval.low > 0.9


def test_appended_parities_fall_at_once() -> None:
    result = run_chains(decoder(), "parity_appended", sizes=[3, 40], items=40)
    assert result.at(3).exact > 0.2 and result.at(40).right == 0
    assert result.at(40).erring == 40 and result.at(40).first_errors is not None


def test_results_are_reproducible_and_plain() -> None:
    told: list[tuple[str, int, int]] = []
    one = run_chains(columns_model(), "parity_columns", sizes=[9, 5], items=7)
    assert one == run_chains(columns_model(), "parity_columns", sizes=[5, 9], items=7)
    assert one != run_chains(columns_model(), "parity_columns", sizes=[5, 9], items=7, seed=1)
    context = Context(tasks.make("parity_columns"), None, (9, 5), 7, progress=lambda *done: told.append(done))
    record = ask(RecursionProbe(), OwnSubject("the model", columns_model()), context)
    data = json.loads(json.dumps(record.plain(), allow_nan=False))
    assert record.plain() == one.record().plain()
    assert [point["size"] for point in data["data"]["points"]] == [5, 9] and data["data"]["train_size"] is None
    assert [done[1:] for done in told] == [(1, 2), (2, 2)]
    keys = [(claim.key, claim.evidence["size"]) for claim in one.claims()]
    assert keys[:2] == [("recursion.exact", 5), ("recursion.on_time", 5)] and len(keys) == 6
    assert [table.column("size") for table in record.tables] == [[5, 9]] * 3
    assert all(claim.kind == "measured" and claim.interval is not None for claim in one.claims())
    with pytest.raises(KeyError):
        one.at(6)


@dataclass(frozen=True)
class Countdown(Formulation):
    """Take the last of the ones away until a nought is left; a user's own formulation with labels of its own."""

    readout = "tags"

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "last", "stay")

    def ranges(self, size: int) -> tuple[int, ...]:
        return (2,) * size

    def start(self, size: int, row: Sequence[int] | Ints) -> State:
        return (("0",), *(("1",) for _ in row))

    def step(self, state: State) -> State | None:
        return state[:-1] if len(state) > 1 else None

    def labels(self, state: State) -> Labels:
        return (*("stay" for _ in state[1:]), "last" if len(state) > 1 else "stay")

    def apply(self, state: State, labels: Labels) -> State:
        return state[: labels.index("last")] if "last" in labels[1:] else state[: len(state) // (labels[0] == "stay")]

    def sources(self, state: State):
        return tuple((place,) for place in range(len(state)))

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(token for (token,) in state)

    def sample(self, size: int, draws):
        raise NotImplementedError

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        raise NotImplementedError


def test_an_own_formulation_is_run_and_its_failures_end_chains() -> None:
    letters = StepSymbols(Countdown())
    point = recursion._point(Scripted(letters, lambda _, after: after), 5, 4, 0)
    assert (point.right, point.on_time, point.steps) == (4, 4, 5)
    task = Countdown()
    assert task.advance(np.array([[0, 1, 1]]), np.array([[2, 3, 3]])) == [None], "apply divides by nought"
    result = run_chains(untrained_for(task), task, sizes=[4], items=6)
    assert result.task == "Countdown" and sum(vars(result.points[0])[k] for k in ENDS) == 6


ENDS = ("on_time", "early", "late", "endless", "invalid")


def untrained_for(task: Formulation) -> Transformer:
    torch.manual_seed(3)
    return Transformer(Architecture(1, 16, 2, causal=False), Interface(len(task.vocabulary), task.outputs, 20, 20))


def test_what_cannot_be_run() -> None:
    model = untrained("parity_columns")
    with pytest.raises(UsageError, match="has no steps to apply"):
        run_chains(model, "parity", sizes=[3])
    with pytest.raises(UsageError, match="say which task"):
        run_chains(model, sizes=[3])
    with pytest.raises(UsageError, match="other symbols"):
        run_chains(model, "addition_columns", sizes=[3])
    with pytest.raises(UsageError, match="takes a decoder"):
        run_chains(untrained("parity_appended", causal=False), "parity_appended", sizes=[3])
    with pytest.raises(UsageError, match="items per size must be at least 1, not 0"):
        run_chains(model, "parity_columns", sizes=[3], items=0)
    with pytest.raises(UsageError, match="no instances of size 0"):
        run_chains(model, "parity_columns", sizes=[0])
    with pytest.raises(UsageError, match="at which sizes"):
        run_chains(model, "parity_columns", sizes=[])
    with pytest.raises(UsageError, match="only a run can be read with another"):
        run_chains(model, "parity_columns", sizes=[3], position="rope")


def test_a_table_of_positions_ends_a_decoder_and_not_with_a_traceback() -> None:
    model = untrained("parity_appended", "learned")
    point = run_chains(model, "parity_appended", sizes=[20], items=5).points[0]
    assert sum(getattr(point, name) for name in ENDS) == 5
    with pytest.raises(UsageError):
        run_chains(model, "parity_appended", sizes=[100], items=5)


def test_every_columns_task_has_its_true_chain_from_frames() -> None:
    for spec in TAGGED:
        task = formulation(spec)
        letters, row = StepSymbols(task), task.some(5, Seeds(0).draws("t", items=[4]))[0]
        slow = [letters.written(state) for state in task.chain(task.start(5, row))]
        assert [state.tolist() for state in letters.chain(5, row)] == [state.tolist() for state in slow]
    assert issubclass(type(formulation("addition_marked")), Columns)
