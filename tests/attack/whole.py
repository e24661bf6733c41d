"""Attacks on the certificates of whole models: on the ball, between sequences of tokens, and near given sequences."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attack.attempt import Attempts, Found
from attack.stretching import BOTH, Map, derivatives, in_ball, lengths, quotient, search, stored
from lengthwise.models.forward import embed, run_from
from lengthwise.models.parts import ACTIVATIONS, Anatomy, AttentionPart, BlockPart, MlpPart, NormPart, TablePart
from lengthwise.probes.lipschitz.certificate import LipschitzCertificate, certify, certify_near

WIDTH, VOCABULARY = 4, 6
SWAPS = 6


def random_model(rng: np.random.Generator) -> Anatomy:
    """One or two blocks of any kind: pre, post or parallel; LayerNorm or RMSNorm; plain or gated; any rule, with and
    without rotations and position vectors. Weights are a float32 or a float64 model's, of any strength; embeddings
    and the head may be as small or as large as 1e-150 and 1e150."""
    kind, order = str(rng.choice(["layer", "rms"])), str(rng.choice(["pre", "post", "parallel"]))
    rule = str(rng.choice(["softmax", "window:size=2", "log_length"]))
    gated, rotary = bool(rng.integers(2)), torch.tensor([1.0, 0.1]).double() if rng.random() < 0.4 else None
    eps, activation = float(rng.choice([1e-5, 1e-3, 1.0])), str(rng.choice([*ACTIVATIONS]))

    def norm() -> NormPart:
        return NormPart(kind, 1 + 0.3 * stored(rng, WIDTH), stored(rng, WIDTH) if kind == "layer" else None, eps)

    def block() -> BlockPart:
        matrices = [0.5 * stored(rng, 2, 4, WIDTH) for _ in range(3)]
        biases = [stored(rng, 2, 4) if rng.random() < 0.5 else None for _ in range(3)]
        attention = AttentionPart(
            *matrices, 0.5 * stored(rng, 2, WIDTH, 4), *biases, stored(rng, WIDTH), 0.5, True, rotary, rule=rule
        )
        inner = 6
        gate = (stored(rng, inner, WIDTH), stored(rng, inner)) if gated else (None, None)
        mlp = MlpPart(
            "gated" if gated else "plain", stored(rng, inner, WIDTH), stored(rng, inner), gate[0],
            stored(rng, WIDTH, inner), stored(rng, WIDTH), activation, gate[1],
        )  # fmt: skip
        return BlockPart(order, norm(), attention, norm(), mlp)

    small, large = (10.0 ** float(rng.choice([0, 0, 0, -150, 100])) for _ in range(2))
    rows = stored(rng, 8, WIDTH) * small
    table = TablePart(lambda at: rows[at], rows) if rng.random() < 0.3 else None
    head = stored(rng, 3, WIDTH) * large if rng.random() < 0.5 else None
    blocks = tuple(block() for _ in range(int(rng.integers(1, 3))))
    return Anatomy(
        "a model", stored(rng, VOCABULARY, WIDTH) * small, table, None, blocks, norm() if order == "pre" else None, head
    )


def whole_models(rng: np.random.Generator, batch: int) -> Found:
    model, length = random_model(rng), int(rng.integers(1, 6))
    at = model.places(length)
    tokens = torch.from_numpy(rng.integers(VOCABULARY, size=(batch, length)))
    x = embed(model, tokens, at)

    def f(x: Tensor) -> Tensor:
        return run_from(model, x, at).output

    ball = certify(model, length)
    for norm in BOTH:
        certified = constant(ball, norm)
        for seen in search(f, in_ball(ball.radius), x, norm, rng):
            yield Attempts(f"whole model, ball, {norm}", seen.detach().numpy(), certified)
    yield from token_pairs(model, f, tokens, at, rng)
    yield from near_sequences(model, f, tokens[: max(1, batch // 16)], rng)


def constant(certificate: LipschitzCertificate, norm: str) -> float:
    """The certified constant; infinite where none is given."""
    value = getattr(certificate, norm).value
    return np.inf if value is None else float(value)


def token_pairs(model: Anatomy, f: Map, tokens: Tensor, at: Tensor, rng: np.random.Generator) -> Found:
    """Pairs of sequences of tokens; one token of each pair is exchanged where that makes the quotient larger."""
    certificate = certify(model, tokens.shape[1], "tokens")
    pair = [tokens, torch.from_numpy(rng.integers(VOCABULARY, size=tuple(tokens.shape)))]
    with torch.no_grad():
        for norm in BOTH:
            certified, best = constant(certificate, norm), torch.zeros(len(tokens)).double()
            for step in range(SWAPS):
                moved = [one.clone() for one in pair]
                if step:
                    places = torch.from_numpy(rng.integers(tokens.shape[1], size=len(tokens)))
                    moved[step % 2][torch.arange(len(tokens)), places] = torch.from_numpy(
                        rng.integers(VOCABULARY, size=len(tokens))
                    )
                seen = quotient(f, *(embed(model, one, at) for one in moved), norm)
                better = (seen >= best)[:, None]
                best, pair = seen.maximum(best), [torch.where(better, *both) for both in zip(moved, pair, strict=True)]
                yield Attempts(f"whole model, tokens, {norm}", seen.numpy(), certified)


def near_sequences(model: Anatomy, f: Map, tokens: Tensor, rng: np.random.Generator) -> Found:
    """Derivatives at given sequences, and pairs within a widening of one of them.

    Derivatives are taken of embeddings of usual size alone: a token that occurs twice has equal scores, whose
    derivatives cancel but for rounding, and that is of the square of the size.
    """
    at = model.places(tokens.shape[1])
    x = embed(model, tokens, at)
    longest = float(lengths(x).max())
    for widening in (0.0, longest * float(10 ** rng.uniform(-4, 0))):
        certificate = certify_near(model, tokens, widening)
        for norm in BOTH:
            certified, name = constant(certificate, norm), f"whole model, near sequences, {norm}"
            if widening:
                for seen in search(f, in_ball(widening, x), x, norm, rng):
                    yield Attempts(name, seen.detach().numpy(), certified)
            elif 1e-50 < longest < 1e50:
                for seen in derivatives(f, x, norm, rng):
                    yield Attempts(name, seen.detach().numpy(), certified)
