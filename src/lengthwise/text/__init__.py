"""The text that comes with this package: ordinary prose, in the public domain; README.md says where it comes from."""

from importlib.resources import files

TITLE = "Alice's Adventures in Wonderland"


def built_in_text() -> str:
    """The whole text, with empty lines between paragraphs."""
    return files("lengthwise.text").joinpath("alice.txt").read_text(encoding="utf-8")


def built_in_parts(count: int) -> list[str]:
    """The text in `count` parts of about the same length, each starting with a paragraph where there are enough."""
    text = built_in_text()
    starts = []
    for number in range(count):
        about = number * len(text) // count
        paragraph = text.find("\n\n", about, about + 2000) + 2 if number else 0
        starts.append(paragraph if number == 0 or paragraph >= 2 else about)
    return [text[first:last] for first, last in zip(starts, [*starts[1:], len(text)], strict=True)]
