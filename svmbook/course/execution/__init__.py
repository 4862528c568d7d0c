"""Running a submission: its kernel in a sandbox, and its tests in another process."""
