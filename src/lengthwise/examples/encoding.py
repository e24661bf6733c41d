from dataclasses import dataclass

import lengthwise as lw


@dataclass(frozen=True)
class Slope(lw.Position):
    """A penalty that grows with distance."""

    rate: float = 0.1
    shift_invariant = True
    beyond_training = True

    def build(self, shape):
        return SlopeEncoder(self.rate, shape.heads)


class SlopeEncoder(lw.Encoder):
    def __init__(self, rate, heads):
        super().__init__()
        self.rate, self.heads = rate, heads

    def bias(self, queries_at, keys_at):
        apart = (queries_at[:, :, None] - keys_at[:, None, :]).abs()[:, None].double()
        return (-self.rate * apart).expand(-1, self.heads, -1, -1)
