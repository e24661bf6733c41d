"""Numbers as bits, each of which says where it ends.

Elias's delta code (Elias 1975) writes n >= 1 in about log2 n + 2 log2 log2 n bits; no code word is the beginning of
another, so nothing has to say how long it is. Lengths of byte strings are written as whole bytes, seven bits of the
number in each and the eighth saying whether another follows; that is prefix-free too.
"""

from __future__ import annotations

from lengthwise.errors import UsageError

DAMAGED = "this is no message of a model, or it is damaged"


class BitWriter:
    """Bits in the order they are written, first bit first."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def write(self, value: int, width: int) -> None:
        """A number below 2^width in exactly `width` bits."""
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit {width} bits")
        if width:
            self._pieces.append(f"{value:0{width}b}")

    def write_count(self, value: int) -> None:
        """A whole number of 0 or more in Elias's delta code."""
        self._pieces.append(delta_code(value + 1))

    def write_signed(self, value: int) -> None:
        """A whole number of either sign: 0, -1, 1, -2, … are counted up."""
        self.write_count(2 * value if value >= 0 else -2 * value - 1)

    def to_bytes(self) -> bytes:
        """The bits, filled up with zeros to whole bytes."""
        text = "".join(self._pieces)
        size = -(-len(text) // 8)
        return int(text.ljust(8 * size, "0") or "0", 2).to_bytes(size, "big")


class BitReader:
    """Reads what a `BitWriter` wrote."""

    def __init__(self, data: bytes) -> None:
        self._text = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}" if data else ""
        self._at = 0

    def read(self, width: int) -> int:
        piece = self._text[self._at : self._at + width]
        if len(piece) < width:
            raise UsageError(f"{DAMAGED}: it ends too early")
        self._at += width
        return int(piece, 2) if width else 0

    def read_count(self) -> int:
        zeros = self._zeros()
        length = (1 << zeros | self.read(zeros)) - 1
        if length > 64:
            raise UsageError(f"{DAMAGED}: it holds a number beyond 2^64")
        return (1 << length | self.read(length)) - 1

    def read_signed(self) -> int:
        value = self.read_count()
        return value // 2 if value % 2 == 0 else -(value + 1) // 2

    def finish(self) -> None:
        """Refuses bits that nobody read; at most seven zeros may be left."""
        rest = self._text[self._at :]
        if len(rest) > 7 or "1" in rest:
            raise UsageError(f"{DAMAGED}: its tables hold more than they say")

    def _zeros(self) -> int:
        one = self._text.find("1", self._at, self._at + 8)
        if one < 0:
            raise UsageError(f"{DAMAGED}: a number in it has no end")
        zeros = one - self._at
        self._at = one + 1
        return zeros


def delta_code(value: int) -> str:
    """Elias's delta code of a whole number of 1 or more."""
    digits = f"{value:b}"
    length = f"{len(digits):b}"
    return "0" * (len(length) - 1) + length + digits[1:]


def length_prefix(length: int) -> bytes:
    """A length of 0 or more as bytes that say where they end: seven bits per byte, lowest first."""
    pieces = bytearray()
    while length >= 128:
        pieces.append(length & 127 | 128)
        length >>= 7
    pieces.append(length)
    return bytes(pieces)


def read_prefix(data: bytes, at: int = 0) -> tuple[int, int]:
    """A length that starts at byte `at`, and where what follows it starts."""
    length = 0
    for place in range(at, min(at + 9, len(data))):
        length |= (data[place] & 127) << 7 * (place - at)
        if data[place] < 128:
            return length, place + 1
    raise UsageError(f"{DAMAGED}: a length in it has no end")
