"""Numbers and lists as a reader meets them in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.probes.curve.curve import rounded_percent


def listed(names: Sequence[str], most: int = 4, last: str = "and") -> str:
    """`a, b and c`; of a long list the first few and how many more there are."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def counted(number: int, noun: str) -> str:
    """`1 run`, `5,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(value: float) -> str:
    """A number with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def times(multiple: float) -> str:
    """`3 times`, `1.5 times`, `once`: a multiple of the training length."""
    return "once" if short(multiple) == "1" else f"{short(multiple)} times"


def percent(share: float) -> str:
    """A share in per cent; 100 % only for a share that is one, 0 % only for one that is zero."""
    return f"{rounded_percent(share).removesuffix('.0')} %"


def p_text(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 0.0005 else "p < 0.0005"


def code(name: str) -> str:
    """A name between backticks, as one encoding is called `none`."""
    return "`" + name.replace("`", "'") + "`"


def cut(text: str, most: int = 160) -> str:
    """A text in one line, not longer than can be read at a glance."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def duration(seconds: float) -> str:
    """`42 s`, `7 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
