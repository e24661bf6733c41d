"""Will a Transformer trained on short inputs hold on longer ones? How far, why, and what would change it?"""
