"""The fifteen tasks of Delétang et al. 2023, from regular to context-sensitive.

Regular: even_pairs, modular_arithmetic, parity_check, cycle_navigation. Deterministic context-free:
modular_arithmetic_brackets, reverse_string, stack_manipulation, solve_equation. Context-sensitive: duplicate_string,
missing_duplicate_string, odds_first, binary_addition, binary_multiplication, compute_sqrt, bucket_sort.

A size is the exact number of symbols in the prompt. Where the original shortens or fills a prompt to reach a length,
the task here has no items of that size. Answers of varying length end with the `<eos>` of the layout, where the
original writes a termination symbol and fills up with zeros.
"""
