"""Typical wrong answers to the assignment `prototypes`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "the nearest negatives on any side are chosen": (
        {
            "negatives": """
def choose_negatives(X, y, i, k):
    others = np.flatnonzero(y != y[i])
    distances = np.linalg.norm(X[others] - X[i], axis=1)
    return others[np.argsort(distances)[:k]]
"""
        },
        {"test_negatives": 0},
    ),
    "positive updates ignore the class of the exemplar": (
        {
            "update": """
def update(X, y, exemplars, positives, W, b):
    covers = W @ X.T + b[:, None] > 0
    updated = positives.copy()
    for i in range(len(X)):
        covering = np.flatnonzero(covers[:, i])
        if len(covering):
            distances = np.linalg.norm(X[exemplars[covering]] - X[i], axis=1)
            updated[covering[np.argmin(distances)], i] = True
    kept = covers.any(axis=1)
    return exemplars[kept], updated[kept]
"""
        },
        {"test_update": 0},
    ),
    "the nearest exemplar classifies a point that no member covers": (
        {
            "predict": """
def predict(x, X, y, exemplars, W, b, vote, default):
    covers = W @ x + b > 0
    if vote == "majority" and covers.any():
        return np.bincount(y[exemplars[covers]]).argmax()
    distances = np.linalg.norm(X[exemplars] - x, axis=1)
    distances[~covers] += 1000.0
    return y[exemplars[np.argmin(distances)]]
"""
        },
        {"test_predict": 0},
    ),
    "the sign of the hyperplane is wrong": (
        {
            "member": """
def train_member(X, positives, negatives, C):
    points = np.vstack([X[negatives], X[positives]])
    signs = np.append(np.ones(len(negatives)), -np.ones(len(positives)))
    model = SVC(C=C, kernel="linear").fit(points, signs)
    return model.coef_[0], model.intercept_[0]
"""
        },
        {"test_member": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "negatives": """
def choose_negatives(X, y, i, k):
    others = sorted(
        (j for j in range(len(y)) if y[j] != y[i]), key=lambda j: np.linalg.norm(X[j] - X[i])
    )
    direction = X[others[0]] - X[i]
    return [j for j in others if direction @ (X[j] - X[i]) > 0][:k]
""",
    "member": """
def train_member(X, positives, negatives, C):
    from svmbook import DualSVC

    points = np.vstack([X[positives], X[negatives]])
    signs = np.append(np.ones(len(positives)), -np.ones(len(negatives)))
    model = DualSVC(C=C).fit(points, signs)
    return model.coef_[0], float(np.ravel(model.intercept_)[0])
""",
    "update": """
def update(X, y, exemplars, positives, W, b):
    updated, kept = positives.copy(), []
    for m in range(len(exemplars)):
        if any(W[m] @ x + b[m] > 0 for x in X):
            kept.append(m)
    for i, x in enumerate(X):
        nearest = None
        for m, e in enumerate(exemplars):
            if y[e] == y[i] and W[m] @ x + b[m] > 0:
                sq_dist = np.sum((X[e] - x) ** 2)
                if nearest is None or sq_dist < nearest[0]:
                    nearest = sq_dist, m
        if nearest is not None:
            updated[nearest[1], i] = True
    return exemplars[kept], updated[kept]
""",
    "predict": """
def predict(x, X, y, exemplars, W, b, vote, default):
    covering = [e for e, w, intercept in zip(exemplars, W, b) if w @ x + intercept > 0]
    if not covering:
        return default
    if vote == "nearest":
        return y[min(covering, key=lambda e: np.linalg.norm(X[e] - x))]
    votes = {}
    for e in covering:
        votes[y[e]] = votes.get(y[e], 0) + 1
    return min(votes, key=lambda c: (-votes[c], c))
""",
}
