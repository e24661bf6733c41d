"""From symbols to tokens: every layout spelled out by hand, and read back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lengthwise.errors import UsageError
from lengthwise.tasks.batch import BOS, EOS, NOTHING, PAD, SEP, SPECIALS, Batch, Samples, pack

SYMBOLS = "abcd"


def spelled(row: np.ndarray) -> str:
    """A row of tokens as text: specials as punctuation, symbols as letters."""
    return "".join("_^|$"[token] if token < len(SPECIALS) else SYMBOLS[token - len(SPECIALS)] for token in row)


def read(text: str) -> list[int]:
    return [SYMBOLS.find(letter) for letter in text]  # -1, NOTHING, where it is no letter


def samples(*rows: tuple[str, str]) -> Samples:
    prompts, answers = (np.array([read(row[side]) for row in rows]) for side in (0, 1))
    return Samples(prompts, answers)


def asked(batch: Batch, row: int) -> str:
    return spelled(batch.targets[row][batch.scored[row]])


def test_specials_are_where_their_names_say() -> None:
    assert [SPECIALS[token] for token in (PAD, BOS, SEP, EOS)] == ["<pad>", "<bos>", "<sep>", "<eos>"]
    assert NOTHING == -1


def test_answers_of_one_length() -> None:
    batch = pack(samples(("ab", "cd"), ("ba", "dc")), "answer")
    assert [spelled(row) for row in batch.inputs] == ["^ab|cd", "^ba|dc"]
    assert [spelled(row) for row in batch.targets] == ["ab|cd$", "ba|dc$"]
    assert batch.scored.tolist() == [[False, False, False, True, True, True]] * 2


def test_answers_that_differ_in_length() -> None:
    batch = pack(samples(("ab", "cd"), ("ab", "c."), ("ab", "..")), "answer")
    assert [spelled(row) for row in batch.inputs] == ["^ab|cd", "^ab|c$", "^ab|$_"]
    assert [asked(batch, row) for row in range(3)] == ["cd$", "c$", "$"]


def test_prompts_that_differ_in_length() -> None:
    """The gap goes to the right end, where a causal model never looks."""
    batch = pack(samples(("abc", "d"), ("a..", "b")), "answer")
    assert [spelled(row) for row in batch.inputs] == ["^abc|d", "^a|b$_"]
    assert [asked(batch, row) for row in range(2)] == ["d$", "b$"]


def test_an_encoder_is_asked_where_the_answer_will_stand() -> None:
    batch = pack(samples(("ab", "cd")), "answer", causal=False)
    assert spelled(batch.inputs[0]) == "^ab|___"
    assert asked(batch, 0) == "cd$" and spelled(batch.targets[0]) == "^ab|cd$"
    assert spelled(batch.inputs[0][batch.scored[0]]) == "___", "what is asked for is not shown"


def test_tags_belong_to_the_last_positions() -> None:
    with_start = pack(samples(("ab", "bad")), "tags")
    assert spelled(with_start.inputs[0]) == "^ab" and spelled(with_start.targets[0]) == "bad"
    assert with_start.scored.all()
    one_each = pack(samples(("ab", "dc")), "tags")
    assert spelled(one_each.targets[0]) == "_dc" and one_each.scored.tolist() == [[False, True, True]]
    some = pack(samples(("abc", ".d.")), "tags", causal=False)
    assert asked(some, 0) == "d" and some.scored.tolist() == [[False, False, True, False]]


def test_numbers_are_asked_for_at_the_separator() -> None:
    answers = np.array([[0.5, 1.0], [2.0, 3.0]])
    batch = pack(Samples(np.array([read("ab"), read("cd")]), answers), "numbers")
    assert [spelled(row) for row in batch.inputs] == ["^ab|", "^cd|"]
    assert batch.scored.tolist() == [[False, False, False, True]] * 2
    assert batch.targets.dtype == np.float64 and batch.targets.tolist() == answers.tolist()


def test_numbers_after_prompts_that_differ_in_length() -> None:
    """The separator closes up to the prompt, so that what is read before it is the prompt and nothing else."""
    ragged = Samples(np.array([read("abc"), read("a..")]), np.array([[0.5], [1.5]]))
    batch = pack(ragged, "numbers")
    assert [spelled(row) for row in batch.inputs] == ["^abc|", "^a|__"]
    assert [spelled(row[marks]) for row, marks in zip(batch.inputs, batch.scored, strict=True)] == ["|", "|"]


@pytest.mark.parametrize("readout", ["answer", "numbers"])
def test_an_encoder_refuses_sequences_that_differ_in_length(readout) -> None:
    with pytest.raises(UsageError, match=r"^an encoder needs sequences of equal length at each size"):
        pack(samples(("ab", "c"), ("a.", "d")), readout, causal=False)


ROWS = st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        arrays.arrays(np.int64, shape[:2], elements=st.integers(0, 3)),
        arrays.arrays(np.int64, (shape[0], shape[2]), elements=st.integers(0, 3)),
        st.lists(st.integers(0, shape[1]), min_size=shape[0], max_size=shape[0]),
        st.lists(st.integers(0, shape[2]), min_size=shape[0], max_size=shape[0]),
    )
)


@given(ROWS)
def test_every_row_reads_as_it_was_written(rows) -> None:
    """`<bos> prompt <sep> answer <eos>`, then nothing but padding; asked for from `<sep>` on, and nowhere else."""
    prompts, answers, prompt_lengths, answer_lengths = rows
    for values, lengths in ((prompts, prompt_lengths), (answers, answer_lengths)):
        for row, length in zip(values, lengths, strict=True):
            row[length:] = NOTHING
    batch = pack(Samples(prompts, answers), "answer")
    assert batch.inputs.dtype == batch.targets.dtype == np.int64
    assert batch.inputs.shape == (len(prompts), prompts.shape[1] + answers.shape[1] + 2), (
        "the width is the size's alone"
    )
    for i in range(len(prompts)):
        prompt = "".join(SYMBOLS[s] for s in prompts[i] if s != NOTHING)
        answer = "".join(SYMBOLS[s] for s in answers[i] if s != NOTHING)
        whole = spelled(np.append(batch.inputs[i], batch.targets[i, -1]))
        assert whole.rstrip("_") == f"^{prompt}|{answer}$"
        assert spelled(batch.targets[i]) == whole[1:]
        assert asked(batch, i) == f"{answer}$"
        assert batch.scored[i].argmax() == len(prompt) + 1 and batch.scored[i].sum() == len(answer) + 1


def test_long_rows_keep_their_order_when_gaps_are_closed() -> None:
    prompts = np.tile(np.arange(4), (3, 100))
    prompts[1, 150:] = NOTHING
    batch = pack(Samples(prompts, prompts[:, ::-1]), "answer")
    assert spelled(batch.inputs[1]).startswith(f"^{('abcd' * 38)[:150]}|")
    assert spelled(batch.inputs[0]) == f"^{'abcd' * 100}|{'dcba' * 100}"


@given(ROWS)
def test_packing_a_row_does_not_depend_on_the_others(rows) -> None:
    prompts, answers, lengths, _ = rows
    for row, length in zip(prompts, lengths, strict=True):
        row[length:] = NOTHING
    together = pack(Samples(prompts, answers), "answer")
    for i in range(len(prompts)):
        alone = pack(Samples(prompts[i : i + 1], answers[i : i + 1]), "answer")
        for name in ("inputs", "targets", "scored"):
            assert getattr(alone, name)[0].tolist() == getattr(together, name)[i].tolist()
