"""What is guaranteed: numbers in, `Claim`s out. Nothing here needs torch.

lipschitz      how much a model can stretch distances, certified
kantorovich    what a risk can grow to when the data shift, term by term
sampling       what a finite sample can hide
compression    how long a model's description is, really written and decoded
plan           what a training run could guarantee before it is carried out, by the methods of plan_methods
"""
