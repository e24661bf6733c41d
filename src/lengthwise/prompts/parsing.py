"""Reading the reply of a language model as symbols, strictly and leniently.

A reply is text of unknown origin: nothing in it is run, and what is found are symbols of the task or plain numbers.
Where it is not clear what the answer is, there is none: a reader that guesses turns noise into score.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lengthwise.prompts.said import NOTHING_SAID, small_sizes, words_of
from lengthwise.tasks.task import Task

_LONGEST = 50_000  # characters of a reply that are looked at, its last ones
_THOUGHT = "think|thinking|thoughts?|reasoning|reflection|scratchpad"
_THOUGHT_BEGINS = re.compile(rf"<(?:{_THOUGHT})>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"</(?:{_THOUGHT})>", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_CODE = re.compile(r"```[^\n`]*\n|```|\\[()\[\]]")
_CUE = re.compile(
    r"(?<![^\W\d_])(?:answer|result|output|solution|antwort|ergebnis|lösung|réponse|résultat|respuesta|resultado|"
    r"risposta|risultato|resposta|ответ|результат|答案|答え|结果)[\"'*_]*\s*"
    r"(?:(?:is|are|ist|sind|est|es|è|é)\b(?:\s*:)?|是|は|[:=])[*_]*",
    re.IGNORECASE,
)
_VERB = re.compile(r"(?:\b(?:is|are|was|were|equals|ist|est|es)\b:?|[:=→]|->)(?=\s)", re.IGNORECASE)
_REASON = re.compile(r"[,;]?\s*\b(?:because|since)\b.*", re.DOTALL | re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot|nicht|kein|ne|non)\b|n['’]t\b", re.IGNORECASE)
_BULLET = re.compile(r"^[ \t]*(?:[-•–]|\*(?=\s)|(\d+)[.)](?=\s))[ \t]*", re.MULTILINE)
_QUOTES = "\"'“”‘’„«»`*"
_BETWEEN = re.compile(rf"[\s,;{_QUOTES}]|(?:and|then|und|et|y)\b", re.IGNORECASE)
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:/[0-9]+)?(?![^\W_]|/|\.[0-9])"
_WORD = re.compile(r"[^\W_]{2,}")
_MOST_LETTERS = 10  # of an alphabet whose letters may be written as one word; with more, any word is such a row
_CLOSES = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass(frozen=True)
class _Vocabulary:
    """How the answers of a task are written: what its symbols are called, exactly and loosely (as `_even` writes them,
    in lower case where they differ without it), and what is known of small items."""

    exact: dict[str, str]
    loose: dict[str, str]
    joint: str
    pattern: re.Pattern[str]
    is_number: bool
    apart: frozenset[str]  # the symbols of answers, if none of them occurs in questions
    asked: frozenset[str]  # the symbols inside questions

    def symbol(self, text: str) -> str:
        """The symbol of a text that the pattern fits; "" for a number that is none."""
        return _decimal(text) if self.is_number else self.loose[text if text in self.loose else text.lower()]

    def splits(self, run: str) -> bool:
        """Whether a word can only be symbols of one character each."""
        kind = str.isdecimal if run.isdecimal() else str.isalpha
        alike = [name for name in self.loose if kind(name)]
        return len(alike) <= _MOST_LETTERS and max(map(len, alike), default=2) == 1 and set(run.lower()) <= set(alike)


_known: dict[tuple[type, str], _Vocabulary] = {}


def _vocabulary(task: Task) -> _Vocabulary:
    key = (type(task), repr(task))
    if key not in _known:
        words = words_of(task)
        exact = {words.names.get(symbol, symbol): symbol for symbol in task.symbols}
        even = {_even(name): symbol for name, symbol in exact.items()}
        lower = {name.lower(): symbol for name, symbol in even.items()}
        loose = lower if len(lower) == len(even) else even
        # the longest name that fits, and none that ends inside a word, a number or a cell
        alternatives = "|".join(
            re.escape(name) + (r"(?![^\W_]|[.|][^\W_])" if name[-1].isalnum() else "")
            for name in sorted(loose, key=len, reverse=True)
        )
        is_number = task.readout == "numbers"
        pattern = re.compile(_NUMBER if is_number else alternatives, re.IGNORECASE if loose is lower else 0)
        _known[key] = _Vocabulary(exact, loose, words.joint, pattern, is_number, *_small_symbols(task))
    return _known[key]


def _small_symbols(task: Task) -> tuple[frozenset[str], frozenset[str]]:
    answers: set[str] = set()
    asked: set[str] = set()
    inside: set[str] = set()
    for size in small_sizes(task) if task.readout == "answer" else ():
        drawn = task.draw(size, 0, range(16), role="shots")
        answers.update(*map(task.spelled, drawn.answers))
        for prompt in map(task.spelled, drawn.prompts):
            asked.update(prompt)
            inside.update(prompt[:-1])
    return frozenset() if answers & asked else frozenset(answers), frozenset(inside)


def strict_symbols(task: Task, text: str) -> tuple[str, ...] | None:
    """The symbols of an answer that is written exactly as in the examples: the symbols alone, in the words of the task,
    with exactly what the task puts between them (a single space for most). White space around the answer is ignored.
    Numbers are decimal, with single spaces between them; `nothing` is an answer without symbols. Anything else is None.
    """
    text, known = text.strip(), _vocabulary(task)
    if known.is_number:
        parts = tuple(text.split(" "))
        return parts if all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", part) for part in parts) else None
    if text == NOTHING_SAID and text not in known.exact:
        return ()
    parts = text.split(known.joint) if known.joint else list(text)
    return tuple(known.exact[part] for part in parts) if text and all(part in known.exact for part in parts) else None


def lenient_symbols(task: Task, text: str, before: str = "") -> tuple[str, ...] | None:
    r"""The symbols that a patient reader finds; None where there are none, or where it is not clear which are meant.

    Thoughts in tags such as <think> are left out; thoughts that do not end leave nothing. A reply that begins with
    `before`, the words that stand before questions, repeats a question and has no answer; from a later line on that
    begins so, the next question is made up, and is left out. Of the rest the first of these that is there is read:

    1. what the last \boxed{…} holds;
    2. what follows the last "answer is", "Answer:", "result =" or the like, also in some other languages: the rest of
       its sentence, or the next lines if its line ends there;
    3. the whole reply, unless each of its lines has several symbols;
    4. the line that is an answer, if there is one, or several that are the same;
    5. if the reply is a single sentence, what follows its only "is", "are", "equals", "=" or ":", unless questions have
       this sign in them; or, where symbols of answers never occur in questions, the only such symbol of the sentence,
       unless it holds a negation.

    It is an answer if it consists of symbols of the task and nothing but white space, commas, semicolons, "and",
    quotation marks, bullets or numbers of a list, emphasis or code marks of Markdown, brackets around all of it and a
    full stop. Case does not matter where symbols differ without it, nor do variants of a character in Unicode; symbols
    of one character may be written as one word. A word in between, an ellipsis, a bracket that is not closed or a
    symbol that the task does not have make it none. Numbers may be fractions, as 2/3.
    """
    known = _vocabulary(task)
    text = _THOUGHT_BEGINS.split(_THOUGHT_ENDS.split(_even(text[-_LONGEST:]))[-1])[0].strip()
    for start in filter(None, (_even(before).strip(), "Question:")):
        if text.lower().startswith(start.lower()):
            return None
        text = re.split(rf"\n\s*{re.escape(start)}", text, maxsplit=1, flags=re.IGNORECASE)[0]
    if boxed := _BOXED.findall(text):
        return _read(known, re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", boxed[-1]))
    text = _CODE.sub("\n", text)
    if cues := list(_CUE.finditer(text)):
        return _after_cue(known, text[cues[-1].end() :])
    lines = [_read(known, line) for line in text.splitlines() if line.strip()]
    several = len(lines) > 1 and all(line is not None and len(line) > 1 for line in lines)
    if not several and (whole := _read(known, text)) is not None:
        return whole
    answers = {line for line in lines if line is not None}
    if len(answers) == 1:
        return answers.pop()
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip(f"{_QUOTES}_ ")]
    return None if answers or len(sentences) != 1 else _in_sentence(known, sentences[0])


def is_right(task: Task, given: Sequence[str] | None, wanted: Sequence[str]) -> bool:
    """Whether an answer as it was read is the right one: the same symbols, or numbers within the task's tolerance."""
    if given is None or len(given) != len(wanted):
        return False
    if task.readout != "numbers":
        return tuple(given) == tuple(wanted)
    return all(abs(float(a) - float(b)) <= task.tolerance + 1e-9 for a, b in zip(given, wanted, strict=True))


def _after_cue(known: _Vocabulary, text: str) -> tuple[str, ...] | None:
    line, _, below = text.partition("\n")
    below = below.strip()
    choice = [line, _REASON.sub("", _SENTENCE_END.split(line)[0])]
    if not line.strip(f"{_QUOTES}_ "):
        choice = [below.partition("\n\n")[0], below.partition("\n")[0]]
    return next((found for text in choice if (found := _read(known, text)) is not None), None)


def _in_sentence(known: _Vocabulary, text: str) -> tuple[str, ...] | None:
    """What a sentence says at its end, or by the only symbol that can be nothing but an answer."""
    verbs = list(_VERB.finditer(text))
    if len(verbs) == 1 and verbs[0][0] not in known.asked:
        said = _read(known, text[verbs[0].end() :])
        if said is not None:
            return said
    broken = ".." in text or any(text.count(begin) != text.count(end) for begin, end in _CLOSES.items())
    if not known.apart or broken or _NEGATION.search(text):
        return None
    words = re.findall(r"[^\W_]+", text)
    found = {one for word in words if (one := _read(known, word)) is not None and set(one) <= known.apart}
    return found.pop() if len(found) == 1 else None


def _read(known: _Vocabulary, text: str) -> tuple[str, ...] | None:
    """A text that is an answer and nothing else, as its symbols."""
    text = _unwrapped(_unlisted(text), known.loose)
    if text.lower() in (NOTHING_SAID, "none", "empty") and text.lower() not in known.loose:
        return ()
    if known.is_number:
        text = text.lstrip("≈~ ")
    elif any(name.startswith("{") and len(name) > 1 for name in known.loose):  # sets, in which spaces do not matter
        text = re.sub(r"\{[^{}]*\}", lambda match: re.sub(r"\s", "", match[0]), text)
    if _WORD.fullmatch(text) and not known.pattern.fullmatch(text) and known.splits(text):
        return tuple(known.symbol(character) for character in text)
    place, found = 0, []
    while place < len(text):
        if match := known.pattern.match(text, place):
            found.append(known.symbol(match[0]))
        elif not (match := _BETWEEN.match(text, place)):
            return None
        place = match.end()
    is_one = len(found) == 1 or bool(known.joint)  # a number of several digits is one word
    return tuple(found) if found and is_one and "" not in found else None


def _unlisted(text: str) -> str:
    """The items of a list, one per line, without their bullets, or without their numbers if these count from 1."""
    marks, lines = list(_BULLET.finditer(text)), [line for line in text.splitlines() if line.strip()]
    counted = [mark[1] for mark in marks] == [str(number) for number in range(1, len(marks) + 1)]
    is_list = len(lines) > 1 and len(marks) == len(lines) and (counted or not any(mark[1] for mark in marks))
    return _BULLET.sub("", text) if is_list else text


def _unwrapped(text: str, names: dict[str, str]) -> str:
    """Without emphasis, quotation marks, a full stop, and brackets around all of it that are no symbols."""
    begins = {name[0] for name in names}
    marks = "".join(mark for mark in f"{_QUOTES}_$" if not any(mark in name for name in names))
    before = None
    while text != before:
        before, text = text, text.strip().strip(marks).strip()
        if text.endswith((".", "!", "。")) and not text.endswith(".."):
            text = text[:-1]
        if len(text) > 1 and text[0] not in begins and _CLOSES.get(text[0]) == text[-1]:
            text = text[1:-1]
    return text


def _decimal(text: str) -> str:
    try:
        return f"{float(Fraction(text)):.6f}"
    except (ZeroDivisionError, OverflowError):
        return ""


def _even(text: str) -> str:
    """Variants of a character made equal, minus signs and line ends too."""
    text = unicodedata.normalize("NFKC", text).replace("−", "-")
    return text.replace("\r\n", "\n").replace("\r", "\n")
