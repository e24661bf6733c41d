"""Whether the line of gamma tells when tokens gather: rows with a known answer, and rows of a simulation."""

import pytest

from lengthwise.geometry.particles.phases import PhaseSettings, in_words, line_claims, phase_rows, transition_rows


def rows_of(d, halves, times=(0.0, 1.0, 2.0, 3.0, 4.0)):
    """Rows in which half of the pairs are close from a given time on, for each beta."""
    return [
        {"d": d, "beta": beta, "time": time, "share_pairs": float(time >= half), "starts": 4}
        for beta, half in halves.items()
        for time in times
    ]


def test_cells_that_agree_differ_and_stay_open():
    rows = rows_of(8, {0.0: 2.0, 1.0: 4.0, 2.0: 9.0, 3.0: 9.0, 4.0: 1.0})
    line = [{"beta": b, "time": t} for b, t in enumerate((1.5, 1.0, 2.0, 50.0, 50.0))]
    overall, one = line_claims(rows, line, 8)
    assert one.evidence["agrees_at_beta"] == [0.0] and one.evidence["undecided_at_beta"] == [3.0]
    assert [cell["beta"] for cell in one.evidence["differs"]] == [1.0, 2.0, 4.0]
    assert one.value == 0.25 and one.kind == overall.kind == "measured"
    assert overall.value is False and overall.status == "refuted"
    words = in_words(one)
    assert "at least n" in words and "1 of 4" in words and "most at 4" in words and "Not decided at 3." in words


def test_dimensions_below_n_do_not_count_for_the_first_claim():
    rows = [*rows_of(2, {0.0: 4.0}), *rows_of(8, {0.0: 2.0})]
    overall, low, high = line_claims(rows, [{"beta": 0.0, "time": 1.5}], 4)
    assert overall.value is True and low.value == 0 and high.value == 1 and "below n" in in_words(low)
    assert line_claims(rows[:5], [{"beta": 0.0, "time": 1.5}], 4)[0].status == "unknown"
    never = line_claims(rows_of(8, {0.0: 9.0}), [{"beta": 0.0, "time": 50.0}], 4)[1]
    assert never.status == "unknown" and "neither" in in_words(never)


def test_a_step_of_the_grid_or_a_tenth_of_the_time_is_forgiven():
    for due, agrees in ((0.1, True), (2.9, True), (3.2, False)):
        found = line_claims(rows_of(8, {0.0: 2.0}), [{"beta": 0.0, "time": due}], 4)[1]
        assert (found.value == 1) is agrees, due
    far = rows_of(8, {0.0: 31.0}, times=(0.0, 30.0, 31.0))
    assert line_claims(far, [{"beta": 0.0, "time": 34.0}], 4)[1].value == 1


def test_high_dimensions_follow_the_line_and_the_circle_does_not():
    times = [0.0, *(3 + 0.5 * k for k in range(15))]
    rows = phase_rows((2, 256), (4.0,), times, PhaseSettings(n=8, starts=4))
    line = transition_rows((4.0,), 8)
    overall, low, high = line_claims(rows, line, 8)
    assert overall.value is True and high.value == 1
    assert low.value == 0 and low.evidence["differs"][0]["line"] == pytest.approx(line[0]["time"])
