"""How far a test is from training: two samples of trajectories, the distance between them, and what makes it up.

    from lengthwise.shift.compare import measure_shift
    from lengthwise.shift.samples import task_sample
    shift = measure_shift(task_sample("sort", 10), task_sample("sort", 40, role="second"), "edit")
    print(shift.verdict())

Reading files, drawing from tasks and measuring need no torch, unless the metric is `hidden`.
"""
