"""What a study found, as one page that works without a network, made from the stored records alone."""
