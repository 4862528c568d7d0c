"""Thousands of small problems at once, as duals or as linear programs.

`duals` solves batches of SVM duals, `members` forms such batches from sets of points, and
`l1_members` trains SVMs with the l1 norm.
"""
