from torch import nn


class Net(nn.Module):
    """A GRU between an embedding and a linear layer."""

    def __init__(self, vocabulary, outputs, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, tokens):
        states, _ = self.gru(self.embedding(tokens))
        return self.output(states)
