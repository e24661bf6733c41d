"""Looking up what followed a symbol earlier: associative recall and induction. Local, one back."""

from __future__ import annotations

from collections.abc import Sequence

from lengthwise.oracle.programs.build import Draft, any_of, at_back, letters, some
from lengthwise.oracle.programs.prompts import EOS, SEP
from lengthwise.oracle.programs.syntax import And, Letter, Program


def successor(keys: Sequence[str], values: Sequence[str]) -> Program:
    """The value that came right after the key that stands before `<sep>`; the key occurs once before."""
    draft = Draft()
    after = [draft.define(f"after{number}", at_back(Letter(key), 1)) for number, key in enumerate(keys)]
    for value in values:
        # At <sep> `asked` says which key is asked for; in the prompt the same predicate says which key a value follows.
        found = (And((asked, some(And((Letter(value), asked))))) for asked in after)
        draft.output(value, And((Letter(SEP), any_of(found))))
    draft.output(EOS, letters(values))
    return draft.program()
