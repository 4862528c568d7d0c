"""Typical wrong answers to the assignment `dual_by_hand`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "the labels are missing from P": (
        {
            "program": """
def dual_program(X, y, C):
    n = len(y)
    G = np.vstack([-np.eye(n), np.eye(n)])
    h = np.concatenate([np.zeros(n), np.full(n, C)])
    return X @ X.T, -np.ones(n), G, h, y[None, :], np.zeros(1)
"""
        },
        {"test_objective": 0},
    ),
    "the multipliers may be negative": (
        {
            "program": """
def dual_program(X, y, C):
    n = len(y)
    P = np.outer(y, y) * (X @ X.T)
    G = np.vstack([np.eye(n), np.eye(n)])
    h = np.full(2 * n, C)
    return P, -np.ones(n), G, h, y[None, :], np.zeros(1)
"""
        },
        {"test_constraints": 0},
    ),
    "b is computed from all support vectors": (
        {
            "hyperplane": """
def hyperplane(X, y, C, alpha):
    w = X.T @ (alpha * y)
    support = alpha > 1e-6 * C
    return w, float(np.mean(y[support] - X[support] @ w))
"""
        },
        {"test_hyperplane": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "program": """
def dual_program(X, y, C):
    n = len(y)
    P = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            P[i, j] = y[i] * y[j] * sum(a * b for a, b in zip(X[i], X[j]))
    G, h = np.zeros((2 * n, n)), np.zeros(2 * n)
    for i in range(n):
        G[2 * i, i], G[2 * i + 1, i], h[2 * i] = 1, -1, C
    return P, np.full(n, -1.0), G, h, -y.reshape(1, n), np.array([0.0])
""",
    "solve": """
def solve(P, q, G, h, A, b):
    from scipy.optimize import LinearConstraint, minimize

    result = minimize(
        lambda a: 0.5 * a @ P @ a + q @ a,
        np.zeros(len(q)),
        jac=lambda a: P @ a + q,
        hess=lambda a: P,
        method="trust-constr",
        constraints=[LinearConstraint(G, -np.inf, h), LinearConstraint(A, b, b)],
        options={"gtol": 1e-9, "xtol": 1e-12, "maxiter": 3000},
    )
    return result.x
""",
    "hyperplane": """
def hyperplane(X, y, C, alpha):
    w = sum(a * label * x for a, label, x in zip(alpha, y, X))
    bound_distances = np.minimum(alpha, C - alpha)
    i = int(np.argmax(bound_distances))
    return w, y[i] - X[i] @ w
""",
    "kkt": """
def kkt_violations(X, y, C, alpha, b):
    w = X.T @ (y * alpha)
    violations = []
    for x, label, a in zip(X, y, alpha):
        m = label * (x @ w + b)
        if a < 1e-4 * C:
            violations.append(max(0.0, 1 - m))
        elif a > C - 1e-4 * C:
            violations.append(max(0.0, m - 1))
        else:
            violations.append(abs(1 - m))
    return violations
""",
}
