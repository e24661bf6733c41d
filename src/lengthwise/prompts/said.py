"""What tasks are in words, where the first line of their description does not say it to a stranger."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Sequence
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.tasks.words import Words

NOTHING_SAID = "nothing"  # how an answer without symbols is written
_DRAWN = (
    "The answers of this task are drawn at random, so that no answer is the right one and a reply cannot be marked."
)
_YES = "Reply with yes or no only."
_CELLS = (
    "Where nothing is left to do, all stays as it is. Reply with all cells as they are after the step, separated by "
    "single spaces."
)
_ACTIONS = (
    "Reply with one word per symbol, separated by single spaces: keep for a symbol that stays, drop for one that is "
    "removed, or the number that replaces it. A number that stands alone stays."
)
_SETS = (
    "Reply with one set for each prefix, from the empty one to the whole word, separated by single spaces. A set is "
    "written in braces, with commas between its symbols; $ in it says that the word may end there."
)


def _sum(prompt: Sequence[str]) -> str:
    return "".join({"+": " + ", "=": " =", "*": " * "}.get(symbol, symbol) for symbol in prompt)


def _pairs(prompt: Sequence[str]) -> str:
    ends = 2 * sum(symbol[0] == "v" for symbol in prompt)
    pairs = ", ".join(f"{key} {value}" for key, value in zip(prompt[:ends:2], prompt[1:ends:2], strict=True))
    what = "value" if len(prompt) == ends + 1 else "value, one after the other,"
    return f"{pairs}\nWhat is the {what} of {', '.join(prompt[ends:])}?"


SAID = {
    "addition": Words("Add two binary numbers.", joint="", told=_sum),
    "addition_appended": Words(
        "Add two numbers in base `base`. Their digits are written with the least significant one first, and so are "
        "those of the sum, which has one digit more than the summands."
    ),
    "addition_columns": Words(
        "Two numbers in base `base` are added column by column, the least significant digit first. A column is written "
        "digit|digit|sum|carry, and · stands where nothing is written yet. Fill in sum and carry of the first column "
        "that lacks them, with the carry of the column before it; all other columns stay as they are.",
        _CELLS,
    ),
    "addition_marked": Words(
        "Two numbers in base `base` are added, the least significant digit first. A cell is written symbol|mark, and · "
        "is no mark. Add the digits marked a and b and the carry, which is the number after c. Write the digit of the "
        "result into the cell with the carry, put the new carry on the cell after it, and move the marks a and b to "
        "the next digits. If no digit is marked, the carry alone is the result.",
        _CELLS,
    ),
    "addition_marked_alike": Words(
        "Two numbers in base `base` are added, the least significant digit first. A cell is written symbol|mark, and · "
        "is no mark. Add the two digits marked ^ and the carry, which is the number after c. Write the digit of the "
        "result into the cell with the carry, put the new carry on the cell after it, and move both marks ^ to the "
        "next digits. If no digit is marked, the carry alone is the result.",
        _CELLS,
    ),
    "arithmetic_flat": Words(
        "Do one step of computing an expression modulo `prime`: in each run of products the first product, and the "
        "first sum or difference unless a product follows it. The result replaces the operator, and its two numbers "
        "are removed.",
        _ACTIONS,
    ),
    "arithmetic_flat_leftmost": Words(
        "Do one step of computing an expression modulo `prime`, products before sums: only the leftmost operation that "
        "can be done now. The result replaces the operator, and its two numbers are removed.",
        _ACTIONS,
    ),
    "arithmetic_parenthesised": Words(
        "Do one step of computing an expression modulo `prime`: all innermost parentheses at once. The result replaces "
        "the operator, and its two numbers and their parentheses are removed.",
        _ACTIONS,
    ),
    "associative_recall": Words("Look up a key in a list of keys, each with its value behind it.", told=_pairs),
    "binary_addition": Words("Add two binary numbers, which are written with the lowest bit first, as is the sum."),
    "binary_multiplication": Words(
        "Multiply two binary numbers, which are written with the lowest bit first, as is the product."
    ),
    "compute_sqrt": Words(
        "Write the square root, rounded down, of a binary number. Write it in binary with half as many bits as the "
        "number has, rounded up, so that it may begin with zeros."
    ),
    "copy_distinct_steps": Words("Write the row of numbers again, in the same order."),
    "copy_pointer": Words(
        "A row is copied one number at a time. A cell is written symbol|mark, and · is no mark. Copy the number marked "
        "^ into the first cell after = that holds _, and move the mark ^ to the next number.",
        _CELLS,
    ),
    "copy_repeat": Words("Write the row of letters again, in the same order."),
    "copy_repeat_steps": Words("Write the row of numbers again, in the same order."),
    "copy_unique": Words("Write the row of numbers again, in the same order."),
    "countdown": Words(
        "The first number is the target, the others are a row. Reach the target by depth-first search and write the "
        "search. The running value starts as the first number of the row. A step combines it, by one of the operations "
        "`operations`, with a number further on in the row, at most `branching` ahead. Numbers are tried in order, and "
        "for each number the operations in order. A difference is the larger minus the smaller, never 0, and nothing "
        "exceeds `top`. A step is written as the operation, the number and the new value. Where the search fails, it "
        "writes <, the step it takes back and the value before it."
    ),
    "cycle_navigation": Words(
        "A walk on a circle of places, numbered from 0 to one less than `modulus`, starts at place 0. Each number is a "
        "step: 1 goes to the next place, -1 to the one before, 0 stays. Say at which place the walk ends."
    ),
    "d_n": Words(
        "Read a and b as opening and closing brackets, nested at most `depth` deep. For every prefix of the word, "
        "write the set of symbols that may come next.",
        _SETS,
    ),
    "duplicate_string": Words("Write the row of numbers twice, one after the other."),
    "interleaved_majority": Words(
        "The bits belong to `period` sequences in turn: the first bit to the first sequence, the second to the second, "
        "and so on, round and round. For each sequence, in order, say which bit it holds more often."
    ),
    "jsonl": Words("Answer the question as in the examples."),
    "kgram": Words(
        "Look at the last `k` letters, and at all earlier places where the same `k` letters stand in the same order. "
        "Say which letter most often came right after them."
    ),
    "layout": Words("Take the next step as in the examples."),
    "kgram_law": Words(
        "Look at the last `k` letters, and at all earlier places where the same `k` letters stand in the same order. "
        "For each letter of the alphabet, in order, give the share of these places at which it came right after them."
    ),
    "missing_duplicate_string": Words(
        "A row of bits was written twice, and one bit was replaced by _. Say which bit it was."
    ),
    "modp_task": Words(
        "Count places from 0. Look at the places whose number leaves the remainder `residue` when divided by `period`, "
        "and give the share of ones among the bits there."
    ),
    "modular_arithmetic": Words("Compute the expression modulo `modulus`; products come first."),
    "modular_arithmetic_brackets": Words("Compute the expression modulo `modulus`."),
    "multiplication_marked": Words(
        "Two numbers in base `base` are multiplied as on paper, the least significant digit first. A cell is written "
        "digit|mark|row, and · is no mark. Do one step: multiply the digits marked i and j, add the digit marked k and "
        "the carry, which is the number after k, and write the digit of the result there; j and k move to the next "
        "cells, and k takes the new carry along. When j is on *, write the carry instead, put j back on the first "
        "digit, move i to the next digit and > one cell on, and put k with carry 0 on the cell with >. When i is on =, "
        "nothing is left to do.",
        _CELLS,
    ),
    "parity": Words("Say whether the number of ones is even or odd.", names={"e": "even", "o": "odd"}),
    "parity_appended": Words(
        "For each prefix of the row of bits, from the first bit alone to the whole row, write 1 if it holds an odd "
        "number of ones and 0 if it holds an even number."
    ),
    "parity_columns": Words(
        "A cell is written bit|parity, and · stands where no parity is written yet. Fill in the parity of the first "
        "cell that lacks one: 1 if the number of ones up to this cell is odd, else 0; all other cells stay the same.",
        _CELLS,
    ),
    "parity_direct": Words("Write 1 if the number of ones is odd, and 0 if it is even."),
    "parity_leftmost": Words(
        "Replace the first two bits by one, their exclusive or: it replaces the first bit, the second is removed, and "
        "all others stay. A single bit stays.",
        _ACTIONS,
    ),
    "prose": Words(refusal=_DRAWN),
    "regular": Words(
        "The words of a language are those that fit the regular expression `expression`. For every prefix of the word, "
        "write the set of symbols that may come next.",
        _SETS,
    ),
    "regular_member": Words("Say whether the row of letters fits the regular expression `expression`.", _YES),
    "reverse_string": Words("Write the row of numbers backwards."),
    "simple_task": Words(
        "Let c0 be the number of zeros and c1 the number of ones. Give sin(`omega` * (c0 - c1) / (c0 + c1)), with the "
        "angle in radians."
    ),
    "stack_manipulation": Words(
        "The bits at the beginning are a stack, its bottom first. The instructions after them push a bit (push0, "
        "push1) or remove the topmost bit (pop), which does nothing to an empty stack. Write what is on the stack at "
        "the end, its top first.",
        "Reply with the bits only, separated by single spaces, or with the word nothing if the stack is empty.",
    ),
    "subset_sum": Words(
        "The first number is the target; the groups between the bars follow it, and at most one number of each is "
        "taken. Find numbers that add up to the target by depth-first search, group by group, and write the search: + "
        "and a number for taking it, - and the last number of the group for skipping the group, each followed by what "
        "then remains. Taking is tried before skipping. A number above what remains is not tried, and a state is left "
        "at once if later groups cannot give what remains. Where the search fails, it writes <, the step it takes back "
        "and what remained before it."
    ),
    "tree_maze": Words(
        "The first number is the goal and the second the room to start from. Behind a room, in brackets, stand the "
        "rooms that can be entered from it. Find the way to the goal by depth-first search, trying rooms in the order "
        "in which they stand, and write the search: each room that is entered, and at a dead end <, the room that is "
        "left and the room that is gone back to."
    ),
}

_BY_EXAMPLES = {  # languages that no expression describes
    "regular": Words(
        "The words of a language are like those of the examples. For every prefix of the word, write the set of "
        "symbols that may come next.",
        _SETS,
    ),
    "regular_member": Words("Say whether the row of letters belongs to the language that the examples show.", _YES),
}


def words_of(task: Task) -> Words:
    """How a task is said: as the task says it itself, as written here, or from its description and its symbols."""
    if task.words != Words():
        return task.words
    base = getattr(task, "base", None)
    if isinstance(base, Task):
        return words_of(base)
    name = tasks.spec_of(task).get("name", "")
    source = SAID if getattr(task, "expression", "") else SAID | _BY_EXAMPLES
    words = source.get("d_n" if re.fullmatch(r"d_\d+", name) else name, Words())
    return Words(refusal=_DRAWN) if not task.certain and not words.refusal else words


def sayable(task: Task) -> Words:
    """The words of a task; a usage error where it cannot be put in words."""
    words = words_of(task)
    if words.refusal:
        raise UsageError(f"the task {name_of(task)} cannot be put to a language model: {words.refusal}")
    return words


def instruction_of(task: Task) -> str:
    """What to do, and what an answer looks like; the same for all sizes."""
    words = sayable(task)
    source: Any = base if isinstance(base := getattr(task, "base", None), Task) else task
    said = words.instruction or (inspect.getdoc(type(source)) or "Answer the question.").partition("\n")[0]

    def setting(match: re.Match[str]) -> str:
        value = getattr(source, match[1], None)
        return str(value) if isinstance(value, int | float | str) and value != "" else match[1]

    return f"{re.sub('`([^`]*)`', setting, said)} {words.form or _form(task, words)}"


def _form(task: Task, words: Words) -> str:
    if task.readout == "tags":
        sets = any(symbol.startswith("{") for symbol in task.symbols)
        return _SETS if sets else "Reply with one label per symbol, separated by single spaces."
    width = task.draw(small_sizes(task)[-1], 0, [0], role="shots").answers.shape[1]
    if task.readout == "numbers":
        return "Reply with " + ("the number" if width == 1 else f"the {width} numbers") + " only, with three decimals."
    if width == 1 or not words.joint:
        return "Reply with the answer only."
    return "Reply with the answer only, with single spaces between its symbols."


def small_sizes(task: Task) -> list[int]:
    """Some of the smallest sizes: for examples, and to see what answers look like."""
    smallest = task.axes[0].smallest
    found = list(itertools.islice(filter(task.has, range(smallest, smallest + 1000)), 6))
    if not found:
        raise UsageError(f"the task {name_of(task)} has no size below {smallest + 1000}, so no examples can be shown")
    return found
