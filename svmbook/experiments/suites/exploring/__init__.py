"""The tables of *Exploring Classification*, and what they suggest to look at further."""
