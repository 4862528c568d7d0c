"""Typical wrong answers to the assignment `logistic`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "only full Newton steps": (
        {
            "fit": """
def fit(X, y, C):
    v = np.zeros(X.shape[1] + 1)
    for _ in range(100):
        g = np.append(*gradient(v[:-1], v[-1], X, y, C))
        if np.abs(g).max() < 1e-9:
            break
        v = v - np.linalg.solve(hessian(v[:-1], v[-1], X, y, C), g)
    return v[:-1], v[-1]
"""
        },
        {"test_fit": 0},
    ),
    "exponentials overflow": (
        {
            "objective": """
def objective(w, b, X, y, C):
    m = y * (X @ w + b)
    return 0.5 * w @ w + C * np.sum(np.log(1 + np.exp(-m)))


def gradient(w, b, X, y, C):
    m = y * (X @ w + b)
    beta = C * y / (1 + np.exp(m))
    return w - X.T @ beta, -beta.sum()
"""
        },
        {"test_objective": 0},
    ),
    "the intercept is penalised in the Hessian": (
        {
            "hessian": """
def hessian(w, b, X, y, C):
    p = 1 / (1 + np.exp(-(X @ w + b)))
    Z = np.column_stack([X, np.ones(len(y))])
    return Z.T @ ((C * p * (1 - p))[:, None] * Z) + np.eye(len(w) + 1)
""",
        },
        {"test_hessian": 0},
    ),
    "gradient descent stops too early": (
        {
            "fit": """
def fit(X, y, C):
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(100):
        grad_w, grad_b = gradient(w, b, X, y, C)
        w, b = w - 0.01 * grad_w, b - 0.01 * grad_b
    return w, b
"""
        },
        {"test_fit": 0},
    ),
    "the threshold is always 0.5 and lambda_max ignores the intercept": (
        {
            "decide": "def decide(p, cost_fn, cost_fp):\n    return np.where(p > 0.5, 1, -1)",
            "lambda_max": "def lambda_max(X, y):\n    return np.abs(X.T @ (y / 2)).max()",
        },
        {"test_decide": 0, "test_lambda_max": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "objective": """
def sigmoid(t):
    exp_neg_abs = np.exp(-np.abs(t))
    return np.where(t >= 0, 1, exp_neg_abs) / (1 + exp_neg_abs)


def objective(w, b, X, y, C):
    t = -y * (X @ w + b)
    return 0.5 * np.dot(w, w) + C * np.sum(np.maximum(t, 0) + np.log1p(np.exp(-np.abs(t))))


def gradient(w, b, X, y, C):
    loss_derivatives = -C * y * sigmoid(-y * (X @ w + b))
    return w + loss_derivatives @ X, np.sum(loss_derivatives)
""",
    "hessian": """
def hessian(w, b, X, y, C):
    d = X.shape[1]
    weights = C * sigmoid(X @ w + b) * sigmoid(-X @ w - b)
    H = np.empty((d + 1, d + 1))
    H[:d, :d] = np.eye(d) + (X.T * weights) @ X
    H[:d, d] = H[d, :d] = X.T @ weights
    H[d, d] = weights.sum()
    return H
""",
    "fit": """
def fit(X, y, C):
    from scipy.optimize import minimize

    def arguments(v):
        return v[:-1], v[-1], X, y, C

    result = minimize(
        lambda v: objective(*arguments(v)),
        np.zeros(X.shape[1] + 1),
        jac=lambda v: np.append(*gradient(*arguments(v))),
        hess=lambda v: hessian(*arguments(v)),
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    return result.x[:-1], result.x[-1]
""",
    "lambda_max": """
def lambda_max(X, y):
    centred = X - X.mean(axis=0)
    return max(abs(float(np.sum(column[y > 0]))) for column in centred.T)
""",
    "decide": """
def decide(p, cost_fn, cost_fp):
    threshold = cost_fp / (cost_fp + cost_fn)
    return np.array([1.0 if probability >= threshold else -1.0 for probability in p])
""",
}
