"""Regular languages: the tasks against direct definitions, uniformity of the words, and the class of each language."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from lengthwise.errors import UnknownName, UsageError
from lengthwise.registry import format_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa, Walks
from lengthwise.tasks.languages.regex import automaton
from lengthwise.tasks.languages.regular import Regular, RegularLanguage, RegularMembership
from lengthwise.testing import check_task


def nested(word: str, depth: int) -> bool:
    heights = np.cumsum([1 if letter == "a" else -1 for letter in word]).tolist() or [0]
    return min(heights) >= 0 and max(heights) <= depth and heights[-1] == 0


def run_parities(word: str) -> list[tuple[str, int]]:
    return [(letter, len(list(run)) % 2) for letter, run in itertools.groupby(word)]


def tomita_3(word: str) -> bool:
    return (("1", 1), ("0", 1)) not in itertools.pairwise(run_parities(word))


def tomita_3_later(word: str) -> bool:
    return (("1", 1), ("0", 1)) not in itertools.combinations(run_parities(word), 2)


def matches(expression: str) -> Callable[[str], bool]:
    return lambda word: bool(re.fullmatch(expression, word))


DEFINITIONS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "tomita_1": ("01", lambda word: "0" not in word),
    "tomita_2": ("01", lambda word: word == "10" * (len(word) // 2)),
    "tomita_3": ("01", tomita_3),
    "tomita_3_later": ("01", tomita_3_later),
    "tomita_4": ("01", lambda word: "000" not in word),
    "tomita_5": ("01", lambda word: word.count("0") % 2 == word.count("1") % 2 == 0),
    "tomita_6": ("01", lambda word: (word.count("0") - word.count("1")) % 3 == 0),
    "tomita_7": ("01", lambda word: len(list(itertools.groupby("0" + word))) <= 4),
    "d_2": ("ab", lambda word: nested(word, 2)),
    "d_3": ("ab", lambda word: nested(word, 3)),
    "d_4": ("ab", lambda word: nested(word, 4)),
    "d_12": ("ab", lambda word: nested(word, 12)),
    "d_n:depth=1": ("ab", matches("(ab)*")),
    "aa_star": ("a", matches("(aa)*")),
    "aaaa_star": ("a", matches("(aaaa)*")),
    "abab_star": ("ab", matches("(abab)*")),
    "012_star_02_star": ("012", matches("[012]*02*")),
    "ab_star_d_bc_star": ("abcd", matches("[ab]*d[bc]*")),
    "aa_star_bb_star_cc_star_dd_star_ee_star": ("abcde", matches("a+b+c+d+e+")),
}


def language(name: str) -> RegularLanguage:
    made = tasks.make(name)
    assert isinstance(made, RegularLanguage)
    return made


@pytest.mark.parametrize("name", DEFINITIONS)
def test_named_languages_are_what_they_are_called(name: str) -> None:
    alphabet, belongs = DEFINITIONS[name]
    dfa = language(name).automaton
    assert dfa.alphabet == tuple(alphabet)
    for n in range(12 if len(alphabet) <= 2 else 8 if len(alphabet) == 3 else 6):
        for word in itertools.product(alphabet, repeat=n):
            assert dfa.accepts(word) == belongs("".join(word)), word


@pytest.mark.parametrize("name", DEFINITIONS)
def test_named_languages_keep_the_contract(name: str) -> None:
    task = language(name)
    sizes = task.sizes(1, 60)
    check_task(task, [*sizes[:3], sizes[-1]])
    check_task(task, task.sizes(148, 152)[:1], items=4)


@pytest.mark.parametrize("name", [name for name in DEFINITIONS if name not in ("aa_star", "aaaa_star")])
def test_membership_keeps_the_contract(name: str) -> None:
    task = tasks.make(f"regular_member:language={name}")
    sizes = task.sizes(1, 40)
    check_task(task, [*sizes[:3], sizes[-1]])
    answers = [task.spelled(row) for row in task.draw(sizes[-1], 0, range(1000)).answers]
    assert 430 < answers.count(("yes",)) < 570
    assert task.facts.published == () and task.facts.circuit_class == language(name).facts.circuit_class


EXAMPLES = [
    (name, prompt.split(), tags.split())
    for name in (*DEFINITIONS, "dyck_1", "dyck_k", "shuffle_2", "anbn", "anbncn", "anbncndn")
    if name in ("d_2", "dyck_k") or not name.startswith("d_")
    for prompt, tags in re.findall(r"`([^`]+)` → `([^`]+)`", tasks.maker(name).__doc__ or "")
]


def test_every_language_has_a_worked_example() -> None:
    assert len({name for name, _, _ in EXAMPLES}) == 20


@pytest.mark.parametrize(
    ("name", "prompt", "tags"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_worked_examples_of_the_docstrings(name: str, prompt: list[str], tags: list[str]) -> None:
    assert tasks.make(name).solve(prompt) == tags


def test_worked_examples_of_the_general_tasks() -> None:
    assert tasks.make("regular:expression=(ab)*").solve(["a", "b"]) == ["{a,$}", "{b}", "{a,$}"]
    member = tasks.make("regular_member:expression=(ab)*")
    assert member.solve(list("abab")) == ["yes"] and member.solve(list("abba")) == ["no"]
    assert language("d_2").solve(list("aabb")) == ["{a,$}", "{a,b}", "{b}", "{a,b}", "{a,$}"]


@pytest.mark.parametrize("name", ["tomita_3", "tomita_4", "tomita_7", "d_3", "abab_star", "ab_star_d_bc_star"])
def test_a_symbol_is_legal_when_some_word_goes_on_with_it(name: str) -> None:
    """By enumeration of all words of at most 9 (6) letters; a prefix of 3 (2) has its completions among them."""
    alphabet, belongs = DEFINITIONS[name]
    longest, prefix = (9, 3) if len(alphabet) == 2 else (6, 2)
    words = {
        "".join(w) for n in range(longest + 1) for w in itertools.product(alphabet, repeat=n) if belongs("".join(w))
    }
    beginnings = {word[:n] for word in words for n in range(len(word) + 1)}
    for word in itertools.product(alphabet, repeat=prefix):
        text = "".join(word)
        if text not in beginnings:
            with pytest.raises(UsageError, match="no word of the language begins with"):
                language(name).solve(word)
            continue
        legal = [
            [*(a for a in alphabet if text[:n] + a in beginnings), *(["$"] if text[:n] in words else [])]
            for n in range(prefix + 1)
        ]
        assert language(name).solve(word) == ["{" + ",".join(symbols) + "}" for symbols in legal]


@pytest.mark.parametrize(
    ("spec", "size"),
    [("tomita_3", 6), ("tomita_4", 6), ("tomita_7", 7), ("d_3", 10), ("ab_star_d_bc_star", 4), ("012_star_02_star", 4)],
)
def test_words_are_uniform(spec: str, size: int) -> None:
    task = language(spec)
    count = sum(map(task.automaton.accepts, itertools.product(task.automaton.alphabet, repeat=size)))
    drawn = Counter(task.spelled(row) for row in task.draw(size, 1, range(200 * count)).prompts)
    assert len(drawn) == count
    assert chisquare(list(drawn.values())).pvalue > 1e-6


def test_both_sides_of_membership_are_uniform() -> None:
    task = RegularMembership(language="tomita_4")
    samples = task.draw(6, 1, range(30_000))
    for answer, count in (("yes", 44), ("no", 20)):
        rows = samples.prompts[samples.answers[:, 0] == task.symbols.index(answer)]
        drawn = Counter(task.spelled(row) for row in rows)
        assert len(drawn) == count
        assert chisquare(list(drawn.values())).pvalue > 1e-6


def test_proportions_survive_lengths_at_which_the_numbers_of_words_do_not_fit() -> None:
    """From y only 2**599 of some 26**600 words remain, a share far below the smallest float."""
    dfa = automaton("x[a-w]*|y(0|1)*")
    after_y = dfa.run("y")[-1]
    walks = Walks(dfa.transitions, dfa.accepting)
    uniforms = np.random.default_rng(0).random((200, 600))
    letters, states = walks.words(np.full(200, after_y), uniforms)
    zero, one = dfa.alphabet.index("0"), dfa.alphabet.index("1")
    assert set(np.unique(letters)) == {zero, one}
    assert abs((letters == one).mean() - 0.5) < 0.01
    assert all(state in dfa.accepting for state in states[:, -1])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_automaton_with_words_keeps_the_contract(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    state = st.integers(0, count - 1)
    rows = data.draw(st.lists(st.tuples(state, state, state), min_size=count, max_size=count))
    dfa = Dfa(("a", "b", "c"), tuple(rows), 0, frozenset(data.draw(st.sets(state, min_size=1))))

    class Drawn(RegularLanguage):
        """A random language."""

        def build(self) -> Dfa:
            return dfa

    task = Drawn()
    for size in task.sizes(1, 9)[-2:]:
        samples = task.draw(size, 0, range(8))
        for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
            assert dfa.accepts(task.spelled(prompt))
            assert task.solve(task.spelled(prompt)) == list(task.spelled(answer))


def test_an_automaton_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "even.json"
    table = {"q0": {"go": "q1", "stay": "q0"}, "q1": {"go": "q0", "stay": "q1"}}
    data = {"alphabet": ["go", "stay"], "start": "q0", "accepting": ["q0"], "transitions": table}
    path.write_text(json.dumps(data))
    task = tasks.make(f"regular:dfa={path}")
    check_task(task, [1, 7])
    assert task.solve(["go", "stay"]) == ["{go,stay,$}", "{go,stay}", "{go,stay}"]
    check_task(tasks.make(f"regular_member:dfa={path}"), [2, 5])
    for letter in ("{go,$}", "<bos>"):
        renamed = {state: {letter: row["go"], "stay": row["stay"]} for state, row in table.items()}
        renamed["q1"][letter] = "q1"
        path.write_text(json.dumps({**data, "alphabet": [letter, "stay"], "transitions": renamed}))
        if letter == "<bos>":
            with pytest.raises(UsageError, match="cannot be told from the tags"):
                Regular(dfa=str(path))
        else:
            check_task(Regular(dfa=str(path)), [3])


def test_letters_that_look_like_tags_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    row = {"{x}": "q", "x": "q"}
    table = {"p": {"{x}": "dead", "x": "q"}, "q": {"{x}": "q", "x": "dead"}, "dead": dict.fromkeys(row, "dead")}
    data = {"alphabet": ["{x}", "x"], "start": "p", "accepting": ["q"], "transitions": table}
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match="cannot be told from the tags"):
        Regular(dfa=str(path))


def test_the_end_mark_gives_way_to_a_letter() -> None:
    assert Regular(expression=r"(\$a)*").solve(["$", "a"]) == ["{$,$$}", "{a}", "{$,$$}"]
    check_task(Regular(expression=r"(\$a)*"), [2, 6])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of the two"),
        ({"expression": "a", "dfa": "b.json"}, "one of the two"),
        ({"expression": "a[]"}, "describes no word at all"),
        ({"expression": "[]"}, "no word at all"),
        ({"expression": "a{0}"}, "the only word of 'a{0}' is the empty one"),
        ({"expression": "(ab"}, "column 1"),
        ({"dfa": "b.json", "alphabet": "ab"}, "has its own alphabet"),
        ({"dfa": "absent.json"}, "absent.json cannot be read"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        Regular(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of the two"),
        ({"language": "tomita_1", "expression": "a"}, "one of the three"),
        ({"language": "dyck_1"}, "'dyck_1' is not the name of a regular language"),
        ({"language": "aa_star"}, "no length has both"),
        ({"expression": "(a|b){3}"}, "no length has both"),
    ],
)
def test_wrong_settings_of_membership_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RegularMembership(**settings)


def test_unknown_names_and_bad_prompts() -> None:
    with pytest.raises(UnknownName, match="did you mean 'tomita_"):
        RegularMembership(language="tomita_9")
    with pytest.raises(UsageError, match="at least 1 deep"):
        tasks.make("d_n:depth=0")
    with pytest.raises(UsageError, match="not a letter of the alphabet"):
        language("tomita_1").solve(["2"])


def test_letters_outside_an_expression_make_the_other_words() -> None:
    task = tasks.make("regular_member:expression=(aa)*,alphabet=ab")
    check_task(task, [2, 4])
    assert not task.has(3)
    assert tasks.make("regular:expression=(aa)*,alphabet=ab").symbols == ("a", "b", "{a,$}", "{a}")


@pytest.mark.parametrize("alias", ["(aa)*", "(aaaa)*", "(abab)*", "{0,1,2}*02*", "{a,b}*d{b,c}*", "aa*bb*cc*dd*ee*"])
def test_an_expression_is_another_name_of_its_language(alias: str) -> None:
    task = language(alias)
    assert task.automaton == automaton(alias)
    spec = tasks.spec_of(task)
    assert tasks.make(spec) == tasks.make(format_spec(spec)) == task


@pytest.mark.parametrize("spec", ["regular:expression={a,b}*d{b,c}*", "regular_member:language=d_n:depth=5", "d_12"])
def test_specs_come_back(spec: str) -> None:
    task = tasks.make(spec)
    assert format_spec(tasks.spec_of(task)) == spec
    assert tasks.make(tasks.spec_of(task)) == task


def test_published_curves_belong_to_the_measured_depths_only() -> None:
    assert len(language("d_n:depth=12").facts.published) == 3
    assert language("d_n:depth=5").facts.published == ()


# --- the circuit classes, from the syntactic monoid ---


def powers_settle(elements: set[tuple[int, ...]]) -> bool:
    """Whether x^n = x^(n+1) from some n on, for every x: no element turns in a circle."""

    def settles(x: tuple[int, ...]) -> bool:
        power = x
        for _ in range(len(x) + len(elements)):
            power = tuple(x[q] for q in power)
        return tuple(x[q] for q in power) == power

    return all(settles(x) for x in elements)


def in_ac0(dfa: Dfa) -> bool:
    """Whether a regular language is in AC0 [barrington1992]: words of one length never make a group.

    The sets M(n) of what words of length n do to the states repeat from some n on; for a multiple n of the period
    beyond that, M(n) is closed under composition, and the language is in AC0 when its powers settle.
    """
    letters = {tuple(row[i] for row in dfa.transitions) for i in range(len(dfa.alphabet))}
    layers = [frozenset(letters)]
    while layers[-1] not in layers[:-1]:
        layers.append(frozenset(tuple(a[q] for q in x) for x in layers[-1] for a in letters))
    first = layers.index(layers[-1])
    period = len(layers) - 1 - first
    lengths = next(n for n in itertools.count(period, period) if n >= first + 1)
    stable = layers[first + (lengths - 1 - first) % period]
    assert {tuple(y[q] for q in x) for x in stable for y in stable} == stable
    return powers_settle(set(stable))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_circuit_classes(name: str) -> None:
    task = language(name)
    assert task.facts.circuit_class == ("AC0" if in_ac0(task.automaton) else "ACC0, not AC0")


def test_the_test_of_circuit_classes_tells_parity_from_even_length() -> None:
    assert in_ac0(automaton("(aa)*")) and not in_ac0(automaton("(b*ab*a)*b*"))
