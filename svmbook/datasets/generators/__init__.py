"""Random data from known distributions."""
