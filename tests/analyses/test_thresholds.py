"""Thresholds: the fewest layers that reach a level, and what that says of the oracle."""

import pytest

from lengthwise.analyses.ladder.thresholds import NEEDED, predictions, thresholds
from planted_evidence import Place, planted


def by_layers(place: Place) -> float:
    """Depth 4 takes one layer, 5 two, 6 three, and only at the greatest width; more is never reached."""
    reached = place.axis == "training" or (place.value - 3 <= place.depth and place.width == 64)
    return 0.05 if reached else 0.7


class TestThresholds:
    def test_planted(self):
        rows = thresholds(planted(by_layers, tasks=("subset_sum",))).rows
        assert [row.level for row in rows[:7]] == ["training", *(f"depth {d}" for d in range(4, 10))]
        assert [row.accurate for row in rows[:7]] == [1, 1, 2, 3, None, None, None]
        assert [row.solving for row in rows[:7]] == [1, 1, 2, 3, None, None, None]
        assert [row.nesting for row in rows[:7]] == [3, 4, 5, 6, 7, 8, 9]
        assert rows[1].best_token == pytest.approx((0.95, 0.95, 0.95))
        assert rows[4].best_solved == pytest.approx((0.3, 0.3, 0.3))

    def test_claims(self):
        found = thresholds(planted(by_layers, tasks=("subset_sum",)))
        rows = [claim for claim in found.claims() if claim.key == "thresholds.row"]
        reached = {(claim.evidence["level"], claim.evidence["position"]): claim.value for claim in rows}
        assert (reached["depth 5", "rope"], reached["depth 9", "rope"]) == (2, "none")
        verdicts = [claim for claim in found.claims() if claim.key == "thresholds.over_rows"]
        hops = next(claim for claim in verdicts if claim.evidence["predicted"] == NEEDED)
        # ceil(log2 D) is 2, 2, 3, 3 for D = 3 (training) to 6 with 1, 1, 2, 3 layers measured: two encodings each
        assert (hops.value, hops.unit, hops.status) == (2, "of 8 it can judge, of 14", "refuted")
        assert (hops.evidence["contradicted"], hops.evidence["silent"]) == (6, 6)

    def test_mazes_nest_deeper_than_their_goal(self):
        rows = thresholds(planted(by_layers, tasks=("tree_maze",))).rows
        assert all(row.nesting >= row.value for row in rows)

    def test_a_task_without_brackets(self):
        rows = thresholds(planted(by_layers)).rows
        assert rows[0].accurate == 1
        assert (rows[0].nesting, rows[0].predictions) == (None, ())

    def test_no_depth_axis(self):
        assert thresholds(planted(by_layers, levels=(("training", 0), ("length", 9)))).claims() == []


class TestPredictions:
    @pytest.mark.parametrize(
        ("reached", "layers", "verdicts"),
        [
            (1, (1, 2, 3), ("agrees", "contradicted", "agrees")),
            (2, (1, 2, 3), ("agrees", "agrees", "agrees")),
            (3, (1, 2, 3), ("agrees", "agrees", "silent")),
            (None, (1, 2, 3), ("silent", "silent", "silent")),
            (None, (8,), ("silent", "silent", "silent")),
        ],
    )
    def test_depth_four(self, reached, layers, verdicts):
        """Enough with hard attention: 5; needed for pointers: 2; enough with soft attention: 2."""
        found = predictions(2, 4, layers, reached)
        assert [one.claim.value for one in found] == [5, 2, 2]
        assert tuple(one.agreement for one in found) == verdicts

    def test_it_says_whether_enough_layers_were_tried(self):
        assert predictions(2, 4, (1, 2, 3), None)[0].because == "thresholds.enough_untried"
        assert predictions(2, 4, (1, 8), None)[0].because == "thresholds.enough_unfound"
