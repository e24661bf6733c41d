"""A language model asked by prompt: what is right, what is counted apart, how far it holds, and what is kept."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import fake_server
from fake_completions import FakeCompletions, FakeSubject, sorts
from lengthwise.errors import Interrupted, UsageError
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.prompted import PromptedProbe, doublings
from lengthwise.probes.prompted.estimate import estimates
from lengthwise.probes.prompted.result import overview
from lengthwise.probes.prompted.store import ITEMS, stored_items
from lengthwise.records import Record
from lengthwise.reports.eval_log import write_eval_log
from lengthwise.subjects.completion import Completion
from lengthwise.subjects.open import open_subject
from lengthwise.tasks import make_task
from lengthwise.testing import check_probe

SORT = make_task("sort")


def measured(reply=sorts, sizes=(2, 4, 8), items=20, task=SORT, probe=None, **model) -> tuple[Record, FakeCompletions]:
    completions = FakeCompletions(reply, **model)
    return ask(probe or PromptedProbe(), FakeSubject(completions), Context(task, None, sizes, items)), completions


def outcomes(record: Record) -> Counter[str]:
    rows = record.table("prompted.outcomes").records()
    return Counter({name: sum(row[name] for row in rows) for name in rows[0] if name != "size"})


def test_a_model_without_a_mistake_holds_as_far_as_it_was_asked():
    record, model = measured()
    assert outcomes(record)["right"] == 60 == len(model.asked)
    for key in ("prompted.reach", "prompted.effective.fixed", "prompted.effective.own"):
        claim = record.claim(key)
        assert claim.value == 8 and claim.evidence["censored"] and claim.interval.is_open
    assert record.claim("prompted.answered").value == record.claim("prompted.format").value == 1
    row = record.table("prompted.sizes").records()[0]
    assert row["lenient"] == row["strict"] == 1 and 0.8 < row["low"] < 0.85 and row["high"] == 1
    assert json.loads(json.dumps(record.plain()))


def test_it_is_a_probe_of_the_contract():
    subject = FakeSubject(FakeCompletions(sorts))
    check_probe(PromptedProbe(), subject, Context(SORT, None, (2, 3), 3))


def test_every_way_not_to_answer_is_counted_apart_and_none_is_wrong():
    """The counts of each ending, and an accuracy over the answers alone."""
    ways = ["right", "wrong", "unread", "cut", "empty", "refused", "failed"]
    turn = iter(ways * 100)

    def reply(question: str) -> Completion | str:
        return {
            "right": sorts(question),
            "wrong": " ".join(reversed(sorts(question).split())),
            "unread": "I like numbers.",
            "cut": Completion(sorts(question), "length", 9, 9),
            "empty": "  \n",
            "refused": Completion("", "refused", None, None, said="no"),
            "failed": Completion("", "failed", None, None, said="500"),
        }[next(turn)]

    record, _ = measured(reply, sizes=(3,), items=70)
    assert outcomes(record) == {"items": 70, **dict.fromkeys(ways, 10), "overlong": 0}
    row = record.table("prompted.sizes").records()[0]
    assert row["answered"] == 30 and row["lenient"] == pytest.approx(1 / 3) and row["of_all"] == pytest.approx(1 / 7)
    answered = record.claim("prompted.answered")
    assert answered.value == pytest.approx(3 / 7) and answered.evidence["cut"] == answered.evidence["refused"] == 10
    reach = record.claim("prompted.reach")
    assert [one.check for one in reach.assumptions if one.key == "prompted.complete"] == ["violated"]
    assert record.data["said"] == {"no": 10, "500": 10}


def test_a_prompt_that_does_not_fit_is_not_asked_and_ends_what_is_known():
    record, model = measured(sizes=(2, 60), items=5, context=150)
    assert outcomes(record)["overlong"] == 5 and len(model.asked) == 5
    reach = record.claim("prompted.reach")
    assert reach.value == 2 and reach.evidence["censored"] and reach.evidence["largest_size"] == 2
    assert record.table("prompted.sizes").records()[1]["lenient"] is None


def test_format_and_ability_are_two_numbers():
    record, _ = measured(lambda question: f"The answer is: [{', '.join(sorts(question).split())}].")
    row = record.table("prompted.sizes").records()[0]
    assert (row["strict"], row["lenient"]) == (0, 1)
    assert record.claim("prompted.format").value == 0
    assert record.claim("prompted.reach").value == 8 and record.claim("prompted.reach").evidence["strict"] == 0


def test_two_effective_lengths_are_by_two_bars():
    """Right in 90, 80 and 50 % of the items of three sizes: above RULER's bar at the first, and 85 % of 90 % at two."""
    seen: Counter[int] = Counter()

    def reply(question: str) -> str:
        size = len(question.split())
        seen[size] += 1
        return sorts(question) if seen[size] % 10 < {2: 9, 4: 8, 8: 5}[size] else "0"

    record, _ = measured(reply, items=100)
    assert record.claim("prompted.reach").value == 0
    assert record.claim("prompted.effective.fixed").value == 2
    own = record.claim("prompted.effective.own")
    assert own.value == 4 and own.evidence["base"] == 0.9 and own.evidence["threshold"] == pytest.approx(0.765)
    assert own.interval.low == 2 and own.interval.high == 4


def test_a_length_by_a_score_that_guessing_reaches_is_vacuous():
    record, _ = measured(
        lambda question: "yes", sizes=(4, 8), items=40, task=make_task("regular_member:expression=(ab)*")
    )
    own = record.claim("prompted.effective.own")
    assert own.value is None and own.status == "vacuous"


def test_a_size_at_which_guessing_is_right_says_nothing():
    """All 64 numbers in order are the only answer at size 64."""
    record, _ = measured(sizes=(2, 8, 64), items=5)
    reach = record.claim("prompted.reach")
    assert reach.value == reach.evidence["largest_size"] == 8 and reach.evidence["censored"]


def test_a_model_that_never_answers_has_no_length():
    record, _ = measured(lambda question: "")
    assert record.claim("prompted.reach").status == "unknown" and outcomes(record)["empty"] == 60


def test_accuracy_by_depth_of_the_needle():
    needle = make_task("needle")

    def early(question: str) -> str:
        """Finds what stands in the first half of the text."""
        words = question.split()
        name = words[-1].rstrip("?")
        place = words.index(name)
        return words[place + 3].rstrip(".") if place < len(words) / 2 else "1"

    record, _ = measured(early, sizes=(20,), items=100, task=needle)
    rows = record.table("prompted.depths").records()
    assert [row["first"] for row in rows] == [0, 0.2, 0.4, 0.6, 0.8] and sum(row["answered"] for row in rows) == 100
    assert rows[0]["lenient"] == 1 and rows[-1]["lenient"] == 0
    cells = next(figure for figure in record.figures if figure.key == "prompted.heat").data["rows"]
    assert [cell["value"] for cell in cells] == pytest.approx([100 * row["lenient"] for row in rows])


# --- how it is asked ------------------------------------------------------------------------------------------------


def test_settings_reach_the_model():
    probe = PromptedProbe(chat="plain", budget=7, reasoning=50, shots=1)
    _, model = measured(probe=probe, sizes=(2,))
    assert model.calls == [{"chat": False, "budget": 7, "reasoning": 50, "stop": ("\nQuestion:",)}]


@pytest.mark.parametrize("templated", [True, False])
def test_a_chat_template_is_used_where_there_is_one(templated):
    record, model = measured(sizes=(2,), templated=templated)
    assert model.calls[0]["chat"] is templated is record.data["chat"]


@pytest.mark.parametrize("counts", [True, False])
def test_the_budget_is_enough_for_a_right_answer_and_is_that_of_its_size(counts):
    _, model = measured(sizes=(2, 40), items=2, counts=counts)
    small, large = (call["budget"] for call in model.calls)
    assert 2 < small < large and large >= 1.5 * 40


@pytest.mark.parametrize(
    ("probe", "context", "word"),
    [
        (PromptedProbe(), Context(None, None, (2,)), "task"),
        (PromptedProbe(), Context(make_task("prose"), None, (20,)), "language model"),
        (PromptedProbe(), Context(SORT, None, (2, 900)), "900"),
        (PromptedProbe(), Context(SORT, None, ()), "sizes"),
        (PromptedProbe(rendering="nowhere.txt"), Context(SORT, None, (2,)), "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is(probe, context, word):
    model = FakeCompletions(sorts)
    with pytest.raises(UsageError, match=word):
        ask(probe, FakeSubject(model), context)
    assert not model.asked


def test_a_chat_without_a_template_is_refused():
    with pytest.raises(UsageError, match="template"):
        measured(probe=PromptedProbe(chat="chat"), templated=False)


def test_sizes_double():
    assert doublings(SORT, 2, 64) == [2, 4, 8, 16, 32, 64]
    assert doublings(SORT, 3, 20) == [3, 6, 12, 20]
    assert doublings(make_task("associative_recall"), 1, 9)[-1] <= 9


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_answers_are_kept_and_not_asked_again(tmp_path):
    probe = PromptedProbe(folder=str(tmp_path))
    first, model = measured(probe=probe)
    again, none = measured(lambda question: "never", probe=probe)
    assert len(model.asked) == 60 and not none.asked and again.plain() == first.plain()
    more, some = measured(probe=probe, sizes=(2, 4, 8, 16), items=25)
    assert len(some.asked) == 25 + 3 * 5 and outcomes(more)["right"] == 100
    lines = stored_items(first.data["folder"])
    assert len(lines) == 100 and lines[2, 0]["prompt"][0]["role"] == "system" and lines[2, 0]["outcome"] == "right"


@pytest.mark.parametrize("change", [{"shots": 1}, {"chat": "plain"}, {"budget": 9}, {"reasoning": 5}])
def test_other_settings_are_another_measurement(tmp_path, change):
    measured(probe=PromptedProbe(folder=str(tmp_path)), sizes=(2,))
    _, model = measured(probe=PromptedProbe(folder=str(tmp_path), **change), sizes=(2,))
    assert len(model.asked) == 20


def test_ctrl_c_keeps_what_was_answered_and_the_rest_is_asked_later(tmp_path):
    probe, left = PromptedProbe(folder=str(tmp_path)), iter(range(33))

    def reply(question: str) -> str:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return sorts(question)

    with pytest.raises(Interrupted, match="33 of 60"):
        measured(reply, probe=probe)
    record, model = measured(probe=probe)
    assert len(model.asked) == 27 and outcomes(record)["right"] == 60
    assert len((tmp_path / record.data["folder"] / ITEMS).read_text().splitlines()) == 60


def test_what_a_crash_left_of_a_line_is_asked_again(tmp_path):
    probe = PromptedProbe(folder=str(tmp_path))
    record, _ = measured(probe=probe, sizes=(2,))
    file = tmp_path / record.data["folder"] / ITEMS
    text = file.read_text()
    file.write_text(text[:-30] + "")
    again, model = measured(probe=probe, sizes=(2,))
    assert len(model.asked) == 1 and outcomes(again)["right"] == 20
    file.write_text("{}\nnonsense\n[1]\n" + file.read_text())
    assert not measured(probe=probe, sizes=(2,))[1].asked


def test_items_at_which_a_server_failed_are_asked_again(tmp_path):
    probe, count = PromptedProbe(folder=str(tmp_path)), iter(range(1000))

    def reply(question: str) -> Completion | str:
        return Completion("", "failed", None, None, said="500") if next(count) % 4 == 0 else sorts(question)

    record, _ = measured(reply, probe=probe, sizes=(2,))
    assert outcomes(record)["failed"] == 5
    record, model = measured(probe=probe, sizes=(2,))
    assert len(model.asked) == 5 and outcomes(record)["right"] == 20


def test_an_answer_to_another_prompt_is_not_used(tmp_path):
    probe = PromptedProbe(folder=str(tmp_path))
    record, _ = measured(probe=probe, sizes=(2,))
    file = tmp_path / record.data["folder"] / ITEMS
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[3]["prompt"] = "something else"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert len(measured(probe=probe, sizes=(2,))[1].asked) == 1


def test_a_log_needs_what_was_kept(tmp_path):
    with pytest.raises(UsageError, match="folder"):
        write_eval_log(measured(sizes=(2,))[0], tmp_path / "log.eval")
    assert not list(tmp_path.iterdir())


# --- what it would take ---------------------------------------------------------------------------------------------


def planned(price=None, probe=None, **model) -> tuple[Record, FakeCompletions]:
    completions = FakeCompletions(sorts, **model)
    context = Context(SORT, None, (2, 4, 60), 50)
    return estimates(probe or PromptedProbe(), FakeSubject(completions), [context], price)[0], completions


def test_an_estimate_asks_a_few_items_of_a_local_model_and_none_of_a_server():
    record, model = planned()
    least, most = record.data["seconds"]
    assert record.data["counted"] and 0 < least <= most and len(model.asked) == 9
    record, model = planned(price=(1.0, 2.0), counts=False)
    assert not record.data["counted"] and record.data["seconds"] is None and not model.asked
    assert record.data["price"] == pytest.approx((record.data["read"] + 2 * record.data["written"]) / 1e6)


@pytest.mark.wording
def test_several_tasks_are_summed_up_in_a_sentence():
    good, bad = measured()[0], measured(reply=lambda _: "7", task=make_task("sort:alphabet=40"))[0]
    (said,) = overview([good, bad]).text
    assert said.startswith(
        "Of 2 tasks, these have 95% right at every size measured: sort to at least 8; none of the others"
    )
    assert overview([bad, bad]).text[0].startswith("Of 2 tasks, none is known")


def test_estimates_of_several_tasks_share_one_trial_and_are_summed():
    completions = FakeCompletions(sorts)
    contexts = [Context(task, None, (2, 4), 50) for task in (SORT, make_task("sort:alphabet=40"))]
    *each, total = estimates(PromptedProbe(), FakeSubject(completions), contexts)
    assert len(completions.asked) == 9
    for name in ("read", "written"):
        assert total.data[name] == sum(record.data[name] for record in each)
    assert total.data["seconds"] == pytest.approx(
        [sum(ends) for ends in zip(*(r.data["seconds"] for r in each), strict=True)]
    )


def test_an_estimate_knows_what_is_kept_and_what_does_not_fit(tmp_path):
    probe = PromptedProbe(folder=str(tmp_path))
    assert not planned(probe=probe)[0].table("prompted.plan").column("kept")[0]
    assert not list(tmp_path.iterdir())
    measured(probe=probe, sizes=(2,), items=30, context=150)
    plan = planned(probe=probe, context=150)[0].table("prompted.plan")
    assert plan.column("kept") == [30, 0, 0] and plan.column("items") == [20, 50, 50]
    assert plan.column("fits") == [True, True, False]


# --- a server that misbehaves ---------------------------------------------------------------------------------------


def test_faults_of_a_server_lose_no_item_and_make_none_wrong(tmp_path):
    """Busy, broken, cut, too long, filtered and well: every item has the outcome of its fault, and only those that
    failed are asked again."""
    pytest.importorskip("httpx")
    (tmp_path / "mine.txt").write_text("{instruction}\n\nquestion {input}\nAnswer: {answer}\n")
    kinds = ("busy", "failed", "cut", "overlong", "refused", "right")
    healthy = False

    def act(handler, body, before):
        words = body["messages"][-1]["content"].removeprefix("question ").partition("\n")[0]
        kind = "right" if healthy else kinds[int(words.split()[0]) % 6]
        right = fake_server.answer(sorts(words))
        too_long = {"error": {"message": "too long", "code": "context_length_exceeded"}}
        replies = {
            "failed": (b"oh", 500),
            "cut": (fake_server.answer("1", "length"),),
            "overlong": (too_long, 400),
            "refused": (fake_server.answer("", "content_filter"),),
        }
        if kind == "busy" and before == 0:
            handler.reply({}, 429, Retry_After="0.01")
        else:
            handler.reply(*replies.get(kind, (right,)))

    with fake_server.fake_server() as server:
        server.act = act
        probe = PromptedProbe(folder=str(tmp_path), rendering=str(tmp_path / "mine.txt"))
        subject = open_subject(server.spec(tries=2))
        record = ask(probe, subject, Context(SORT, None, (3,), 40))
        drawn = SORT.part("test").draw(3, 0, range(40), role="test").prompts
        wanted = Counter(kinds[int(SORT.spelled(row)[0]) % 6] for row in drawn)
        wanted["right"] += wanted.pop("busy")
        found = outcomes(record)
        assert {name: found[name] for name in wanted} == wanted and not found["wrong"] and not found["unread"]
        healthy, asked = True, len(server.bodies)
        again = outcomes(ask(probe, subject, Context(SORT, None, (3,), 40)))
        assert len(server.bodies) - asked == wanted["failed"] == again["right"] - found["right"] > 0
        assert again["items"] == 40 and not again["failed"]
