"""The active-set method for the dual of the support vector machine.

The modules can be read in this order:

- `state`: multipliers, errors and sets of points; `faces` and `face_updates` solve the system of
  the free points.
- `primal_dual`, `decomposition`, `purification` and `monotone`: the kinds of iteration;
  `iterations` combines them.
- `starts`: the initial sets; `solver` combines them with the iterations.
- `path`: several values of C; `crossover`: from another solver's solution to the exact one.
"""
