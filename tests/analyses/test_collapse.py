"""Collapse: where it was planted it is found."""

import pytest

from lengthwise.analyses.ladder.collapse import collapse
from lengthwise.probes.ladder.levels import Inside
from planted_evidence import Place, planted


def growing(place: Place, layer: int) -> Inside:
    """States shared more the farther the depth, most after layer 2; the rank falls."""
    far = max(0, place.value - 3) if place.axis == "depth" else 0
    shared = 0.1 + 0.1 * far + (0.05 if layer == 2 else 0.0)
    return Inside(1.0 if layer == 0 else shared, 10, 8.0 - far, None if layer == 0 else 0.5)


class TestCollapse:
    def test_change_and_layer(self):
        shared, rank, *where = collapse(planted(lambda p: 0.1, inside=growing)).changes
        assert shared.value == pytest.approx(0.6)
        assert rank.value == pytest.approx(-6)
        assert shared.evidence["n"] == 54
        assert [claim.value for claim in where] == [1, 2, 2]

    def test_strata_average_seeds(self):
        evidence = planted(
            lambda p: 0.1,
            tasks=("one",),
            depths=(1,),
            widths=(16,),
            positions=("rope",),
            seeds=(0, 1),
            inside=lambda p, layer: Inside(0.2 + 0.4 * p.seed, 10, 2.0 + p.seed, 0.5),
        )
        strata = collapse(evidence).strata
        assert len(strata) == 19 * 2
        assert [row.shared for row in strata] == pytest.approx([0.4] * 38)
        assert {row.rank for row in strata} == {2.5}
        assert [row.layer for row in strata[:2]] == [0, 1]

    def test_nothing_to_share(self):
        found = collapse(planted(lambda p: 0.1, inside=lambda p, layer: Inside(None, 0, 2.0, None)))
        assert found.changes[0].status == "unknown"
        assert found.changes[1].value == 0
        assert {claim.status for claim in found.changes[2:]} == {"unknown"}

    def test_no_depth_levels(self):
        found = collapse(planted(lambda p: 0.1, levels=(("training", 0), ("length", 5))))
        assert [claim.status for claim in found.changes] == ["unknown", "unknown"]
