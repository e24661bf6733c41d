"""The campaign against certified bounds: optimised attempts to exceed each of them, until a number of them were made.

    python -m attack.certificates --count 1000000 --seed 0

Rounds follow from the seed, the name of the attack and their number, so that a violation is repeated with `--only
whole_models:17`. An attempt is one evaluated pair of inputs, direction, plan or draw. A bound that always holds is
violated by one attempt above it. One that holds with probability 1 - δ is violated where more draws exceed it than a
share δ explains (one in a million). `--page FILE` writes the table into a page, between its two marks.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import binom

from attack import couplings, coverage, stretching, whole
from attack.attempt import Attempts, Found

Attack = Callable[[np.random.Generator, int], Found]
# What share of the attempts an attack has.
ATTACKS: Mapping[str, tuple[Attack, float]] = {
    attack.__name__: (attack, share)
    for attack, share in (
        (stretching.matrix_norms, 0.06),
        (stretching.attention, 0.22),
        (stretching.attained, 0.04),
        (stretching.l2_attention, 0.06),
        (stretching.mlp, 0.14),
        (stretching.norms, 0.13),
        (stretching.folded_head, 0.02),
        (whole.whole_models, 0.20),
        (couplings.line, 0.01),
        (couplings.plane, 0.01),
        (couplings.vectors, 0.01),
        (couplings.frequencies, 0.03),
        (coverage.means, 0.02),
        (coverage.sampled_distances, 0.02),
        (coverage.contrastive, 0.025),
        (coverage.tokens, 0.002),
        (coverage.shifts, 0.005),
        (coverage.messages, 0.001),
    )
}
BATCH = 128
SURE = 1e-6  # how unlikely so many exceeded draws have to be, if the bound holds
MARKS = ("<!-- table -->", "<!-- end of table -->")


@dataclass
class Tally:
    """What came of the attempts against one bound; `worst` is the largest observed/certified."""

    attempts: int = 0
    exceeded: int = 0
    worst: float = 0.0
    allowed: float = 0.0
    seconds: float = 0.0

    def count(self, found: Attempts, seconds: float) -> int:
        """Add what was found; how many of its attempts exceed the certificate."""
        ratios = found.ratios()
        exceeded = int((ratios > 1).sum())
        self.attempts += len(ratios)
        self.exceeded += exceeded
        self.worst = max(self.worst, float(ratios.max(initial=0.0)))
        self.allowed, self.seconds = found.allowed, self.seconds + seconds
        return exceeded

    @property
    def violated(self) -> bool:
        return self.exceeded > (binom.ppf(1 - SURE, self.attempts, self.allowed) if self.allowed else 0)


def rounds(seed: int, name: str, first: int = 0) -> Iterator[tuple[int, Found]]:
    """One round after the other of an attack, each with its number."""
    attack = ATTACKS[name][0]
    number = first
    while True:
        yield number, attack(np.random.default_rng([seed, zlib.crc32(name.encode()), number]), BATCH)
        number += 1


def campaign(seed: int, count: int, told: bool = True) -> dict[str, Tally]:
    """Make `count` attempts or a few more; what came of them, by bound."""
    tallies: dict[str, Tally] = {}
    made, began = 0, time.monotonic()
    total = sum(share for _, share in ATTACKS.values())
    for name, (_, share) in ATTACKS.items():
        due, own = max(1, round(count * share / total)), 0
        for number, found in rounds(seed, name):
            before = time.process_time()
            for attempts in found:
                tally, now = tallies.setdefault(attempts.bound, Tally()), time.process_time()
                attempted = tally.attempts
                if tally.count(attempts, now - before) and not attempts.allowed:
                    print(f"VIOLATED {attempts.bound} by {name}:{number}, seed {seed}", flush=True)
                own += tally.attempts - attempted
                before = now
            if own >= due:
                break
        made += own
        if told:
            print(f"{made:,} attempts, {time.monotonic() - began:.0f} s: {name} done", file=sys.stderr, flush=True)
    return tallies


def table(tallies: Mapping[str, Tally]) -> list[str]:
    """Two tables: bounds that always hold, and those that hold with a probability."""
    certain = ["| bound | attempts | violations | worst observed/certified | seconds |", "|---|--:|--:|--:|--:|"]
    likely = ["| bound | draws | exceeded | share allowed | worst observed/certified | seconds |"]
    likely.append("|---|--:|--:|--:|--:|--:|")
    for name, one in sorted(tallies.items()):
        if one.allowed:
            share = f"{one.exceeded} ({one.exceeded / max(1, one.attempts):.2%})"
            cells = (name, f"{one.attempts:,}", share, f"{one.allowed:.0%}")
        else:
            cells = (name, f"{one.attempts:,}", str(one.exceeded))
        (likely if one.allowed else certain).append(f"| {' | '.join(cells)} | {one.worst:.3f} | {one.seconds:.1f} |")
    return [*certain, "", *likely]


def write_page(page: Path, tallies: Mapping[str, Tally], seed: int) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    if not after:
        raise SystemExit(f"{page} has no marks {MARKS[0]} and {MARKS[1]} to write the table between")
    lines = [MARKS[0], "", summary(tallies, seed), "", *table(tallies), "", MARKS[1]]
    page.write_text(before + "\n".join(lines) + after, encoding="utf-8")


def summary(tallies: Mapping[str, Tally], seed: int) -> str:
    attempts = sum(one.attempts for one in tallies.values())
    violated = sum(one.violated for one in tallies.values())
    seconds = sum(one.seconds for one in tallies.values())
    return f"{attempts:,} attempts, seed {seed}, {seconds:.0f} s of processor time: {violated} bounds violated."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--page", type=Path, help="a page to write the table into")
    parser.add_argument("--only", help="one round, as NAME:NUMBER: show what it found")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"seed {options.seed}, {options.count} attempts", flush=True)
    if options.only:
        name, _, number = options.only.partition(":")
        for attempts in next(rounds(options.seed, name, int(number)))[1]:
            ratios = attempts.ratios()
            print(f"{attempts.bound}: {len(ratios)} attempts, worst ratio {ratios.max(initial=0.0):.17g}")
        return 0
    tallies = campaign(options.seed, options.count)
    print("\n".join(table(tallies)))
    print(summary(tallies, options.seed))
    if options.page:
        write_page(options.page, tallies, options.seed)
    return 1 if any(one.violated for one in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
