"""How much a representation knows about the contexts: ratio trace, trace gap, canonical correlations.

For features Φ(x) with covariance C, and B = Cov(E[Φ(X) | A]), the ratio trace Tr(C⁺B) is the sum of the squared
associations that the span of Φ holds. It does not change under invertible linear maps of Φ, and no representation of
rank r exceeds s_1² + … + s_r² (Ky Fan; zhai2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.bounds.contexture.pencil import table_pencil
from lengthwise.bounds.contexture.spectrum import Spectrum, spectrum_by_svd
from lengthwise.bounds.contexture.table import JointTable
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

REFERENCE = Reference("zhai2025", "ratio trace; proved in docs/contexture.md")

explain(
    {
        "contexture.trace": "ratio trace of {of}",
        "contexture.correlation": "mean squared canonical correlation of {of} with the {rank} leading functions",
        "contexture.exact_table": "the joint table is the distribution, not counts of a sample",
    }
)


@dataclass(frozen=True, eq=False)
class Alignment:
    """A representation compared with the best of its rank.

    ratio_trace    Tr(C⁺B); the eigenvalues of B v = λ C v, whose sum it is, are `ritz`
    most           s_1² + … + s_r², what the best representation of this rank has
    trace_gap      the least, over m <= r, of s_1² + … + s_(m+1)² minus the m largest of `ritz`: what the error bound
                   for any encoder is made from; s_(r+1)² for the best representation, s_1² for one that knows nothing
    correlations   canonical correlations between Φ and μ_1, …, μ_r, descending
    """

    rank: int
    ratio_trace: float
    most: float
    trace_gap: float
    correlations: Floats
    ritz: Floats
    exact: bool

    def claims(self, of: str = "the representation") -> tuple[Claim, ...]:
        """The ratio trace, and the mean squared canonical correlation."""
        given = (Assumption("contexture.exact_table", "checked" if self.exact else "violated"),)
        told = {"of": of, "rank": self.rank}
        trace = Claim(
            "contexture.trace",
            self.ratio_trace,
            f"of at most {self.most:.6g}",
            "measured",
            assumptions=given,
            reference=REFERENCE,
            evidence={**told, "most": self.most, "trace_gap": self.trace_gap, "ritz": self.ritz.tolist()},
        )
        correlated = Claim(
            "contexture.correlation",
            float(np.mean(self.correlations**2)) if len(self.correlations) else 0.0,
            "",
            "measured",
            assumptions=given,
            reference=REFERENCE,
            evidence={**told, "correlations": self.correlations.tolist()},
        )
        return trace, correlated


def alignment(table: JointTable, features: Floats, spectrum: Spectrum | None = None) -> Alignment:
    """The alignment of features [X, d] of x, exact for the table that is given.

    Linearly dependent features count once; the rank of the centred ones takes the place of d. Where s_r = s_(r+1) the
    leading functions are not unique and correlations depend on the choice; the ratio trace does not.
    """
    spectrum = spectrum or spectrum_by_svd(table)
    solved = table_pencil(table, features)
    own = table.centred(features) @ solved.vectors
    leading = spectrum.of_x[:, : solved.rank]
    shared = np.linalg.svd(own.T @ (table.of_x[:, None] * leading), compute_uv=False)
    return Alignment(
        rank=solved.rank,
        ratio_trace=float(solved.values.sum()),
        most=spectrum.most(solved.rank),
        trace_gap=trace_gap(spectrum.squares, solved.values),
        correlations=np.clip(shared, 0.0, 1.0).astype(np.float64),
        ritz=solved.values,
        exact=table.pairs is None,
    )


def trace_gap(squares: Floats, ritz: Floats) -> float:
    """min over m of s_1² + … + s_(m+1)² - (λ_1 + … + λ_m), for the true s² and the eigenvalues λ of a representation,
    both descending. m = 0, nothing kept, gives s_1², so it is never more than that."""
    padded = np.zeros(len(ritz) + 1)
    padded[: min(len(squares), len(padded))] = squares[: len(padded)]
    return float(max(0.0, (np.cumsum(padded) - np.concatenate([[0.0], np.cumsum(ritz)])).min()))
