"""Grading: the cells to run, the points for their outputs, and the trial before release."""
