"""Reading the reply of a language model as symbols, strictly and leniently.

A reply is text of unknown origin: nothing in it is run, and what is found are symbols of the task or plain numbers.
Where it is not clear what the answer is, there is none: a reader that guesses turns noise into score.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from lengthwise.prompts.said import NOTHING_SAID, small_sizes, words_of
from lengthwise.tasks.task import Task

_LONGEST = 50_000  # characters of a reply that are looked at, its last ones
_THOUGHT = "think|thinking|thoughts?|reasoning|reflection|scratchpad"
_THOUGHTS = re.compile(rf"<({_THOUGHT})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEFORE = re.compile(rf".*</(?:{_THOUGHT})>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_CODE = re.compile(r"```[^\n`]*\n|```|\\[()\[\]]")
_CUE = re.compile(
    r"(?<![^\W\d_])(?:answer|result|output|solution|antwort|ergebnis|lösung|réponse|résultat|respuesta|resultado|"
    r"risposta|risultato|resposta|ответ|результат|答案|答え|结果)[\"'*_]*\s*"
    r"(?:(?:is|are|ist|sind|est|es|è|é)\b\s*:?|是|は|[:=])",
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
_RUN = re.compile(r"[^\W_]{2,}")
_CLOSES = {"(": ")", "[": "]", "{": "}", "<": ">"}


def strict_symbols(task: Task, text: str) -> tuple[str, ...] | None:
    """The symbols of an answer that is written exactly as in the examples: the symbols alone, in the words of the task,
    with exactly what the task puts between them (a single space for most). White space around the answer is ignored.
    Numbers are decimal, with single spaces between them; `nothing` is an answer without symbols. Anything else is None.
    """
    text, joint, names = text.strip(), words_of(task).joint, _names(task)
    if task.readout == "numbers":
        parts = tuple(text.split(" "))
        return parts if all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", part) for part in parts) else None
    if text == NOTHING_SAID and text not in names:
        return ()
    parts = text.split(joint) if joint else list(text)
    return tuple(names[part] for part in parts) if text and all(part in names for part in parts) else None


def lenient_symbols(task: Task, text: str, before: str = "") -> tuple[str, ...] | None:
    r"""The symbols that a patient reader finds; None where there are none, or where it is not clear which are meant.

    Thoughts in tags such as <think> are left out; thoughts that do not end leave nothing. A reply that begins with
    `before`, the words that stand before questions, repeats a question and has no answer; from a later line on that
    begins so, the next question is made up, and is left out. Of the rest the first of these that is there is read:

    1. what the last \boxed{…} holds;
    2. what follows the last "answer is", "Answer:", "result =" or the like, also in some other languages: the rest of
       its sentence, or the next lines if its line ends there;
    3. the whole reply;
    4. the line that is an answer, if there is one, or several that are the same;
    5. if the reply is a single sentence, what follows its only "is", "are", "equals", "=" or ":", unless questions have
       this sign in them; or, where symbols of answers never occur in questions, the only such symbol of the sentence,
       unless it holds a negation.

    It is an answer if it consists of symbols of the task and nothing but white space, commas, semicolons, "and",
    quotation marks, bullets or numbers of a list, emphasis or code marks of Markdown, brackets around all of it and a
    full stop. Case does not matter where symbols differ without it, nor do variants of a character in Unicode; symbols
    of one character may stand without spaces. A word in between, an ellipsis, a bracket that is not closed or a symbol
    that the task does not have make it none. Numbers may be fractions, as 2/3.
    """
    text = _THOUGHTS.sub(" ", _THOUGHT_BEFORE.sub(" ", _even(text[-_LONGEST:]))).strip()
    for start in filter(None, (_even(before).strip(), "Question:")):
        if text.lower().startswith(start.lower()):
            return None
        text = re.split(rf"\n\s*{re.escape(start)}", text, maxsplit=1, flags=re.IGNORECASE)[0]
    if boxed := _BOXED.findall(text):
        return _read(task, re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", boxed[-1]))
    text = _CODE.sub("\n", text)
    if cues := list(_CUE.finditer(text)):
        return _after_cue(task, text[cues[-1].end() :])
    if (whole := _read(task, text)) is not None:
        return whole
    lines = {found for line in text.splitlines() if (found := _read(task, line)) is not None}
    if len(lines) == 1:
        return lines.pop()
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip(f"{_QUOTES}_ ")]
    return None if lines or len(sentences) != 1 else _in_sentence(task, sentences[0])


def is_right(task: Task, given: Sequence[str] | None, wanted: Sequence[str]) -> bool:
    """Whether an answer as it was read is the right one: the same symbols, or numbers within the task's tolerance."""
    if given is None or len(given) != len(wanted):
        return False
    if task.readout != "numbers":
        return tuple(given) == tuple(wanted)
    return all(abs(float(a) - float(b)) <= task.tolerance + 1e-9 for a, b in zip(given, wanted, strict=True))


def _after_cue(task: Task, text: str) -> tuple[str, ...] | None:
    line, _, below = text.partition("\n")
    line = line.strip(f"{_QUOTES}_ :")
    if not line:
        below = below.strip()
        return _first_read(task, below.partition("\n\n")[0], below.partition("\n")[0])
    return _first_read(task, line, _REASON.sub("", _SENTENCE_END.split(line)[0]))


def _first_read(task: Task, *texts: str) -> tuple[str, ...] | None:
    return next((found for text in texts if (found := _read(task, text)) is not None), None)


def _in_sentence(task: Task, text: str) -> tuple[str, ...] | None:
    """What a sentence says at its end, or by the only symbol that can be nothing but an answer."""
    apart, asked = _small_symbols(task)
    verbs = list(_VERB.finditer(text))
    if len(verbs) == 1 and verbs[0][0] not in asked and (said := _read(task, text[verbs[0].end() :])) is not None:
        return said
    if not apart or _NEGATION.search(text):
        return None
    words = re.findall(r"[^\W_]+", text)
    found = {one for word in words if (one := _read(task, word)) is not None and set(one) <= apart}
    return found.pop() if len(found) == 1 else None


def _read(task: Task, text: str) -> tuple[str, ...] | None:
    """A text that is an answer and nothing else, as its symbols."""
    names = _loose_names(task)
    text = _unwrapped(_unlisted(text), names)
    if text.lower() in (NOTHING_SAID, "none", "empty") and text.lower() not in names:
        return ()
    if any(name.startswith("{") and len(name) > 1 for name in names):  # sets, in which spaces do not matter
        text = re.sub(r"\{[^{}]*\}", lambda match: re.sub(r"\s", "", match[0]), text)
    text = text.lstrip("≈~ ") if task.readout == "numbers" else text
    symbol = re.compile(_NUMBER) if task.readout == "numbers" else _pattern(tuple(names))
    place, found, parts = 0, [], 0
    while place < len(text):
        if match := symbol.match(text, place):
            found.append(_decimal(match[0]) if task.readout == "numbers" else names[_folded(match[0], names)])
        elif gap := _BETWEEN.match(text, place):
            place = gap.end()
            continue
        elif (match := _RUN.match(text, place)) and _splits(_folded(match[0], names), names):
            found += [names[character] for character in _folded(match[0], names)]
        else:
            return None
        place, parts = match.end(), parts + 1
    is_one = parts == 1 or bool(words_of(task).joint)  # a number of several digits is written in one piece
    return tuple(found) if found and is_one and "" not in found else None


@functools.lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the names, the longest that fits, none of which ends inside a word, a number or a cell."""
    alternatives = (
        re.escape(name) + (r"(?![^\W_]|[.|][^\W_])" if name[-1].isalnum() else "")
        for name in sorted(names, key=len, reverse=True)
    )
    is_loose = all(name == name.lower() for name in names)
    return re.compile("|".join(alternatives), re.IGNORECASE if is_loose else 0)


def _splits(run: str, names: dict[str, str]) -> bool:
    """Whether a run of letters or digits can only be symbols of one character each."""
    kind = str.isdecimal if run.isdecimal() else str.isalpha
    return all(character in names for character in run) and not any(len(name) > 1 and kind(name) for name in names)


def _unlisted(text: str) -> str:
    """The items of a list, one per line, without their bullets, or without their numbers if these count from 1."""
    marks, lines = list(_BULLET.finditer(text)), [line for line in text.splitlines() if line.strip()]
    counted = [mark[1] for mark in marks] == [str(number) for number in range(1, len(marks) + 1)]
    is_list = len(lines) > 1 and len(marks) == len(lines) and (counted or not any(mark[1] for mark in marks))
    return _BULLET.sub("", text) if is_list else text


def _unwrapped(text: str, names: dict[str, str]) -> str:
    """Without emphasis, quotation marks, a full stop, and brackets around all of it that are no symbols."""
    begins = {name[0] for name in names}
    marks = "".join(mark for mark in f"{_QUOTES}_$" if mark not in begins and not any(mark in name for name in names))
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


def _names(task: Task) -> dict[str, str]:
    """What the symbols are called in text → the symbols."""
    said = words_of(task).names
    return {said.get(symbol, symbol): symbol for symbol in task.symbols}


def _loose_names(task: Task) -> dict[str, str]:
    """The same as `_even` writes them, in lower case where they differ without it."""
    exact = {_even(name): symbol for name, symbol in _names(task).items()}
    lower = {name.lower(): symbol for name, symbol in exact.items()}
    return lower if len(lower) == len(exact) else exact


def _folded(text: str, names: dict[str, str]) -> str:
    return text if text in names else text.lower()


def _small_symbols(task: Task) -> tuple[set[str], set[str]]:
    """Of small items: the symbols of answers if none of them occurs in questions, and the symbols inside questions."""
    answers: set[str] = set()
    asked: set[str] = set()
    inside: set[str] = set()
    for size in small_sizes(task) if task.readout == "answer" else ():
        drawn = task.draw(size, 0, range(16), role="shots")
        answers.update(*map(task.spelled, drawn.answers))
        for prompt in map(task.spelled, drawn.prompts):
            asked.update(prompt)
            inside.update(prompt[:-1])
    return (set() if answers & asked else answers), inside
