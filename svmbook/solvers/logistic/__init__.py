"""Penalised log likelihoods: Newton's method, its proximal cousin, no penalty, few points."""
