"""The tables of *Exploring Classification*, and further experiments that they suggest."""
