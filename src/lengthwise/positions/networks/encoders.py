"""Encoders, which are position encodings inside a model: the contract, and tables, biases and rotations."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.errors import OutOfPositions, UsageError


class Encoder(nn.Module):
    """The encoding inside a model; every method has the default of doing nothing.

    `at` holds positions, [items or 1, tokens], whole numbers (or reals, where the encoding knows them) that need not
    start at 0. One encoder serves all layers.
    """

    def embed(self, at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the token embeddings, [items or 1, tokens, width]."""
        return None

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:  # noqa: ARG002
        """Queries or keys [items, heads, tokens, head width], transformed by their positions."""
        return x

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the logits, [items or 1, heads, queries, keys]."""
        return None

    def scores(self, q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor | None:  # noqa: ARG002
        """All of q·k where it is not a product of rotated vectors; None where it is. `index`: the queries' places in
        the sequence, counted from 0."""
        return None


def turns(encoder: Encoder) -> bool:
    """Whether it transforms queries and keys, or computes their scores."""
    return type(encoder).rotate is not Encoder.rotate or type(encoder).scores is not Encoder.scores


def distances(queries_at: Tensor, keys_at: Tensor) -> Tensor:
    """The query's position minus the key's, [items or 1, 1, queries, keys]; negative where a key lies ahead."""
    return (queries_at[:, :, None] - keys_at[:, None, :])[:, None]


class LearnedEncoder(Encoder):
    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width) * 0.02)

    def embed(self, at: Tensor) -> Tensor:
        if int(at.max()) >= len(self.table):
            raise OutOfPositions(
                f"the learned table has {len(self.table)} positions, too few for {int(at.max()) + 1} tokens; "
                "train with a larger test size"
            )
        return self.table[at]


class IdEncoder(LearnedEncoder):
    """A table whose rows start orthogonal to each other, as large as those of `LearnedEncoder`, and move 50 times more
    slowly, as rows of size 1 would.

    So they stay close to where they started. Rows that move freely settle on a code that repeats after the longest
    training item, as no two ids further apart ever meet in training. The logit of such a pair comes from its overlaps
    with pairs that do meet, and half of its variance from those of random rows. Where there are more rows than the
    width, their squared products sum to the least possible. Larger rows are learned one by one, each by another head;
    smaller ones are learned late (docs/findings/log.md).
    """

    def __init__(self, rows: int, width: int) -> None:
        Encoder.__init__(self)
        self.units = nn.Parameter(nn.init.orthogonal_(torch.empty(rows, width), gain=math.sqrt(max(rows, width))))

    @property
    def table(self) -> Tensor:  # pyright: ignore[reportIncompatibleVariableOverride]
        return 0.02 * self.units


class SinusoidalEncoder(Encoder):
    amplitude: Tensor

    def __init__(self, width: int, base: float, scale: float) -> None:
        super().__init__()
        # Not a buffer, so that a float32 model still computes its angles in float64: they grow with position.
        self.frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        self.register_buffer("amplitude", torch.tensor(scale * math.sqrt(2.0)), persistent=False)
        self.width = width

    def embed(self, at: Tensor) -> Tensor:
        angles = angles_at(at, self.frequencies)  # [B or 1, T, W / 2]
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # [B or 1, T, W], or one more if W is odd
        return waves[..., : self.width].to(self.amplitude) * self.amplitude


def angles_at(at: Tensor, turns: Tensor) -> Tensor:
    """Positions times radians a position, in float64, which mps does not have: there they are on the processor."""
    there = torch.device("cpu") if at.device.type == "mps" else at.device
    return at.to(there).double()[..., None] * turns.to(there, torch.float64)


class AlibiEncoder(Encoder):
    slopes: Tensor

    def __init__(self, slopes: list[float]) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes), persistent=False)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return -self.slopes[:, None, None] * distances(queries_at, keys_at).abs()


class LogEncoder(Encoder):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(_inverse_softplus([(head + 0.5) / heads for head in range(heads)]))
        self.raw_rate = nn.Parameter(_inverse_softplus([1.0] * heads))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        weight, rate = F.softplus(self.raw_weight)[:, None, None], F.softplus(self.raw_rate)[:, None, None]
        return -weight * torch.log1p(rate * distances(queries_at, keys_at).abs())


class PowerEncoder(Encoder):
    def __init__(self, slopes: list[float]) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(_inverse_softplus(slopes))
        self.raw_power = nn.Parameter(torch.zeros(len(slopes)))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        weight, power = F.softplus(self.raw_weight)[:, None, None], 2 * self.raw_power.sigmoid()[:, None, None]
        return -weight * distances(queries_at, keys_at).abs().to(power.dtype) ** power


def _inverse_softplus(values: list[float]) -> Tensor:
    return torch.tensor([math.log(math.expm1(value)) for value in values])


class T5Encoder(Encoder):
    bucket: Tensor

    def __init__(self, heads: int, buckets: int, furthest: int, causal: bool) -> None:
        super().__init__()
        self.causal, self.behind = causal, buckets // 2  # in an encoder, the buckets of the keys behind the query
        table = bucket_of_distance(buckets if causal else self.behind, furthest)
        self.register_buffer("bucket", torch.tensor(table), persistent=False)
        self.values = nn.Parameter(torch.randn(heads, buckets) * 0.02)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        apart = distances(queries_at, keys_at)[:, 0]  # [B or 1, queries, keys]
        last = len(self.bucket) - 1
        if self.causal:
            bucket = self.bucket[apart.clamp(0, last)]
        else:
            bucket = self.bucket[apart.abs().clamp(max=last)] + self.behind * (apart < 0)
        return self.values[:, bucket].transpose(0, 1)  # [B or 1, H, queries, keys]


def bucket_of_distance(buckets: int, furthest: int) -> list[int]:
    """The buckets of the distances 0, 1, ..., furthest.

    With e = buckets / 2, rounded down, and m = buckets - e: distance n < e has bucket n; from there on bucket
    e + k holds the n with e (furthest / e)^(k/m) <= n < e (furthest / e)^((k+1)/m), and the last one all that follow.
    The comparison is made in whole numbers, e^(m-k) furthest^k <= n^m, as logarithms miss the ends that are exact.
    """
    exact = buckets // 2
    growing = buckets - exact
    table = list(range(exact))
    k = 0
    for n in range(exact, furthest + 1):
        while k + 1 < growing and exact ** (growing - k - 1) * furthest ** (k + 1) <= n**growing:
            k += 1
        table.append(exact + k)
    return table


class FireEncoder(Encoder):
    def __init__(self, heads: int, hidden: int, threshold: float, rate: float) -> None:
        super().__init__()
        # Parameters and not linear layers, as a model gives all its linear layers weights of 0.02, and the product of
        # two such layers would start at next to nothing. The ranges are torch's own for 1 and for `hidden` inputs.
        self.inner = nn.Parameter(torch.empty(hidden).uniform_(-1.0, 1.0))
        self.inner_bias = nn.Parameter(torch.empty(hidden).uniform_(-1.0, 1.0))
        # No bias here: what is the same for all keys cancels in attention.
        self.outer = nn.Parameter(torch.empty(heads, hidden).uniform_(-1.0, 1.0) / math.sqrt(hidden))
        self.log_threshold = nn.Parameter(torch.tensor(math.log(threshold)))
        self.log_rate = nn.Parameter(torch.tensor(math.log(rate)))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        rate = self.log_rate.exp()
        apart = distances(queries_at, keys_at)[:, 0].to(rate.dtype)  # [B or 1, queries, keys]
        furthest = torch.maximum(queries_at[:, :, None], keys_at[:, None, :]) + 1  # counted from 1, so never 0
        reach = torch.maximum(furthest.to(rate.dtype), self.log_threshold.exp())
        share = apart.sign() * torch.log1p(rate * apart.abs()) / torch.log1p(rate * reach)
        features = (share[..., None] * self.inner + self.inner_bias).relu()  # [B or 1, queries, keys, hidden]
        return (features @ self.outer.T).permute(0, 3, 1, 2)


class RopeEncoder(Encoder):
    def __init__(self, turns: Tensor, factor: float = 1.0) -> None:
        super().__init__()
        # Not a buffer, so that a float32 model still computes its angles in float64: they grow with position.
        self.turns, self.factor = turns, factor

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:
        turned = _turned(x, at, self.turns)
        return turned if self.factor == 1.0 else turned * self.factor


class DynamicRopeEncoder(RopeEncoder):
    """Plain RoPE for the queries within the original length; a base of its own for each of the others."""

    def __init__(self, width: int, base: float, original: int, growth: float = 1.0, turned: int | None = None) -> None:
        super().__init__(frequencies(width, base))
        self.width, self.base, self.original, self.growth = width, base, original, growth
        self.still = slice(width // 2 if turned is None else turned, None)  # the pairs that do not turn
        self.turns[self.still] = 0

    def turns_at(self, tokens: int) -> Tensor:
        """The frequencies for a query that is the last of this number of tokens."""
        factor = self.growth * tokens / self.original - (self.growth - 1)
        if factor <= 1:
            return self.turns
        turns = frequencies(self.width, self.base, "ntk", factor)
        turns[self.still] = 0
        return turns

    def scores(self, q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor | None:
        """q·k, one late query at a time: O(Q K D) work as always, but O(K D) extra memory and no large product."""
        early = index < self.original
        if bool(early.all()):
            return None
        logits = q.new_empty(*q.shape[:3], k.shape[2])  # [B, H, Q, K]
        if bool(early.any()):
            turned = self.rotate(q[:, :, early], queries_at[:, early])
            logits[:, :, early] = turned @ self.rotate(k, keys_at).transpose(2, 3)
        for n in (~early).nonzero()[:, 0].tolist():
            turns = self.turns_at(int(index[n]) + 1)
            query = _turned(q[:, :, n : n + 1], queries_at[:, n : n + 1], turns)
            logits[:, :, n : n + 1] = query @ _turned(k, keys_at, turns).transpose(2, 3)
        return logits


def _turned(x: Tensor, at: Tensor, turns: Tensor) -> Tensor:
    """x [B, H, T, D] with each pair (k, k + D/2) turned by position x turns[k]."""
    angles = angles_at(at, turns)[:, None]  # [B or 1, 1, T, D / 2]
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def frequencies(
    width: int,
    base: float = 10000.0,
    scaling: str = "none",
    factor: float = 1.0,
    original: int = 0,
    low: float = 1.0,
    high: float = 32.0,
) -> Tensor:
    """Radians a position for each of the D/2 pairs of a head of width D, [D / 2] in float64.

    Plain: θ_k = b^(-2k/D) for k = 0, ..., D/2 - 1 (Su et al. 2021). With s the factor and L the original
    length, which only by_parts and yarn use:

    interpolation    θ / s, which is θ at position / s (Chen et al. 2023);
    ntk              θ of the base b s^(D/(D-2)), so that the last θ is divided by s exactly and the first by 1
                     (Peng et al. 2024, definition 1);
    by_parts         (1 - γ) θ / s + γ θ, where γ is 0 up to r = low, 1 from r = high on and linear between, and
                     r = L / λ = L θ / 2π is how often the pair goes round in the original length (definition 2);
                     llama3 is the same;
    yarn             the same with γ linear in k, from the last pair with r >= high to the first with r <= low. This is
                     the authors' code, and that of transformers; outside the ramp it agrees with the definition.
    """
    if scaling == "ntk":
        base = base * factor ** (width / (width - 2))
    plain = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    if scaling in ("none", "ntk"):
        return plain
    if scaling == "interpolation":
        return plain / factor
    if scaling not in ("by_parts", "llama3", "yarn"):
        raise UsageError(f"no fixed frequencies belong to the RoPE scaling {scaling!r}")
    rounds = original * plain / (2 * math.pi)
    gamma = ((rounds - low) / (high - low)).clamp(0.0, 1.0)
    if scaling == "yarn":
        # Where r = high and r = low, as real numbers of a pair, rounded outwards.
        ends = [width * math.log(original / (2 * math.pi * max(r, 1e-9))) / (2 * math.log(base)) for r in (high, low)]
        first, last = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), width - 1)
        gamma = 1 - ((torch.arange(width // 2) - first) / max(last - first, 1e-3)).clamp(0.0, 1.0).double()
    return (1 - gamma) * plain / factor + gamma * plain


def yarn_factor(factor: float) -> float:
    """sqrt(1/t) = 0.1 ln s + 1, by which YaRN multiplies queries and keys each (Peng et al. 2024)."""
    return 0.1 * math.log(factor) + 1.0
