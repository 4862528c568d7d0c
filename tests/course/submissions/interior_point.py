"""Typical wrong answers to the assignment `interior_point`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

REDUCED_STEP_SOURCE = """
def {name}(Q, y, C, alpha, u, v, r1, r2, r3, r4, solve):
    n = len(y)
    H = Q + np.diag(u / alpha {sign} v / (C - alpha))
    rho = r1 + r3 / alpha - r4 / (C - alpha)
    solutions = solve(H, np.column_stack([rho, y]))
    db = (y @ solutions[:, 0] - r2) / (y @ solutions[:, 1])
    da = solutions[:, 0] - db * solutions[:, 1]
    return da, db, (r3 - u * da) / alpha, (r4 + v * da) / (C - alpha)
"""
ITERATION_SOURCE = """
def interior_point(Q, y, C, solve):
    n = len(y)
    alpha, u, v, b = C / 2 * np.ones(n), np.ones(n), np.ones(n), 0.0
    for _ in range(100):
        mean_product = (np.sum(u * alpha) + np.sum(v * (C - alpha))) / (2 * n)
        r1, r2 = 1 - Q @ alpha - b * y + u - v, -y @ alpha
        if mean_product < {tolerance} * C and abs(r2) < 1e-9 and np.max(np.abs(r1)) < 1e-9:
            return alpha
        mu = 0.1 * mean_product
        r3, r4 = mu - u * alpha, mu - v * (C - alpha)
        da, db, du, dv = {step}(Q, y, C, alpha, u, v, r1, r2, r3, r4, solve)
        t = 1.0
        for values, changes in ((alpha, da), (C - alpha, -da), (u, du), (v, dv)):
            for x, d in zip(values, changes):
                if x + t * d < 0.01 * x:
                    t = -0.99 * x / d
        alpha, b, u, v = alpha + t * da, b + t * db, u + t * du, v + t * dv
    return alpha
"""
CORRECT_STEP_SOURCE = REDUCED_STEP_SOURCE.format(name="correct_step", sign="+")
MISTAKES = {
    "the sign of one term of D is wrong": (
        {
            "reduced": REDUCED_STEP_SOURCE.format(name="reduced_step", sign="-"),
            "iteration": CORRECT_STEP_SOURCE
            + ITERATION_SOURCE.format(step="correct_step", tolerance="1e-9"),
        },
        {"test_reduced": 0},
    ),
    "the reduced step solves the full system": (
        {
            "reduced": "reduced_step = full_step",
            "iteration": CORRECT_STEP_SOURCE
            + ITERATION_SOURCE.format(step="correct_step", tolerance="1e-9"),
        },
        {"test_reduced": 0},
    ),
    "the iteration stops too early": (
        {"iteration": ITERATION_SOURCE.format(step="reduced_step", tolerance="0.1")},
        {"test_iteration": 0},
    ),
    "two blocks of the matrix are swapped": (
        {
            "full": """
def full_step(Q, y, C, alpha, u, v, r1, r2, r3, r4, solve):
    n = len(y)
    M = np.zeros((3 * n + 1, 3 * n + 1))
    M[:n, :n], M[:n, n], M[n, :n] = Q, y, y
    M[:n, n + 1 : 2 * n + 1], M[:n, 2 * n + 1 :] = -np.eye(n), np.eye(n)
    M[n + 1 : 2 * n + 1, :n] = np.diag(alpha)
    M[n + 1 : 2 * n + 1, n + 1 : 2 * n + 1] = np.diag(u)
    M[2 * n + 1 :, :n], M[2 * n + 1 :, 2 * n + 1 :] = -np.diag(v), np.diag(C - alpha)
    step = solve(M, np.hstack([r1, r2, r3, r4]))
    return step[:n], step[n], step[n + 1 : 2 * n + 1], step[2 * n + 1 :]
"""
        },
        {"test_full": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "reduced": REDUCED_STEP_SOURCE.format(name="reduced_step", sign="+"),
    "iteration": ITERATION_SOURCE.format(step="reduced_step", tolerance="1e-9"),
}
