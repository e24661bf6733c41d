"""What is guaranteed of a model you hold: its description, its losses on its data, and the bounds made from both.

bound          the one entry, and `guarantee`, what it gives
subject        a run of ours, a folder of the Hugging Face Hub, a GGUF file; `predictor`, what is asked of each
source         where tokens come from: `text_source` (files, the built-in text), `item_source` (the items of a run)
description    the model as a message, and which quantiser; `gguf_message`, a file that is its own message
reading        the losses, a stretch at a time, kept in a `store`
judged         the bounds, with what is known here of the data; `past`, whether the model looks ahead
held_out       what the bounded quantities really are, measured on fresh items or computed exactly
"""
