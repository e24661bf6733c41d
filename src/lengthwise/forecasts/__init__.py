"""How far a model will hold: forecasts before training and for a checkpoint, from what the atlas has measured.

    forecast.py       before training, from facts of the task, the oracle's verdict and the encoding
    checkpoint.py     for a trained model that was measured up to a size
    unlabelled.py     for inputs without answers, from confidences
    share.py          how often similar tasks held, for the card of `check`
    advice.py         what to train a task with, and on which grounds; `regret.py` says how good that is
    evaluate.py       every task of the atlas forecast from the others, next to baselines

A forecast is a regression on levels of exact match (`regression.py`), and its interval is conformal with the task as
the unit (`conformal.py`). Nothing here needs torch until a subject is measured.
"""
