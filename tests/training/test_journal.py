"""The journal of a training run: others follow it, read nothing twice, and notice when it begins again."""

from __future__ import annotations

from pathlib import Path

from lengthwise.integrity import CHECKPOINT, JOURNAL
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import carry_out
from lengthwise.training.journal import JournalReader, add_to_journal, begin_journal

SMALL = {"depth": 1, "width": 8, "heads": 1, "steps": 4, "batch": 2, "check_every": 1}


def test_a_reader_is_given_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    reader = JournalReader(path)
    assert not reader.look() and reader.entries == []
    begin_journal(path, [(1, 2.0)], [(1, 0.5)])
    assert reader.look() and reader.entries == [(1, 2.0, 0.5)]
    assert not reader.look()
    add_to_journal(path, 2, 1.5, 0.75)
    assert reader.look() and reader.entries[1:] == [(2, 1.5, 0.75)] and reader.turn == 1


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    reader = JournalReader(path)
    begin_journal(path, [(1, 2.0)], [])
    reader.look()
    with path.open("r+b") as file:  # in the part that was read: nobody looks there
        file.write(b"[9, 9.")
    add_to_journal(path, 2, 1.5, None)
    reader.look()
    assert reader.entries == [(1, 2.0, None), (2, 1.5, None)]


def test_half_a_line_waits_and_a_damaged_one_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    reader = JournalReader(path)
    path.write_text('[1, 2.0, 0.5]\nnonsense\n[2, NaN, 0.5]\n{"a": 1}\n[3, 1.')
    reader.look()
    assert reader.entries == [(1, 2.0, 0.5)]
    with path.open("a") as file:
        file.write("25, null]\n")
    reader.look()
    assert reader.entries == [(1, 2.0, 0.5), (3, 1.25, None)]


def test_a_run_that_resumes_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    reader = JournalReader(path)
    begin_journal(path, [(1, 2.0), (2, 1.0)], [])
    reader.look()
    begin_journal(path, [(1, 2.0)], [])
    add_to_journal(path, 2, 0.5, None)
    assert reader.look() and reader.turn == 2
    assert reader.entries == [(1, 2.0, None), (2, 0.5, None)]


def test_training_keeps_a_journal_until_the_run_is_finished(tmp_path: Path) -> None:
    plan = plan_for("sort", "rope", SMALL, train_size=2, test_size=3, items=2)
    reader, lengths = JournalReader(tmp_path / "run" / JOURNAL), []

    def told(*_: object) -> None:
        reader.look()
        lengths.append(len(reader.entries))

    run = carry_out(plan, tmp_path / "run", told)
    assert [entry[:2] for entry in reader.entries] == run.history.losses and len(reader.entries) == 4
    assert [(step, share) for step, _, share in reader.entries] == run.history.checks
    assert lengths[:4] == [1, 2, 3, 4], "each line is there before the next step"
    assert not (tmp_path / "run" / JOURNAL).exists() and not (tmp_path / "run" / CHECKPOINT).exists()
