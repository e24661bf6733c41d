"""The text that comes with this package: ordinary prose, in the public domain; README.md says where it comes from."""

from importlib.resources import files

TITLE = "Alice's Adventures in Wonderland"


def built_in_text() -> str:
    """The whole text, paragraphs parted by empty lines."""
    return files("lengthwise.text").joinpath("alice.txt").read_text(encoding="utf-8")
