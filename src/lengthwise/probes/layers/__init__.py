"""The probe `layers`: the matrices of a model, their norms, and how long its hidden states are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.figures.plots import line_figure
from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Column, Figure, Record, Table

if TYPE_CHECKING:
    from lengthwise.probes.layers.matrices import Radius

_KINDS = ("query", "key", "value", "out", "mlp in", "mlp gate", "mlp out")
_LENGTHS = (Column("after", "text"), Column("least"), Column("median"), Column("greatest"))
_NORMS = (Column("place", "text"), Column("kind", "text"), Column("largest_weight"))
_MATRICES = (
    *(Column("matrix", "text"), Column("shape", "text"), Column("parameters", "whole")),
    *(Column("spectral"), Column("frobenius", title="Frobenius")),
)


@probes.register("layers")
@dataclass(frozen=True)
class LayersProbe(WeightsProbe):
    """Matrices with their sizes and norms, and the lengths of hidden states."""

    title = "Layers"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.layers.matrices import matrices, norm_gains, radii

        found = matrices(look.anatomy)
        by_place = {matrix.place: matrix for matrix in found}
        kinds = [kind for kind in _KINDS if f"block 0 {kind}" in by_place]
        blocks = range(len(look.anatomy.blocks))
        inside = [by_place[f"block {number} {kind}"] for number in blocks for kind in kinds]
        outside = [matrix for matrix in found if matrix not in inside]
        text = (
            f"{look.anatomy.parameters:,} parameters, of which {sum(m.parameters for m in inside):,} are in the "
            "matrices of its blocks. Outside of them: "
            + ", ".join(f"{m.place} {m.shape[0]:,} × {m.shape[1]:,}" for m in outside)
            + "."
        )
        lengths = radii(look.trace)
        stream = [one for one in lengths if not one.inside]
        norms = tuple((number, *(by_place[f"block {number} {kind}"].spectral for kind in kinds)) for number in blocks)
        norm_columns = (Column("block", "whole"), *(Column(kind.replace(" ", "_")) for kind in kinds))
        every = tuple((m.place, f"{m.shape[0]} × {m.shape[1]}", m.parameters, m.spectral, m.frobenius) for m in found)
        stretch, of_all = "the most that a matrix stretches a vector", "over all tokens of the inputs"
        title = "Lengths of hidden states"
        return self.record(
            text=(text,),
            tables=(
                Table("layers.spectral", norm_columns, norms, "Spectral norms by block", stretch),
                Table("layers.lengths", _LENGTHS, tuple(map(_row, stream)), title, of_all),
                Table("layers.matrices", _MATRICES, every, "All matrices", detail=True),
                Table("layers.norms", _NORMS, tuple(norm_gains(look.anatomy)), "Norms", detail=True),
                Table("layers.all_lengths", _LENGTHS, tuple(map(_row, lengths)), f"{title}, all places", detail=True),
            ),
            figures=(_figure(lengths),),
        )


def _row(one: Radius) -> tuple[str, float, float, float]:
    return one.place, one.least, one.median, one.greatest


def _figure(lengths: list[Radius]) -> Figure:
    names = ("least", "median", "greatest")
    series = {name: [(at, getattr(one, name)) for at, one in enumerate(lengths)] for name in names}
    words = (
        f"The median length of hidden states is {lengths[0].median:.3g} on entry and {lengths[-2].median:.3g} after "
        "the last block."
    )
    axes = ("place in the forward pass", "norm")
    return line_figure("layers.lengths", "Lengths of hidden states", words, axes, series, "y")
