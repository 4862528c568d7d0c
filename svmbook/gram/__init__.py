"""Gram matrices in several forms, behind one interface."""
