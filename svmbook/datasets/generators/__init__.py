"""Seeded data from known distributions."""
