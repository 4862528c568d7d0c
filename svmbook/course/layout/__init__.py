"""The folder of a course: its assignments, what was handed in, and the marks in the gradebook."""
