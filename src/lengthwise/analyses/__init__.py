"""What is computed from the stored records of a study: one file or package per analysis.

An analysis turns a study into a record; a study names its analyses, and its report shows their records in order.
"""
