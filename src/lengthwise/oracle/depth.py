"""How many layers a trace with backtracking needs, and how wide a network must be for an error: known thresholds.

A search that pushes a choice and takes it back is a word of brackets: a push of choice c opens a bracket of kind c,
taking it back closes it, and a path that succeeds stays open at the end. k is the number of kinds, D the depth. Each
threshold holds for a class of models. No bound that grows with D holds for all Transformers: Dyck languages are in TC0,
and two soft layers generate bounded depth.

Barron 1993: if f has a Fourier representation with C = integral of |w| |f^(w)| dw, then for each n, each radius r and
each probability law on the ball of radius r, some network f(0) + sum of n step units has a root mean square error of at
most 2 r C / sqrt(n). The proof is in docs/explanation/limit.md; a test draws such networks and compares their error
with the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Check, Claim, Kind, Reference
from lengthwise.rounding import Upper, below

YAO = "yao2021"
USUAL = {"(": ")", "[": "]", "<": ">", "{": "}"}
BARRON = Reference("barron1993", "root mean square error 2 r C / sqrt(n); proof in docs/explanation/limit.md")
explain(
    {
        "depth.enough_hard": "layers that are enough with hard attention",
        "depth.enough_soft": "layers that are enough with soft attention",
        "depth.needed_pointers": "layers needed to follow the stack by pointers",
        "depth.needed_bits": "bits needed in a state that is the only memory, for all words of such brackets",
        "depth.hard_attention": "for hard attention with O(log k) memory per position; enough for this class, not "
        "needed",
        "depth.peeling": "deleting adjacent pairs takes exactly D rounds (peeling lemma, docs/explanation/limit.md)",
        "depth.sublinear": "for Transformers whose width and precision are sublinear in the length, following D "
        "pointers",
        "depth.conjecture": "the one-cycle-or-two conjecture of parallel computing",
        "depth.pointers": "the stack is read by pointers; a model may find another way",
        "depth.logarithm": "the order is a logarithm; the factor 1 in ceil(log2 D) is a choice",
        "depth.soft_attention": "for soft attention with O(log k) memory per position, generating at bounded depth",
        "depth.precise": "numbers have about log2 n bits, to distinguish n positions",
        "depth.one_vector": "for models whose next step sees one vector of width · precision bits and nothing else",
        "depth.not_looking_back": "a Transformer that looks back at the trace is not of this class",
        "depth.abstract": "quoted from an abstract or a secondary source; the proof was not checked here",
        "width.enough": "width that is enough, one hidden layer",
        "width.error": "root mean square error that {units} units need not exceed, one hidden layer",
        "width.wrong": "share of wrong answers that {units} units need not exceed, one hidden layer",
        "width.answers": "answers are 0 or 1 and the network's answer is 1 above 1/2, so a wrong one is off by 1/2",
        "width.no_floor": "the bound is from above and goes to 0 with the width, so it leaves no floor for a fixed "
        "target; C may grow with the problem",
        "width.deep": "width needed with {layers} hidden layers",
        "width.fourier": "f has a Fourier representation with this first moment C, which must be known",
        "width.ball": "inputs lie in the ball of this radius; the error is a root mean square, not a maximum",
        "width.exists": "such weights exist; training may not find them",
        "width.range": "smoothness times layers is at most 1/2 and the error below 1",
        "width.constant": "the constant is unknown: exponents and ratios between depths are meaningful",
        "width.recalled": (
            "exponents are partly cited from memory of an abstract (arXiv:2507.06789); the proof was not checked here"
        ),
    }
)


@dataclass(frozen=True)
class Nesting:
    """The shape of a trace: its kinds of brackets and how deep they nest."""

    kinds: int
    depth: int

    def __post_init__(self) -> None:
        if self.kinds < 1 or self.depth < 1:
            raise UsageError(f"kinds and depth must be at least 1, not {self.kinds} and {self.depth}")

    @property
    def configurations(self) -> int:
        """How many stacks of at most D brackets of k kinds there are: 1 + k + ... + k^D."""
        return (self.kinds ** (self.depth + 1) - 1) // (self.kinds - 1) if self.kinds > 1 else self.depth + 1

    @property
    def stack_bits(self) -> float:
        """log2 of that, also where it is too large for a float."""
        count = self.configurations
        shift = max(count.bit_length() - 64, 0)
        return math.log2(count >> shift) + shift

    def claims(self) -> list[Claim]:
        """The thresholds: `depth.enough…` says that a model exists, `depth.needed…` that no smaller one does."""
        hard, soft = Reference(YAO, "hard attention, D + 1 layers"), Reference(YAO, "soft attention, two layers")
        followed = Reference("sanford2024", "k-hop needs of the order of log k layers")
        counted = Reference("lengthwise", "docs/explanation/limit.md, counting stacks")
        pointers = ("sublinear", "conjecture", "pointers", "logarithm", "abstract")
        # The number of stacks, or its size where it has many digits.
        stacks = f"{self.configurations:,}" if self.stack_bits < 64 else f"2^{self.stack_bits:.6g}"
        bits = self._claim("needed_bits", self.stack_bits, "proved", ("one_vector", "not_looking_back"), counted)
        return [
            self._claim("enough_hard", self.depth + 1, "predicted", ("hard_attention", "peeling", "abstract"), hard),
            self._claim("needed_pointers", hops(self.depth), "heuristic", pointers, followed),
            self._claim("enough_soft", 2, "predicted", ("soft_attention", "precise", "abstract"), soft),
            replace(bits, unit="bits", evidence={**bits.evidence, "configurations": stacks}),
        ]

    def _claim(self, key: str, value: float, kind: Kind, rests: tuple[str, ...], reference: Reference) -> Claim:
        checked: dict[str, Check] = {"peeling": "checked"}
        given = tuple(Assumption(f"depth.{name}", checked.get(name, "assumed")) for name in rests)
        evidence = {"kinds": self.kinds, "depth": self.depth}
        return Claim(f"depth.{key}", value, "layers", kind, "holds", None, given, reference, evidence)


def hops(depth: int) -> int:
    """ceil(log2 D): doubling the reach of a pointer layer by layer."""
    return (depth - 1).bit_length()


def read_trace(trace: str | Sequence[str]) -> Nesting:
    """Kinds and depth of a trace of brackets, by peeling. What is open at its end is closed first. Brackets are ( ) [ ]
    < > { }, or numbered ones such as (4 )4; a text without spaces is read letter by letter."""
    tokens = trace.split() if isinstance(trace, str) and len(trace.split()) > 1 else list(trace)
    if not tokens:
        raise UsageError("a trace holds at least one bracket")
    kinds = len({token for token in tokens if closing(token)})
    return Nesting(kinds, peeling_rounds([*tokens, *_open_at_end(tokens)]))


def closing(token: str) -> str | None:
    """The bracket that closes this one; None if it does not open."""
    pair = USUAL.get(token[:1])
    return pair + token[1:] if pair and (not token[1:] or token[1:].isdigit()) else None


def peeling_rounds(word: Sequence[str]) -> int:
    """How many rounds of deleting all adjacent matched pairs at once it takes until nothing is left. It is the depth of
    the word (peeling lemma). A word that is not balanced is a usage error."""
    left, rounds = list(word), 0
    while left:
        kept: list[str] = []
        tokens = iter(enumerate(left, start=1))
        for after, token in tokens:
            if after < len(left) and closing(token) == left[after]:
                next(tokens)
            else:
                kept.append(token)
        if len(kept) == len(left):
            raise UsageError(f"the trace is not balanced: {' '.join(left[:8])} remains")
        left, rounds = kept, rounds + 1
    return rounds


def _open_at_end(tokens: Sequence[str]) -> list[str]:
    """The brackets that close what is open at the end, innermost first."""
    stack: list[str] = []
    for place, token in enumerate(tokens, start=1):
        partner = closing(token)
        if partner:
            stack.append(partner)
        elif stack and stack[-1] == token:
            stack.pop()
        else:
            expected = f"{stack[-1]!r} or an opening bracket" if stack else "an opening bracket"
            raise UsageError(f"token {place} of the trace is {token!r} where {expected} is needed")
    return stack[::-1]


def barron_width(error: float, constant: float, radius: float = 1.0) -> Claim:
    """Units that are enough for a root mean square error: ceil((2 r C / error)²), one hidden layer of steps."""
    _positive(error=error, constant=constant, radius=radius)
    _moderate(2 * radius * constant / error)
    value = math.ceil((2 * Fraction(radius) * Fraction(constant) / Fraction(error)) ** 2)  # exact, so 1 or more
    given = tuple(map(Assumption, ("width.fourier", "width.ball", "width.exists")))
    evidence = {"error": error, "constant": constant, "radius": radius, "formula": "ceil((2 r C / error)²)"}
    return Claim("width.enough", value, "units", "proved", "holds", None, given, BARRON, evidence)


def barron_error(units: int, constant: float, radius: float = 1.0) -> list[Claim]:
    """What `units` units need not exceed: the root mean square error e = 2 r C / sqrt(n), and for answers of 0 and 1
    the share of wrong ones, 4 e². (A wrong answer is off by 1/2 or more, so their share is at most 4 E[(f - y)²].)"""
    _positive(units=units, constant=constant, radius=radius)
    _moderate(2 * radius * constant / math.sqrt(units))
    least_root = below(math.sqrt(units))
    upper = Upper(2.0) * radius * constant / least_root
    error, wrong = float(upper), float(upper * upper * 4.0)
    given = tuple(map(Assumption, ("width.fourier", "width.ball", "width.exists", "width.no_floor")))
    evidence = {"units": units, "constant": constant, "radius": radius, "formula": "2 r C / sqrt(n)"}
    answers = (*given, Assumption("width.answers"))
    status = "vacuous" if wrong >= 1 else "holds"
    of_answers = {**evidence, "formula": "16 r² C² / n"}
    return [
        Claim("width.error", error, "", "proved", "holds", None, given, BARRON, evidence),
        Claim("width.wrong", min(1.0, wrong), "of answers", "proved", status, None, answers, BARRON, of_answers),
    ]


def deep_width(error: float, smoothness: float, layers: int) -> Claim:
    """The order of width at a depth: error^(-1/(s L)) for a target of spectral smoothness s, if s L <= 1/2."""
    _positive(error=error, smoothness=smoothness, layers=layers)
    applies = smoothness * layers <= 0.5 and error < 1
    power = 1 / (smoothness * layers)
    if (digits := -power * math.log10(error)) > 300:
        raise UsageError(f"error^-{power:.4g} has {digits:.3g} digits; give a larger error, smoothness or depth")
    inside = Assumption("width.range", "checked" if applies else "violated")
    given = (inside, Assumption("width.constant"), Assumption("width.recalled"))
    reference = Reference("spectralbarron2025", "rate N^(-s L) for L hidden layers, N^(-s) for one")
    evidence = {"error": error, "smoothness": smoothness, "layers": layers, "exponent": power}
    order = f"C · error^-{power:.4g} = C · {error**-power:.3g}, C unknown" if applies else None
    status = "holds" if applies else "refused"
    return Claim("width.deep", order, "units", "heuristic", status, None, given, reference, evidence)


def _moderate(value: float) -> float:
    """A number whose square is one too."""
    if not value <= 1e150:
        raise UsageError(f"constant and radius lead to {value:.3g}, too large to compute with; give smaller ones")
    return value


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{name} must be above 0 and finite, not {value}")
