"""What students hand in: found, read with care, laid upon the master, compared."""
