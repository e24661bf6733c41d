"""Chains of thought in a file: planted faults by line, gaps, and what is no record."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.thoughts import findings
from lengthwise.oracle.locality.thoughts.findings import Findings, cover, examine, spread_of
from lengthwise.oracle.locality.thoughts.reading import Chain, holds_chains, read_chains, splitting, tokenising
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.formulation import Formulation, State


def formulation(name: str) -> Formulation:
    task = tasks.make(name)
    assert isinstance(task, Formulation)
    return task


def chain_of(task: Formulation, row: Iterable[int], fault: int = 0) -> list[str]:
    """A chain as text. At step `fault` the one column that changes gets another last token, and the chain continues
    from there: one step of it is wrong."""
    row = list(row)
    state: State | None = task.start(len(row), row)
    states: list[State] = []
    while state is not None:
        states.append(state)
        after = task.step(state)
        if after is not None and len(states) == fault:
            at = next(at for at, (old, new) in enumerate(zip(state, after, strict=True)) if old != new)
            wrong = (*after[at][:-1], "1" if after[at][-1] == "0" else "0")
            after = (*after[:at], wrong, *after[at + 1 :])
        state = after
    return [written(state) for state in states]


def records(name: str, count: int, faults: dict[int, int], sizes: tuple[int, int] = (3, 9)) -> list[list[str]]:
    """Random chains; in line n step faults[n] is wrong."""
    task, draw = formulation(name), random.Random(name)
    return [
        chain_of(task, [draw.randrange(2) for _ in range(draw.randint(*sizes))], faults.get(line, 0))
        for line in range(1, count + 1)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def write(items: Iterable[Any], name: str = "cot.jsonl") -> str:
        lines = [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in items]
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return str(tmp_path / name)

    return write


def looked_at(
    path: str, test: str = "", decoder: bool = False, split: str = "lines", tokens: str = "words"
) -> Findings:
    rules = splitting(split), tokenising(tokens)
    return examine(path, read_chains(path, *rules), read_chains(test, *rules) if test else (), decoder)


FAULTS = {17: 1, 60: 3, 61: 2, 150: 1, 199: 3}


@pytest.mark.parametrize("kind", ["states", "prompt", "messages"])
def test_planted_faults_are_all_found_and_none_is_invented(file: Callable[..., str], kind: str) -> None:
    def record(states: list[str]) -> dict[str, Any]:
        if kind == "states":
            return {"states": states}
        if kind == "prompt":
            return {"prompt": states[0], "completion": "\n".join(states[1:])}
        turns = [{"role": "user", "content": states[0]}, {"role": "assistant", "content": "\n".join(states[1:])}]
        return {"messages": [{"role": "system", "content": "Think."}, *turns]}

    path = file(map(record, records("parity_columns", 200, FAULTS)))
    found = looked_at(path)
    assert found.width == 3 and found.conflicting == len(FAULTS)
    assert {conflict.line: conflict.step for conflict in found.conflicts} == FAULTS
    assert all(conflict.count < conflict.other_count for conflict in found.conflicts)
    by_width = {one.width: one for one in found.by_width}
    assert by_width[1].verdict == "refuted" and by_width[3].verdict == "refuted" and by_width[3].odd == len(FAULTS)
    assert by_width[3].lines is not None and set(by_width[3].lines) & set(FAULTS)
    assert found.distance is not None and spread_of(found.distance) == 1  # a wrong line could show any distance


def test_right_chains_are_consistent_and_nothing_is_named(file: Callable[..., str]) -> None:
    found = looked_at(file({"states": states} for states in records("parity_columns", 200, {})))
    assert (
        found.width == 3
        and found.conflicts == ()
        and [one.verdict for one in found.by_width]
        == [
            "refuted",
            "consistent",
        ]
    )
    assert found.distance is not None and max(spread for _, spread in found.distance.by_size) == 1


def test_a_layout_that_shrinks_needs_five(file: Callable[..., str]) -> None:
    """The place of the change is a guess there; the guess with fewer conflicts counts."""
    found = looked_at(file({"states": states} for states in records("parity_leftmost", 300, {}, (2, 9))))
    assert found.width == 5 and not found.conflicts and [one.verdict for one in found.by_width][:2] == ["refuted"] * 2


def test_the_same_state_with_two_next_states_refutes_every_width(file: Callable[..., str]) -> None:
    items = [{"states": ["a b c d e f g", f"a b c d e f {end}"]} for end in "gxx"]
    found = looked_at(file(items))
    assert all(one.verdict == "refuted" for one in found.by_width) and found.by_width[-1].width == 11
    assert found.by_width[-1].lines in ((1, 2), (2, 1))


def test_windows_that_never_recur_say_nothing(file: Callable[..., str]) -> None:
    items = [{"states": [f"a{n} b{n} c{n}", f"a{n} b{n} d{n}"]} for n in range(50)]
    found = looked_at(file(items))
    assert found.by_width[-1].verdict == "unknown" and found.width is None and not found.conflicts


def test_a_decoder_sees_everything_before(file: Callable[..., str]) -> None:
    """The last line says nothing about what comes next, and the one before it does."""
    lines = [("a", "x", "one"), ("b", "x", "two")] * 20
    path = file({"prompt": one, "completion": f"{two}\n{three}"} for one, two, three in lines)
    assert all(found.verdict == "refuted" for found in looked_at(path).by_width)
    found = looked_at(path, decoder=True)
    assert found.form == "decoder" and found.by_width[-1].verdict == "consistent" and found.width in (5, 7)


def test_gaps_are_closed_by_what_is_written(file: Callable[..., str]) -> None:
    training = [{"states": states} for states in records("parity_columns", 5, {}, (2, 3))]
    tests = [{"states": states} for states in records("parity_columns", 100, {}, (3, 8))]
    found = looked_at(file(training), file(tests, "test.jsonl"))
    gaps = found.gaps
    assert gaps is not None and gaps.seen < gaps.windows and 0 < len(gaps.lines) <= gaps.chains and not gaps.against
    more = [tests[line - 1] for line in gaps.lines]
    closed = looked_at(file([*training, *more], "more.jsonl"), file(tests, "test.jsonl")).gaps
    assert closed is not None and closed.seen == closed.windows and closed.lines == () and closed.chains == 0
    for left_out in range(len(more)):  # each of them is needed
        fewer = [*training, *more[:left_out], *more[left_out + 1 :]]
        still = looked_at(file(fewer, "fewer.jsonl"), file(tests, "test.jsonl")).gaps
        assert still is not None and still.lines


def test_a_test_file_that_contradicts_training_is_named(file: Callable[..., str]) -> None:
    training = [{"states": states} for states in records("parity_columns", 300, {})]
    tests = [{"states": states} for states in records("parity_columns", 60, {20: 2})]
    gaps = looked_at(file(training), file(tests, "test.jsonl")).gaps
    assert gaps is not None and gaps.against == ((20, 2),) and gaps.contradicted == 1


@pytest.mark.wording
def test_all_places_that_training_contradicts_are_counted(
    file: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "_NAMED", 10)
    training = [{"states": ["a b", "a a"]}] * 3
    gaps = looked_at(file(training), file([{"states": ["a b", "b b"]}] * 15, "test.jsonl")).gaps
    assert gaps is not None and len(gaps.against) == 10
    assert gaps.explain()[1].startswith(f"{gaps.contradicted} places") and gaps.contradicted > 10


@given(st.lists(st.integers(1, 31), max_size=6))
def test_covers_cover_and_are_small(bits: list[int]) -> None:
    needs = {line: {at for at in range(5) if one >> at & 1} for line, one in enumerate(bits, 1)}
    chosen = cover(needs)
    everything = set().union(*needs.values())
    assert set().union(*(needs[key] for key in chosen)) == everything
    least = next(
        size
        for size in range(len(needs) + 1)
        for keys in itertools.combinations(needs, size)
        if set().union(*(needs[key] for key in keys)) == everything
    )
    most = max(map(len, needs.values()), default=1)
    assert len(chosen) <= least * sum(1 / k for k in range(1, most + 1))


def test_rules_are_stated(file: Callable[..., str]) -> None:
    path = file([{"prompt": "12+3", "completion": "12+3=15; so 15"}])
    (chain,) = read_chains(path, splitting(r";\s*"), tokenising(r"\d+|\S"))
    assert chain == Chain(1, (("12", "+", "3"), ("12", "+", "3", "=", "15"), ("s", "o", "15")))
    assert tokenising("characters")("1 0|1") == ["1", "0", "|", "1"]
    for rule in (splitting, tokenising):
        with pytest.raises(UsageError, match="regular expression"):
            rule("(")


def test_each_answer_in_a_chat_is_a_chain(file: Callable[..., str]) -> None:
    turns = [("user", "a"), ("assistant", "b\nc"), ("user", "d"), ("assistant", [{"type": "text", "text": "e"}])]
    path = file([{"messages": [{"role": role, "content": content} for role, content in turns]}])
    chains = read_chains(path, splitting("lines"), str.split)
    assert [chain.states for chain in chains] == [(("a",), ("b",), ("c",)), (("d",), ("e",))]
    assert [chain.line for chain in chains] == [1, 1] and holds_chains(path)


GOOD = '{"states": ["1 0", "1"]}'
BAD_LINES = [
    (["{"], "line 1: this is not JSON"),
    ([GOOD, "[1]"], "line 2: an item must be an object"),
    ([GOOD, '{"text": "1"}'], "line 2: a record has messages, prompt and completion, or states"),
    ([GOOD, '{"prompt": "1", "completion": "2"}'], "line 2: this record has prompt, and those before it states"),
    (['{"prompt": "1", "states": ["1"]}'], "line 1: a record has prompt or states, not both"),
    (['{"prompt": "1"}'], "line 1: completion is missing"),
    (['{"prompt": "1", "completion": 7}'], "line 1: completion is missing or no text"),
    (['{"states": "1 0"}'], "line 1: states must be a list of texts"),
    (['{"states": ["1 0"]}'], "line 1: a chain has at least two states"),
    (['{"states": ["1 0", " "]}'], "line 1: state 2 has no token"),
    (['{"messages": [{"role": "user", "content": "1"}]}'], "line 1: no turn has the role assistant"),
    (['{"messages": {"role": "assistant"}}'], "line 1: messages is a list of turns"),
    (['{"messages": [{"role": "assistant", "content": null}]}'], "line 1: the content of a turn is text"),
    ([GOOD, "[" * 100_000], r"line 2: this is not JSON \(it is nested too deeply"),
    ([], "contains no chain"),
]


@pytest.mark.parametrize("lines, said", BAD_LINES)
def test_bad_lines_get_one_sentence(file: Callable[..., str], lines: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_chains(file(lines), splitting("lines"), str.split)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_files_that_are_not_there_not_text_or_huge(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"states": ["\xe9"]}')
    (tmp_path / "huge.jsonl").write_text(GOOD + "\n" + '{"states": ["' + "1 " * 2_100_000 + '", "1"]}\n')
    for name, said in (
        ("none", "cannot be read"),
        ("latin", "line 1: this is not UTF-8"),
        ("huge", "line 2: a line has at most"),
    ):
        with pytest.raises(UsageError, match=said):
            read_chains(str(tmp_path / f"{name}.jsonl"), splitting("lines"), str.split)
    assert not holds_chains(str(tmp_path / "none.jsonl")) and not holds_chains(str(tmp_path / "latin.jsonl"))


def test_words_that_read_like_labels_are_words(file: Callable[..., str]) -> None:
    """A column that becomes the word `keep` is not one that is kept."""
    found = looked_at(file([{"states": ["a b", "keep b"]}, {"states": ["a b", "a b"]}] * 3))
    assert found.conflicting > 0


def test_words_that_read_like_the_ends_of_a_text_are_words(file: Callable[..., str]) -> None:
    """A step that writes `<eos>` is not the end of a chain, and `<pad>` in a state is not what lies beyond it."""
    path = file([{"states": ["a", "<eos>"]}, {"states": ["b", "a"]}])
    assert looked_at(path, decoder=True).by_width[1].clashing == 1
    (chain,) = read_chains(file([{"states": ["<pad> a", "a"]}]), splitting("lines"), str.split)
    assert chain.states[0] not in (("<pad>", "a"), ("a",)) and len(chain.states[0]) == 2


def test_items_with_answers_are_another_kind_of_file(file: Callable[..., str]) -> None:
    assert not holds_chains(file(['{"input": "3 1 2", "answer": "1 2 3"}']))
    assert holds_chains(file(["", GOOD], "other.jsonl"))


def test_the_example_of_the_page_runs(
    file: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "thoughts.md").read_text(encoding="utf-8")
    file({"states": states} for states in records("parity_columns", 100, {50: 2}))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(code, names)
    assert names["found"].width == 3 and [conflict.line for conflict in names["found"].conflicts] == [50]


def test_what_groups_of_an_expression_match_is_no_step() -> None:
    for rule in ("; ?", "(;) ?", "(?:;)( )?", "(;( )?)"):
        assert splitting(rule)("1 2; 2 3;4 ;") == ["1 2", "2 3", "4"], rule
