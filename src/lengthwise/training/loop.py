"""The training loop: AdamW, warm-up and decay, one size per batch, and exact resumption.

Everything random at step t is a function of (seed, t), so the state of training is the weights, the two moments of
AdamW and t: a run that was interrupted ends with the weights it would have had. Of a model in a form the coordinates
take the place of the weights. A checkpoint holds weights, moments and history in one safetensors file.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from lengthwise.errors import Interrupted, UsageError
from lengthwise.files import replace_file, writing
from lengthwise.interrupts import Stop, held_back
from lengthwise.models.attention import unsettled
from lengthwise.models.batches import logits_of, loss_of, right_on
from lengthwise.models.forms import Full
from lengthwise.models.network import Network
from lengthwise.models.placed import drawing, home
from lengthwise.progress import Progress, silent
from lengthwise.seeds import Seeds
from lengthwise.tasks.task import Task
from lengthwise.training.batches import Batches
from lengthwise.training.journal import add_to_journal, begin_journal
from lengthwise.training.recipe import Recipe

CHECKPOINT_SECONDS = 30.0


@dataclass
class History:
    """What happened: (step, mean loss since the last entry), (step, share of in-range items right), how it ended.

    `unsettled` counts the steps in which an attention rule that iterates met its limit before its weights had settled;
    `unsettled_error` is the largest share of attention that was then where it should not be.
    """

    losses: list[tuple[int, float]] = field(default_factory=list)
    checks: list[tuple[int, float]] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)  # losses since the last entry
    ended: str = ""
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    unsettled: int = 0
    unsettled_error: float = 0.0

    def __post_init__(self) -> None:
        """JSON has no tuples, and a history that was read back equals the one that was written."""
        self.losses = [(step, loss) for step, loss in self.losses]
        self.checks = [(step, share) for step, share in self.checks]


def train_model(
    model: Network,
    task: Task,
    recipe: Recipe,
    train_size: int,
    seed: int,
    checkpoint: Path | None = None,
    progress: Progress = silent,
    journal: Path | None = None,
) -> History:
    """Train in place on sizes up to `train_size`. With a `checkpoint` path, training resumes from it when it exists,
    and it is written every half minute and when the user interrupts. A `journal` gets one line per check. O(steps x
    batch x depth x (T width^2 + T^2 width)) for sequences of T tokens."""
    if recipe.form != getattr(model, "form", Full()):
        raise UsageError(
            "the recipe asks for a form that this model is not in; `in_form` puts an untrained one into it"
        )
    sizes = task.sizes(1, train_size)
    if not sizes:
        raise UsageError(f"the task has no items of size 1 to {train_size}; see its sizes with `lengthwise tasks NAME`")
    batches = Batches(task, recipe, sizes, seed, model.architecture.causal)
    optimiser = _optimiser(model, recipe)
    history = History()
    if checkpoint is not None and checkpoint.exists():
        history = History(**load_checkpoint(checkpoint, model, optimiser))
    if journal is not None:
        begin_journal(journal, history.losses, history.checks)
    model.train()
    saved = time.monotonic()
    began = saved - history.seconds
    with Stop() as stop:
        while history.step < recipe.steps and not history.ended:
            _step(model, optimiser, batches, history)
            history.seconds = time.monotonic() - began
            if history.step % recipe.check_every == 0 or history.step == recipe.steps:
                _check(model, batches, history)
                if journal is not None:
                    add_to_journal(journal, *history.losses[-1], history.checks[-1][1])
                progress(_state(history), history.step, recipe.steps)
            if checkpoint is not None and (stop.asked or time.monotonic() - saved > CHECKPOINT_SECONDS):
                save_checkpoint(checkpoint, model, optimiser, vars(history))
                saved = time.monotonic()
            if stop.asked:
                kept = "run the same command again to resume" if checkpoint else "nothing was kept, as it has no folder"
                raise Interrupted(f"stopped at step {history.step} of {recipe.steps}; {kept}")
    history.ended = history.ended or "all steps done"
    if history.unsettled:
        history.ended += (
            f"; attention had not settled at its limit of iterations in {history.unsettled} of {history.step} steps "
            f"(at worst {history.unsettled_error:.2g} of it in the wrong place)"
        )
    model.eval()
    return history


def _state(history: History) -> str:
    """How training goes, in a few words."""
    speed = history.tokens / max(history.seconds, 1e-9) / 1000
    share = f", in range {history.checks[-1][1]:.0%}" if history.checks else ""
    return f"training: loss {history.losses[-1][1]:.4f}{share}, {speed:.0f}k tokens/s"


def _step(model: Network, optimiser: torch.optim.Optimizer, batches: Batches, history: History) -> None:
    step = history.step
    batch = batches.at(step)
    for group in optimiser.param_groups:
        group["lr"] = batches.recipe.rate_at(step)
    with unsettled() as errors, drawing(Seeds(batches.seed).key("dropout", step) >> 1, home(model)):
        seeds = Seeds(Seeds(batches.seed).key("positions", step))
        logits = logits_of(model, batches.task, batch, seeds, training=True)
    loss = loss_of(batches.task, logits, batch)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), batches.recipe.clip))
    value = float(loss.detach())
    if not (math.isfinite(value) and math.isfinite(norm)):
        raise UsageError(
            f"the loss became {value} and its gradient {norm} at step {step + 1}; a smaller learning rate usually helps"
        )
    optimiser.step()
    history.recent.append(value)
    history.step += 1
    history.tokens += batch.inputs.size
    history.unsettled += bool(errors)
    history.unsettled_error = max([history.unsettled_error, *errors])


def _check(model: Network, batches: Batches, history: History) -> None:
    """Note the mean loss, and how many in-range items the model has right: of 32 at each of up to four sizes."""
    task, recipe, sizes, seed = batches.task, batches.recipe, batches.sizes, batches.seed
    history.losses.append((history.step, float(np.mean(history.recent))))
    history.recent.clear()
    model.eval()
    chosen = sorted({sizes[round(share * (len(sizes) - 1))] for share in (0.25, 0.5, 0.75, 1.0)})
    right = []
    for size in chosen:
        batch = task.batch(size, seed, range(32), role="check", causal=model.architecture.causal)
        right.append(right_on(model, task, batch, Seeds(Seeds(seed).key("check", size))).items)
    share = float(torch.cat(right).float().mean())
    history.checks.append((history.step, share))
    model.train()
    if recipe.stop_at is None or history.step == recipe.steps:
        return
    if len(history.checks) > 1 and history.checks[-2][1] >= recipe.stop_at <= share:
        history.ended = (
            f"stopped early at step {history.step}: {share:.1%} of in-range items right at two checks in a row"
        )


def _optimiser(model: Network, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW; vectors (norms, biases) are not decayed."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.rate, fused=True)


def save_checkpoint(
    path: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer, history: dict[str, Any]
) -> None:
    """Write the checkpoint next to the old one and replace it atomically."""
    tensors = {f"model.{name}": value.cpu().clone().contiguous() for name, value in model.state_dict().items()}
    for index, parameter in enumerate(_parameters(optimiser)):
        for name, value in optimiser.state.get(parameter, {}).items():
            tensors[f"optimiser.{index}.{name}"] = value.cpu().contiguous()
    with writing(path.parent), replace_file(path) as part:
        save_file(tensors, part, metadata={"history": json.dumps(history), "digest": _digest(tensors)})


def load_checkpoint(path: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Put the saved state into model and optimiser; returns the history."""
    try:
        with held_back(), safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            history = json.loads(metadata["history"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        if metadata["digest"] != _digest(tensors):
            raise ValueError("its content was changed")
        model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
        for index, parameter in enumerate(_parameters(optimiser)):
            start = f"optimiser.{index}."
            own = {k.removeprefix(start): v.to(parameter.device) for k, v in tensors.items() if k.startswith(start)}
            optimiser.state[parameter] = own
    except (SafetensorError, KeyError, ValueError, RuntimeError, OSError) as error:
        raise UsageError(
            f"the checkpoint {path} cannot be read ({str(error).splitlines()[0]}); delete it to train from the start"
        ) from error
    return history


def _digest(tensors: dict[str, torch.Tensor]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        hashed.update(name.encode())
        hashed.update(tensors[name].numpy().tobytes())
    return hashed.hexdigest()


def _parameters(optimiser: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    return [parameter for group in optimiser.param_groups for parameter in group["params"]]
