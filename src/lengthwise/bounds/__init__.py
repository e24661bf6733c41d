"""What is guaranteed: numbers in, `Claim`s out. Nothing here needs torch.

lipschitz      how much a model can stretch distances, certified
kantorovich    what a risk can grow to when the data shift, term by term
sampling       what a finite sample can hide
compression    how long a model's description is, really written and decoded
tokens         what a model of tokens loses at most, from its description and its losses in training
contexture     what contexts can teach, and how much of it a representation has
contrastive    a bound of the InfoNCE loss
plan           what a training run could guarantee before it is carried out, by the methods of plan_methods
"""
