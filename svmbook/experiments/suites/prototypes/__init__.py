"""When exemplars and prototypes pay: their votes, iterations, and label noise."""
