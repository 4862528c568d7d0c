"""Typical wrong answers to the assignment `stumps`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "the sum is not divided by the number of features": (
        {
            "kernel": """
def stump_kernel(X, Z, low, high):
    distances = np.abs(X[:, None] - Z[None]).sum(axis=2)
    return 1 - 2 * distances / (high - low)
"""
        },
        {"test_kernel": 0},
    ),
    "no random stumps are drawn": (
        {
            "sampled": """
def sampled_kernel(X, Z, low, high, n_stumps, rng):
    return stump_kernel(X, Z, low, high)
"""
        },
        {"test_sampled": 0},
    ),
    "thresholds are data values": (
        {
            "sampled": """
def sampled_kernel(X, Z, low, high, n_stumps, rng):
    total = 0
    for _ in range(n_stumps):
        j = rng.integers(X.shape[1])
        a = rng.choice(np.concatenate([X[:, j], Z[:, j]]))
        total = total + np.outer(np.sign(X[:, j] - a + 1e-9), np.sign(Z[:, j] - a + 1e-9))
    return total / n_stumps
"""
        },
        {"test_sampled": 0},
    ),
    "shape functions are extrapolated linearly": (
        {
            "shape_function": """
def shape_function(x, A):
    knots = np.unique(x)
    return knots, np.array([-np.sum(A * np.abs(u - x)) for u in knots])


def decision_function(X, shape_functions, b):
    total = np.full(len(X), b)
    for x, (u, g) in zip(X.T, shape_functions):
        interpolated = np.interp(x, u, g)
        extrapolated = g[-1] + (x - u[-1]) * (g[-1] - g[-2]) / (u[-1] - u[-2])
        total = total + np.where(x > u[-1], extrapolated, interpolated)
    return total
"""
        },
        {"test_decision_function": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "kernel": """
def stump_kernel(X, Z, low, high):
    K = np.ones((len(X), len(Z)))
    for j in range(X.shape[1]):
        K -= 2 / X.shape[1] * np.abs(X[:, [j]] - Z[:, j]) / (high - low)
    return K
""",
    "sampled": """
def sampled_kernel(X, Z, low, high, n_stumps, rng):
    total = np.zeros((len(X), len(Z)))
    for _ in range(n_stumps):
        j, a, q = rng.integers(X.shape[1]), rng.uniform(low, high), rng.choice([-1, 1])
        total += np.outer(q * np.sign(X[:, j] - a), q * np.sign(Z[:, j] - a))
    return total / n_stumps
""",
    "shape_function": """
def shape_function(x, A):
    order = np.argsort(x)
    knots, first_indices = np.unique(x[order], return_index=True)
    coef_sums = np.add.reduceat(A[order], first_indices)
    g = [-float(np.sum(A * np.abs(knots[0] - x)))]
    slope = float(np.sum(A))
    for k in range(1, len(knots)):
        slope -= 2 * coef_sums[k - 1]
        g.append(g[-1] + slope * (knots[k] - knots[k - 1]))
    return knots, np.array(g)


def decision_function(X, shape_functions, b):
    F = []
    for row in X:
        total = b
        for value, (u, g) in zip(row, shape_functions):
            if value <= u[0] or len(u) == 1:
                total += g[0]
            elif value >= u[-1]:
                total += g[-1]
            else:
                k = int(np.searchsorted(u, value)) - 1
                weight = (value - u[k]) / (u[k + 1] - u[k])
                total += (1 - weight) * g[k] + weight * g[k + 1]
        F.append(total)
    return np.array(F)
""",
}
