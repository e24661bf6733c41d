"""Many runs under one question: what is asked (`spec`), which runs that makes (`grid`), and what they will cost."""
