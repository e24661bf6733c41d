import lengthwise as lw

run = lw.train("sort", "learned+offset", train_size=20, test_size=60)
print(run.reach)
print(run.curve.bins()[-1].exact)  # exact match in the last bin
print(lw.check("copy_repeat").verdicts["none"].why)
