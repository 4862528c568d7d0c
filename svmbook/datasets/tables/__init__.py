"""Classical tables by name."""
