"""Tables on the terminal: 80 columns, no name broken, nothing left out without a word."""

from __future__ import annotations

import pytest

from lengthwise.cli.commands.records import write_grid, write_table
from lengthwise.records import Column, Table

NAME = "binary_majority_interleaved"


def grid(capsys, *given, **more) -> list[str]:
    write_grid(*given, **more)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    return lines


def test_texts_are_wrapped_between_words_and_names_are_whole(capsys):
    lines = grid(capsys, ["task", "exact match", "what it says"], [[NAME, 0.25, "so many words " * 6]], (0, 2))
    assert sum(NAME in line for line in lines) == 1 and len(lines) > 2
    assert lines[-2].startswith(NAME) and "0.25" in lines[-2]


def test_specs_are_broken_behind_commas_and_short_texts_not_at_all(capsys):
    spec, words = "random_language:seed=158,states=6,alphabet=3", "so many words " * 6
    lines = grid(capsys, ["task", "held", "what it says"], [[spec, "1 of 3", words]], (0, 1, 2))
    pieces = [line.split(" ")[0] for line in lines]
    assert "".join(piece for piece in pieces if piece in spec) == spec and "1 of 3" in "".join(lines)
    assert all(piece.endswith(",") or spec.endswith(piece) for piece in pieces if piece and piece in spec)


def test_titles_stay_on_one_line_where_there_is_room(capsys):
    assert grid(capsys, ["task", "exact match"], [["sort", 1]]) == ["task  exact match", "sort            1"]


def test_columns_without_room_follow_below_with_the_first_again(capsys):
    lines = grid(capsys, ["task", *(f"encoding_{n}" for n in range(9))], [[NAME, *range(9)]])
    assert sum(line.startswith(NAME) for line in lines) == 3 and lines.count("") == 2
    assert all(any(f"encoding_{n}" in line for line in lines) for n in range(9))


def test_a_table_of_a_record_names_the_columns_it_has_no_room_for(capsys):
    columns = tuple(Column(f"column_{n}", "number", f"{'wide' * 3}_{n}") for n in range(9))
    (left,) = write_table(Table("x.y", columns, (tuple(float(n) for n in range(9)),)))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80 and "x.y" in left
    assert all((column.title in text) != (column.title in left) for column in columns)


@pytest.mark.parametrize("name", ["日本語の名前", "[red]name[/red]", "\x1b[31mred"])
def test_names_of_any_letters_are_shown_as_they_are(capsys, name):
    (line,) = grid(capsys, ["", "n"], [[name, 1]])[1:]
    assert line.replace("\\x1b", "\x1b").startswith(name) and line.endswith("  1")
