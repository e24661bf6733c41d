"""The losses of a model on all data, one stretch at a time; what is on disk already is not computed again."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import numpy as np

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.errors import Interrupted, UsageError
from lengthwise.interrupts import Stop
from lengthwise.probes.guarantee.losses import Stretch, TokenStatistics, losses_on, token_losses
from lengthwise.probes.guarantee.source import TokenSource, limited
from lengthwise.probes.guarantee.store import BoundFolder
from lengthwise.progress import Progress
from lengthwise.seeds import Ints
from lengthwise.subjects.predictor import Predictor

WORK = 1 << 40  # weights times tokens of a stretch: some seconds to half a minute
SMALLEST, LARGEST = 1 << 12, 1 << 18  # predicted tokens of a stretch
PART = 1 << 13  # tokens of the small part on which quantisers are compared


def stretch_tokens(predictor: Predictor) -> int:
    """How many tokens a stretch has: a power of two, fewer for a larger model."""
    wanted = max(SMALLEST, min(LARGEST, WORK // max(1, predictor.parameters)))
    return 1 << (wanted.bit_length() - 1)


def small_part(source: TokenSource, predictor: Predictor, limit: int | None) -> Stretch:
    """The beginning of the data."""
    most = PART if predictor.parameters <= 20_000_000 else 1024
    first = next(limited(source.stretches(most), min(most, limit or most)), None)
    if first is None or not first.tokens:
        raise UsageError(f"there is no token to predict; a document needs two tokens ({source.described})")
    return first


def expected_tokens(source: TokenSource, part: Stretch, limit: int | None) -> int:
    """About how many tokens there are in all."""
    if source.expected is not None:
        about = source.expected
    else:
        seen = len(np.unique(np.concatenate([rows.documents for rows in part.rows])))
        about = round(part.tokens / seen * source.documents)
    return min(about, limit) if limit else about


def read_losses(
    predictor: Predictor, source: TokenSource, limit: int | None, store: BoundFolder, total: int, progress: Progress
) -> TokenLosses:
    """The losses of every token in reading order. Ctrl-C keeps every finished stretch. 56 bytes per token in memory."""
    found, done = [], 0
    with Stop() as stop:

        def reached(tokens: int) -> None:
            nonlocal done
            done += tokens
            progress("predicting", done, max(done, total))
            if stop.asked:
                raise Interrupted(f"stopped after {_finished(found):,} tokens; run the same command again to resume")

        for number, stretch in enumerate(_stretches(source, predictor, limit)):
            stored = store.losses(number, stretch)
            if stored is not None:
                found.append(stored)
                reached(stretch.tokens)
                continue
            found.append(losses_on(predictor, stretch, reached))
            store.write_losses(number, stretch, *found[-1])
    if stop.asked:
        signal.raise_signal(stop.asked)
    return token_losses(found, predictor.vocabulary)


def _stretches(source: TokenSource, predictor: Predictor, limit: int | None) -> Iterator[Stretch]:
    return limited(source.stretches(stretch_tokens(predictor)), limit)


def _finished(found: list[tuple[TokenStatistics, Ints]]) -> int:
    return sum(len(statistics.surprise) for statistics, _ in found)
