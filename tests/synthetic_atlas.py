"""An atlas whose outcomes are planted: by class and encoding a run holds to the end or collapses at a random size, so
outcomes are two-peaked; margin and confidence begin to fall before exact match does."""

from __future__ import annotations

import numpy as np

from lengthwise.evidence import Atlas, AtlasRun, TaskFacts

POSITIONS = ("none", "learned", "learned+offset", "sinusoidal", "rope", "alibi", "t5", "kerple", "fire")
CLASSES = ("counting", "positions", "neither")
TRAIN_SIZE = 20
SIZES = (2, 4, 8, 12, 16, 20, 25, 32, 40, 50, 64, 80, 101, 127, 160)
ITEMS = 100

# The planted probability that a run holds: one row per class, one column per encoding.
HOLDS = {
    "counting": (0.9, 0.05, 0.9, 0.05, 0.1, 0.8, 0.7, 0.8, 0.6),
    "positions": (0.1, 0.05, 0.8, 0.05, 0.2, 0.6, 0.5, 0.5, 0.4),
    "neither": (0.02, 0.02, 0.1, 0.02, 0.02, 0.1, 0.1, 0.1, 0.1),
}


def synthetic_atlas(tasks: int = 36, seeds: int = 2, positions: tuple[str, ...] = POSITIONS, seed: int = 0) -> Atlas:
    """Random languages, the classes in turn; a language of many states holds less often. Every seventh is unlearned."""
    drawn = np.random.default_rng(seed)
    runs = []
    for number in range(tasks):
        oracle_class = CLASSES[number % len(CLASSES)]
        states = int(drawn.integers(2, 9))
        facts = TaskFacts(oracle_class, states, int(drawn.integers(2, 5)), "tag", 1.0, memory=int(drawn.integers(0, 4)))
        luck = drawn.normal(0, 0.15)  # of the task, shared by its runs: tasks are the unit, not runs
        for position in positions:
            chance = HOLDS[oracle_class][POSITIONS.index(position)] + luck - 0.05 * (states - 5)
            for one in range(seeds):
                learned = bool(drawn.random() < 6 / 7)
                holds = learned and bool(drawn.random() < np.clip(chance, 0.02, 0.98))
                runs.append(_run(f"random_language:seed={number}", facts, position, one, learned, holds, drawn))
    return Atlas(tuple(runs))


def _run(
    task: str, facts: TaskFacts, position: str, seed: int, learned: bool, holds: bool, drawn: np.random.Generator
) -> AtlasRun:
    sizes = np.array(SIZES, dtype=float)
    end = np.inf if holds else TRAIN_SIZE * 8 ** drawn.beta(1, 2) if learned else drawn.uniform(4, 18)
    share = 1 / (1 + (sizes / end) ** drawn.uniform(8, 20))
    exact = drawn.binomial(ITEMS, np.clip(share, 0, 0.999)) / ITEMS
    fading = np.clip(1 - np.log(sizes) / np.log(3 * min(end, 1e4)), 0.01, 1)
    margin = 6 * fading * np.exp(drawn.normal(0, 0.6) + drawn.normal(0, 0.4, len(SIZES)))
    signals = {
        "margin": margin,
        "confidence": 1 / (1 + np.exp(-2 * margin + 1)),
        "entropy": np.clip(0.4 + 0.05 * np.log(sizes) + drawn.normal(0, 0.05), 0, 1),
        "norm": 8 + 0.5 * np.log(sizes) * drawn.uniform(0.5, 2),
    }
    trained = [value for size, value in zip(SIZES, exact, strict=True) if size <= TRAIN_SIZE]
    return AtlasRun(
        task=task,
        group="language",
        facts=facts,
        position=position,
        verdict=_verdict(facts.oracle_class, position),
        settings={},
        train_size=TRAIN_SIZE,
        seed=seed,
        learned=bool(min(trained) >= 0.95),
        sizes=SIZES,
        exact=tuple(map(float, exact)),
        items=ITEMS,
        signals={name: tuple(map(float, values)) for name, values in signals.items()},
        losses=tuple(np.geomspace(2, 0.01 if learned else 0.3, 12)),
    )


def _verdict(oracle_class: str, position: str) -> str:
    can = {"none": ("counting",), "learned+offset": ("counting", "positions")}
    return "unknown" if position not in can else "can" if oracle_class in can[position] else "cannot"
