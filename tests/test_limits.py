"""Counts, estimates and time limits: what no machine holds, what is out of reach, and code that does not end."""

from __future__ import annotations

import signal

import pytest

from lengthwise import limits
from lengthwise.errors import OutOfReach, UsageError
from lengthwise.limits import Patience, check_count, check_reach, lifted, shown_count, time_limit, whole_number
from lengthwise.runs.plan import plan_for
from lengthwise.studies.grid import plans
from lengthwise.studies.reach import check_plans, plan_memory
from lengthwise.studies.spec import Study


def test_counts() -> None:
    assert check_count(10, "n", 10) == 10
    for value in (11, -11, 10**5_000):
        with pytest.raises(UsageError, match="n must be at most 10"):
            check_count(value, "n", 10)
    assert shown_count(10**400) == "a number of about 401 digits"


def test_numbers_in_texts() -> None:
    assert whole_number("12", "n", 20) == 12
    for text in ("21", "x", "", "9" * 5_000, "1e3"):
        with pytest.raises(UsageError, match=r"n must be .*at most 20, not"):
            whole_number(text, "n", 20)


def test_a_pace_is_judged_once_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("lengthwise.limits.time.monotonic", lambda: now[0])
    pace = Patience("it", most=600.0)
    now[0] = limits.PACED_SECONDS  # nothing is done yet, but that may change
    pace(0.0)
    now[0] = 60.0
    pace(0.11)
    with lifted():
        pace(0.09)
    with pytest.raises(OutOfReach, match="it would take about 11 minutes, and the limit is 10 minutes"):
        pace(0.09)


def test_what_is_out_of_reach_can_be_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "machine_memory", lambda: 10**9)
    check_reach("it", memory=8e8, seconds=86_400)
    for need in ({"memory": 1e12}, {"seconds": 1e9}, {"memory": float("inf")}):
        with pytest.raises(OutOfReach, match="it would take about"):
            check_reach("it", **need)
        with lifted():
            check_reach("it", **need)
        with lifted(False), pytest.raises(OutOfReach):
            check_reach("it", **need)


def test_the_estimate_is_not_above_what_a_usual_run_takes() -> None:
    """From below: a plan that would fit is never refused."""
    assert plan_memory(plan_for("sort", "rope")) < 2e8


@pytest.mark.parametrize("setting", [{"width": 10**8, "heads": 1}, {"mlp_ratio": 10**9}, {"batch": 10**9}])
def test_models_that_no_machine_holds_are_refused(setting: dict[str, int]) -> None:
    with pytest.raises(OutOfReach, match="of memory, and the limit here is"):
        check_plans([plan_for("sort", "rope", setting)])


def test_steps_that_never_end_are_refused() -> None:
    with pytest.raises(OutOfReach, match="days, and the limit is 30 days"):
        check_plans([plan_for("sort", "rope", {"steps": 10**9})])


@pytest.mark.parametrize(
    "wrong",
    [
        {"tasks": "sort", "train_size": 2**63 - 1},
        {"tasks": "sort", "test_size": 2**62},
        {"tasks": "sort:alphabet=1000000000"},
        {"tasks": "sort", "seeds": 10**9},
        {"tasks": "sort", "items": 10**18},
        {"tasks": "sort", "training": {"steps": 10**12}},
    ],
)
def test_studies_of_huge_numbers_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        plans(Study(name="huge", positions="rope", **wrong))


def endless() -> None:
    while True:
        pass


def test_what_takes_too_long_is_stopped() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfReach, match=r"the loop took more than 0.05 s"), time_limit("the loop", 0.05):
        endless()
    assert signal.getsignal(signal.SIGALRM) is before and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    with time_limit("nothing", 60.0):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


class Deaf:
    """Python drops what is raised while an object is finalized."""

    def __del__(self) -> None:
        endless()


def deaf_then_endless() -> None:
    Deaf()
    endless()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_was_not_heard_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AGAIN_SECONDS", 0.05)
    with pytest.raises(OutOfReach, match="the loop"), time_limit("the loop", 0.05):
        deaf_then_endless()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_outer_limit_that_ends_sooner_holds() -> None:
    with pytest.raises(OutOfReach, match="outer"), time_limit("outer", 0.05), time_limit("inner", 60.0):
        endless()


def test_many_short_limits_leave_the_outer_one_as_it_is() -> None:
    with time_limit("outer", 600.0):
        for _ in range(100):
            with time_limit("inner", 10.0):
                pass
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 500


def test_lifted_limits_stop_nothing() -> None:
    with lifted(), time_limit("the block", 60.0):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
