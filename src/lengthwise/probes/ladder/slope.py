"""How steep a model is at given items: a lower bound of its Lipschitz constant in the token norm, from gradients alone.

Let J be the derivative of the logits at an item, u a unit vector of logits at one place, and g = Jᵀu, a vector g_j a
token. Moving every token by 1 along its g_j, d_j = g_j / |g_j|, moves the logits at that place by at least
u·(J d) = Σ_j |g_j|. So Σ_j |g_j| is a lower bound of max |J d| over all d of token norm 1, for any u. The search for a
good u is Boyd's power method (as in `inspection.attack.steepest`): take the place whose logits J d moves most, and u
along that movement. J d is there a difference quotient, which only steers the search: what is reported was
differentiated exactly. Forward-mode products would serve as well, and take several times as long for small models.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lengthwise.models.forward import embed, run_from
from lengthwise.models.parts import Anatomy
from lengthwise.probes.ladder.level_items import LevelItems
from lengthwise.probes.lipschitz.attack import TINY, Map, size
from lengthwise.tasks.batch import lengths_of

_APART = 1e-6  # how far a difference quotient reaches, as a share of the longest token


def slope_at(anatomy: Anatomy, items: LevelItems, places: Tensor, steps: int) -> float:
    """The largest lower bound found at these items; what lies behind the end of an item does not count. `places`
    [1, positions] are the positions of tokens."""
    at = places[:, : items.width]
    real = torch.from_numpy(lengths_of(items.batch))[:, None] > torch.arange(items.width)

    def logits(x: Tensor) -> Tensor:
        return run_from(anatomy, x, at).output * real[:, :, None]

    x = embed(anatomy, torch.from_numpy(items.batch.inputs), at)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        direction = torch.randn_like(x)
    return float(steepness(logits, x, direction, steps).max())


def steepness(f: Map, x: Tensor, direction: Tensor, steps: int) -> Tensor:
    """The best lower bound of each item [B] that so many steps find, beginning with a direction [B, T, W]."""
    best, rows = torch.zeros(len(x), dtype=x.dtype), torch.arange(len(x))
    apart = _APART * float(x.norm(dim=2).max())
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        here = f(leaf)
        unit = direction / size(direction, "token").clamp(min=TINY)[:, None, None]
        with torch.no_grad():
            moved = f(x + apart * unit) - here
            most = moved.norm(dim=2).argmax(dim=1)
            along = moved[rows, most] / moved[rows, most].norm(dim=1, keepdim=True).clamp(min=TINY)
        (gradient,) = torch.autograd.grad((here[rows, most] * along).sum(), leaf)
        lengths = gradient.norm(dim=2, keepdim=True)
        best = torch.maximum(best, lengths.sum(dim=(1, 2)))
        direction = gradient / lengths.clamp(min=TINY)
    return best
