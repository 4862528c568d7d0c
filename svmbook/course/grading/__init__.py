"""Grading: which cells run, what their outputs are worth, and the trial before release."""
