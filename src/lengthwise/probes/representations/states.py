"""What a run has learned of the contexts it was trained on: its last hidden states next to those of random networks.

x is everything that a model reads up to a place, a is the token it is asked for there, and Φ(x) is the last hidden
state, the vector from which the answer is read off linearly. One place of each test item is looked at, so that pairs
are independent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.contexture.estimates import drawn_pairs, ratio_trace_claim, spectrum_of_conditionals
from lengthwise.bounds.contexture.summary import Contexture, spectrum_claims
from lengthwise.errors import UsageError
from lengthwise.models.batches import positions_of
from lengthwise.models.placed import home
from lengthwise.models.transformer import Transformer
from lengthwise.probes.probe import Context
from lengthwise.probes.representations import RepresentationsProbe
from lengthwise.records import Claim
from lengthwise.seeds import Floats, Ints, Seeds
from lengthwise.subjects.run import measured_batches
from lengthwise.tasks.task import Task


def contexture_of(probe: RepresentationsProbe, model: Transformer, context: Context) -> Contexture:
    """The alignment of a model's last hidden states on test items of the context's size, next to the same network with
    other draws of its first weights; intervals are over items."""
    assert context.task is not None
    task, (size,), items, seed = context.task.part("test"), context.sizes, probe.items, context.seed
    conditionals = read_conditionals(model, task, size, items, seed)
    squares = spectrum_of_conditionals(conditionals)
    found: list[Claim] = []
    names = ["the trained network", *(f"random network {number}" for number in range(1, probe.twins + 1))]
    for number, name in enumerate(names):
        context.progress(f"states of {name}", number, len(names))
        network = model if number == 0 else random_twin(model, Seeds(seed).key("twin", number))
        drawn = drawn_pairs(last_states(network, task, size, items, seed), conditionals)
        found.append(ratio_trace_claim(drawn, name, None, seed=seed))
    rank = found[0].evidence["rank"]
    most = float(squares[:rank].sum())
    known = "the task decides them" if task.certain else "the task knows their probabilities"
    what = f"{items} test items of size {size}: x is what was read, a one of {conditionals.shape[1]} answers"
    claims = spectrum_claims(squares, False, probe.beta, probe.most_dimensions)
    unit, more = f"of at most {most:.4g}", {"most": most}  # known once all states are read
    finished = [replace(claim, unit=unit, evidence={**claim.evidence, **more}) for claim in found]
    how = f"answers given x are exact, as {known}; x are drawn"
    return Contexture(what, how, squares, False, claims, (finished[0],), tuple(finished[1:]))


def read_conditionals(model: Transformer, task: Task, size: int, items: int, seed: int) -> Floats:
    """The probabilities of all answers given what was read, [items, answers], at the places that are looked at: 1 for
    the right one where the task decides it."""
    if task.readout == "numbers":
        raise UsageError("the answers of this task are real numbers, and contexts are tokens; take another task")
    targets, likely = [], []
    first = 0
    for batch, _ in measured_batches(model, task, size, range(items), seed):
        rows, places = np.arange(len(batch.inputs)), _places(batch.scored, seed, first)
        targets.append(np.asarray(batch.targets)[rows, places])
        if not task.certain:
            answers = task.draw(size, seed, range(first, first + len(rows)), "test").answers
            logarithms = task.log_probabilities(np.asarray(answers, dtype=np.int64))
            likely.append(np.exp(logarithms[rows, places - (batch.scored.shape[1] - answers.shape[1])]))
        first += len(rows)
    values, codes = np.unique(np.concatenate(targets), return_inverse=True)
    if len(values) < 2:
        raise UsageError(f"all answers looked at are the same at size {size}; take another size or more items")
    return np.concatenate(likely) if likely else np.eye(len(values))[codes]


@torch.no_grad()
def last_states(model: Transformer, task: Task, size: int, items: int, seed: int) -> Floats:
    """The last hidden states at those places, [items, width], in float64."""
    model = model.eval()
    caught: list[Tensor] = []
    hook = model.norm.register_forward_hook(lambda _module, _inputs, output: caught.append(output.cpu().double()))
    first = 0
    try:
        for batch, seeds in measured_batches(model, task, size, range(items), seed):
            there, inputs = home(model), torch.from_numpy(batch.inputs)
            scored = np.zeros_like(batch.scored)
            scored[np.arange(len(scored)), _places(batch.scored, seed, first)] = True
            at = positions_of(model, task, batch.inputs, seeds)
            model(*(one.to(there) for one in (inputs, at, torch.from_numpy(scored))))
            first += len(scored)
    finally:
        hook.remove()
    return torch.cat(caught).numpy()


def random_twin(model: Transformer, key: int) -> Transformer:
    """The same network before training, its weights drawn from `key`; the caller's random state is left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(key >> 1)
        return Transformer(model.architecture, model.interface).to(home(model)).eval()


def _places(scored: np.ndarray, seed: int, first: int) -> Ints:
    """One of the places that are asked for, drawn for each row; the same whatever the chunk."""
    share = Seeds(seed).draws("place", items=range(first, first + len(scored))).uniform(1)
    order = np.cumsum(scored, axis=1)
    wanted = np.floor(share * order[:, -1:]).astype(np.int64) + 1
    return np.argmax((order == wanted) & scored, axis=1)
