"""What a run has learned of its contexts, beside random networks."""

import numpy as np
import pytest
import torch

import lengthwise as lw
from lengthwise.bounds.contexture.alignment import alignment
from lengthwise.bounds.contexture.table import joint_table
from lengthwise.models.transformer import Interface, Transformer
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.representations import RepresentationsProbe
from lengthwise.probes.representations.states import contexture_of, last_states, random_twin, read_conditionals
from lengthwise.tasks import tasks


def small(task, width=16):
    torch.manual_seed(0)
    vocabulary = len(task.vocabulary)
    return Transformer(
        lw.Architecture(depth=1, width=width, heads=2), Interface(vocabulary, task.outputs, 40, 20)
    ).eval()


def test_states_and_answers_belong_to_the_same_places():
    task = tasks.make("sort")
    model = small(task)
    states, conditionals = last_states(model, task, 6, 30, seed=1), read_conditionals(model, task, 6, 30, seed=1)
    assert states.shape == (30, 16) and states.dtype == np.float64 and len(conditionals) == 30
    batch = task.batch(6, 1, range(30), role="test")
    with torch.no_grad():
        logits = model(torch.from_numpy(batch.inputs)).double()
    said = torch.from_numpy(states) @ model.output.weight.double().T
    values = np.unique(batch.targets[batch.scored])
    for row in range(30):
        near = (logits[row] - said[row]).abs().amax(dim=1)
        place = int(near.argmin())
        assert near[place] < 1e-4 and batch.scored[row, place]
    assert conditionals.shape[1] <= len(values)
    assert conditionals.sum(axis=1) == pytest.approx(1) and conditionals.max(axis=1) == pytest.approx(1)


def test_probabilities_of_drawn_answers_are_those_of_the_task():
    task = tasks.make("prose:order=1")
    conditionals = read_conditionals(small(task), task, 8, 400, seed=2)
    assert conditionals.shape == (400, 27)
    picked = conditionals[np.arange(400), :]
    assert picked.sum(axis=1) == pytest.approx(1) and picked.max() < 1
    table = np.exp(task.log_probabilities(np.array([[0, 0]])))  # P(. | beginning), P(. | a)
    rows = {tuple(np.round(row, 9)) for row in picked}
    assert tuple(np.round(table[0, 0], 9)) in rows  # some place was the first


def test_twins_differ_and_leave_the_random_state_alone():
    task = tasks.make("sort")
    model = small(task)
    state = torch.random.get_rng_state()
    one, two = random_twin(model, 5), random_twin(model, 9)
    assert torch.equal(state, torch.random.get_rng_state())
    assert not torch.equal(one.output.weight, two.output.weight)
    assert torch.equal(one.output.weight, random_twin(model, 5).output.weight)


def test_a_trained_network_is_aligned_above_random_ones(tmp_path):
    training, shape = {"steps": 100, "batch": 32}, {"depth": 1, "width": 16, "heads": 2}
    run = lw.train("majority", train_size=6, test_size=6, **shape, **training, folder=tmp_path / "run")
    probe = RepresentationsProbe(items=600, twins=1)
    context = Context(run.plan.task, 6, (6,))
    found = contexture_of(probe, run.model(), context)
    record = ask(probe, run.subject(), context)
    assert record.claims == (*found.claims, *found.representation, *found.random)
    own, others = found.representation[0], found.random
    assert own.interval is not None and all(other.interval is not None for other in others)
    assert own.interval.low > max(other.interval.high for other in others if other.interval)
    assert own.value <= own.evidence["most"] + 1e-9 and found.squares == pytest.approx(1)


@pytest.mark.slow
def test_alignment_on_an_exact_table(tmp_path):
    """All contexts of one or two symbols of a text whose probabilities are known: no sampling at all."""
    task = tasks.make("prose:order=2")
    shape = {"depth": 2, "width": 32, "heads": 2}
    training = {**vars(lw.Recipe()), "steps": 600, "rate": 5e-3}
    run = lw.train(task, "learned", train_size=12, test_size=12, **shape, **training, folder=tmp_path / "r")
    texts = np.array([[i, j, 0] for i in range(27) for j in range(27)])
    logarithms = task.log_probabilities(texts)
    first = np.exp(logarithms[np.arange(729), 0, texts[:, 0]] + logarithms[np.arange(729), 1, texts[:, 1]])
    table = joint_table(first[:, None] * np.exp(logarithms[:, 2]))
    inputs = np.concatenate([np.full((729, 1), 1), texts[:, :2] + 4], axis=1)[table.rows]
    trained, *others = (
        _states(model, inputs) for model in (run.model(), *(random_twin(run.model(), k) for k in range(5)))
    )
    own = alignment(table, trained)
    assert own.ratio_trace > 1.3 * max(alignment(table, other).ratio_trace for other in others)
    assert own.ratio_trace <= own.most


@torch.no_grad()
def _states(model, inputs):
    caught = []
    hook = model.norm.register_forward_hook(lambda _module, _inputs, output: caught.append(output[:, -1].double()))
    model(torch.from_numpy(inputs))
    hook.remove()
    return caught[0].numpy()


def test_numbers_are_no_contexts():
    task = next(
        (made for name in tasks.names() if (made := _made(name)) is not None and made.readout == "numbers"), None
    )
    if task is None:
        pytest.skip("no task of this package asks for numbers")
    with pytest.raises(lw.errors.UsageError, match="real numbers"):
        read_conditionals(small(tasks.make("sort")), task, 4, 10, 0)


def _made(name):
    try:
        return tasks.make(name)
    except ValueError:
        return None
