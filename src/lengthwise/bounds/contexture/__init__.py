"""What contexts can teach a representation, and how much of it one has learned (zhai2025).

table       P(x, a), exact or counted, and the generalised eigenproblem
spectrum    singular values of the expectation operator: by SVD, by the dual kernel, by features
alignment   ratio trace, trace gap and canonical correlations of a representation; how badly a linear probe can do
estimates   the same from pairs that were drawn, without the bias of the plug-in, with intervals
summary     all claims, the decay of the associations, and τ, a rule of thumb
"""
