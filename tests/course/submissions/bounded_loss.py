"""Typical wrong answers to the assignment `bounded_loss`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

IRWLS_STEP_SOURCE = """
def irwls_step(X, y, w, b, C, s, k):
    f = X @ w + b
    slack = np.clip(1 - y * f, 1e-6, None)
    a = C * loss_derivative(slack, s, k) / slack
    a[y * f >= 1] = 0
    sqrt_a = np.sqrt(a)[:, None]
    A = np.vstack([sqrt_a * np.column_stack([X, np.ones(len(y))]), np.eye(len(w), len(w) + 1)])
    target = np.append(sqrt_a[:, 0] * y, np.zeros(len(w)))
    v = np.linalg.lstsq(A, target, rcond=None)[0]
    return v[:-1], v[-1]


"""
IRWLS_SOURCE = """
def irwls(X, y, w, b, C, s, k):
    old = np.append(w, b)
    for _ in range({max_iter}):
        w, b = {step}(X, y, old[:-1], old[-1], C, s, k)
        new = np.append(w, b)
        if np.max(np.abs(new - old)) <= 1e-8:
            break
        old = new
    return w, b
"""
MISTAKES = {
    "the intercept is penalised": (
        {
            "irwls": IRWLS_STEP_SOURCE.replace("irwls_step", "correct_step")
            + IRWLS_SOURCE.format(max_iter=500, step="correct_step")
            + IRWLS_STEP_SOURCE.replace("np.eye(len(w), len(w) + 1)", "np.eye(len(w) + 1)").replace(
                "np.zeros(len(w))", "np.zeros(len(w) + 1)"
            )
        },
        {"test_step": 0},
    ),
    "a single iteration": (
        {"irwls": IRWLS_STEP_SOURCE + IRWLS_SOURCE.format(max_iter=1, step="irwls_step")},
        {"test_irwls": 0},
    ),
    "the formula for slacks below 1 is used for all slacks": (
        {
            "loss": """
def loss(xi, s, k):
    kappa = k ** (1 / s)
    return 0.5 * ((xi + kappa) / (1 + kappa)) ** s


def loss_derivative(xi, s, k):
    kappa = k ** (1 / s)
    return 0.5 * s / (1 + kappa) * ((xi + kappa) / (1 + kappa)) ** (s - 1)


def correct_derivative(xi, s, k):
    kappa = k ** (1 / s)
    r = (xi + kappa) / (1 + kappa)
    return 0.5 * s / (1 + kappa) * np.where(xi < 1, r ** (s - 1), r ** (-s - 1))
""",
            "irwls": (
                IRWLS_STEP_SOURCE + IRWLS_SOURCE.format(max_iter=500, step="irwls_step")
            ).replace("loss_derivative", "correct_derivative"),
        },
        {"test_loss": 0},
    ),
    "only one direction of the threshold is tried": (
        {
            "fewest_errors": """
def fewest_errors(x, y):
    thresholds = np.append(np.unique(x), np.inf)
    return min(int(np.sum(np.where(x >= t, 1, -1) != y)) for t in thresholds)
"""
        },
        {"test_fewest_errors": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "loss": """
def loss(xi, s, k):
    shape, xi = np.shape(xi), np.ravel(xi)
    kappa, values = k ** (1 / s), []
    for t in xi:
        power = ((t + kappa) / (1 + kappa)) ** s
        values.append(power / 2 if t < 1 else 1 - 1 / (2 * power))
    return np.reshape(values, shape)


def loss_derivative(xi, s, k):
    kappa = k ** (1 / s)
    log_ratio = np.log((np.asarray(xi) + kappa) / (1 + kappa))
    return s / (2 * (1 + kappa)) * np.exp(-s * np.abs(log_ratio) - log_ratio)
""",
    "irwls": IRWLS_STEP_SOURCE + IRWLS_SOURCE.format(max_iter=500, step="irwls_step"),
    "fewest_errors": """
def fewest_errors(x, y):
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    # A threshold predicts -1 below it and +1 above it.
    errors_below = np.concatenate([[0], np.cumsum(y > 0)])
    errors_above = np.concatenate([np.cumsum((y < 0)[::-1])[::-1], [0]])
    is_threshold = np.concatenate([[True], x[1:] > x[:-1], [True]])
    errors = (errors_below + errors_above)[is_threshold]
    return int(min(errors.min(), len(y) - errors.max()))
""",
}
