"""How far two weighted samples are apart: exact Wasserstein-1 distances with a certificate."""
