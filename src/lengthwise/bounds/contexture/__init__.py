"""What contexts can teach a representation, and how much of it one has learned (zhai2025).

table           P(x, a), exact or counted
spectrum        singular values of the expectation operator: by SVD, by the dual kernel, by features
alignment       ratio trace, trace gap and canonical correlations of a representation
encoder_error   how badly a linear probe can do on tasks that the contexts help with
estimates       the same from pairs that were drawn, without the bias of the plug-in, with intervals
usefulness      decay of the associations, and τ, a rule of thumb
"""
