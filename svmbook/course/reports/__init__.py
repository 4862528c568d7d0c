"""Feedback for students, reports for instructors, and marks for learning platforms."""
