"""What experiments share: splits, searches of parameters, statistics."""
