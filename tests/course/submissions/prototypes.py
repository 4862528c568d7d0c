"""Typical mistakes with `prototypes`, what each costs, and another right solution."""

WRONG = {
    "the nearest on any side": (
        {
            "choose": """
def choose(X, y, i, k):
    others = np.flatnonzero(y != y[i])
    far = np.linalg.norm(X[others] - X[i], axis=1)
    return others[np.argsort(far)[:k]]
"""
        },
        {"test_choose": 0},
    ),
    "points join members of any class": (
        {
            "shift": """
def shift(X, y, exemplars, positives, W, b):
    claims = W @ X.T + b[:, None] > 0
    joined = positives.copy()
    for i in range(len(X)):
        claimants = np.flatnonzero(claims[:, i])
        if len(claimants):
            away = np.linalg.norm(X[exemplars[claimants]] - X[i], axis=1)
            joined[claimants[np.argmin(away)], i] = True
    stays = claims.any(axis=1)
    return exemplars[stays], joined[stays]
"""
        },
        {"test_shift": 0},
    ),
    "nobody claims and the nearest exemplar answers": (
        {
            "answer": """
def answer(x, X, y, exemplars, W, b, how, otherwise):
    claims = W @ x + b > 0
    if how == "count" and claims.any():
        return np.bincount(y[exemplars[claims]]).argmax()
    away = np.linalg.norm(X[exemplars] - x, axis=1)
    away[~claims] += 1000.0
    return y[exemplars[np.argmin(away)]]
"""
        },
        {"test_answer": 0},
    ),
    "the line points the wrong way": (
        {
            "member": """
def member(X, positives, negatives, C):
    Z = np.vstack([X[negatives], X[positives]])
    s = np.append(np.ones(len(negatives)), -np.ones(len(positives)))
    machine = SVC(C=C, kernel="linear").fit(Z, s)
    return machine.coef_[0], machine.intercept_[0]
"""
        },
        {"test_member": 0},
    ),
}
RIGHT = {
    "choose": """
def choose(X, y, i, k):
    others = sorted(
        (j for j in range(len(y)) if y[j] != y[i]), key=lambda j: np.linalg.norm(X[j] - X[i])
    )
    first = X[others[0]] - X[i]
    return [j for j in others if first @ (X[j] - X[i]) > 0][:k]
""",
    "member": """
def member(X, positives, negatives, C):
    from svmbook import DualSVC

    Z = np.vstack([X[positives], X[negatives]])
    s = np.append(np.ones(len(positives)), -np.ones(len(negatives)))
    machine = DualSVC(C=C).fit(Z, s)
    return machine.coef_[0], float(np.ravel(machine.intercept_)[0])
""",
    "shift": """
def shift(X, y, exemplars, positives, W, b):
    new, stays = positives.copy(), []
    for m in range(len(exemplars)):
        if any(W[m] @ x + b[m] > 0 for x in X):
            stays.append(m)
    for i, x in enumerate(X):
        best = None
        for m, e in enumerate(exemplars):
            if y[e] == y[i] and W[m] @ x + b[m] > 0:
                away = np.sum((X[e] - x) ** 2)
                if best is None or away < best[0]:
                    best = away, m
        if best is not None:
            new[best[1], i] = True
    return exemplars[stays], new[stays]
""",
    "answer": """
def answer(x, X, y, exemplars, W, b, how, otherwise):
    claimants = [e for e, w, c in zip(exemplars, W, b) if w @ x + c > 0]
    if not claimants:
        return otherwise
    if how == "nearest":
        return y[min(claimants, key=lambda e: np.linalg.norm(X[e] - x))]
    votes = {}
    for e in claimants:
        votes[y[e]] = votes.get(y[e], 0) + 1
    return min(votes, key=lambda c: (-votes[c], c))
""",
}
