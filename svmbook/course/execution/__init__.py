"""Execution of submissions: the kernel runs in a sandbox, and the tests in another process."""
