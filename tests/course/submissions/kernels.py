"""Typical mistakes with `kernels`, what each costs, and another right solution."""

CHOOSE = """
def choose(X, y, prices, widths, folds):
    pairs = [(C, gamma) for C in prices for gamma in widths]
    errors = [wrong_of(X, y, C, gamma, folds) for C, gamma in pairs]
    return pairs[int(np.argmin(np.round(errors, 9)))]


def wrong_of(X, y, C, gamma, folds):
    found = []
    for train, test in folds:
        machine = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma)).fit(X[train], y[train])
        found.append((machine.predict(X[test]) != y[test]).mean())
    return np.mean(found)

"""
WRONG = {
    "products in the place of minima": (
        {"intersection": "def intersection(X, Z):\n    return X @ Z.T"},
        {"test_intersection": 0},
    ),
    "all points are standardised before": (
        {
            "validated": """
def validated_error(X, y, C, gamma, folds):
    Z = StandardScaler().fit_transform(X)
    wrong = [
        1 - SVC(C=C, gamma=gamma).fit(Z[train], y[train]).score(Z[test], y[test])
        for train, test in folds
    ]
    return np.mean(wrong)
""",
            "choose": CHOOSE
            + """
def honest_error(X, y, prices, widths, outer, make_folds):
    return np.mean(
        [
            wrong_of(
                X,
                y,
                *choose(X[a], y[a], prices, widths, make_folds(X[a], y[a])),
                [(a, b)],
            )
            for a, b in outer
        ]
    )
""",
        },
        {"test_validated": 0},
    ),
    "the test part takes part in the choice": (
        {
            "choose": CHOOSE
            + """
def honest_error(X, y, prices, widths, outer, make_folds):
    return min(wrong_of(X, y, C, gamma, outer) for C in prices for gamma in widths)
"""
        },
        {"test_honest": 0},
    ),
    "one that is positive after all": (
        {
            "counterexample": """
def counterexample():
    return np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0])
"""
        },
        {"test_counterexample": 0},
    ),
}
RIGHT = {
    "intersection": """
def intersection(X, Z):
    return np.array([[sum(map(min, x, z)) for z in Z] for x in X])
""",
    "counterexample": """
def counterexample():
    return [[0.5, 0.0], [0.0, 0.5], [0.1, 0.1]], [1, 1, 1]
""",
    "validated": """
def validated_error(X, y, C, gamma, folds):
    wrong = []
    for train, test in folds:
        scaler = StandardScaler().fit(X[train])
        machine = SVC(C=C, gamma=gamma).fit(scaler.transform(X[train]), y[train])
        wrong.append(np.mean(machine.predict(scaler.transform(X[test])) != y[test]))
    return sum(wrong) / len(wrong)
""",
    "choose": CHOOSE
    + """
def honest_error(X, y, prices, widths, outer, make_folds):
    total = 0.0
    for train, test in outer:
        grid = {"svc__C": list(prices), "svc__gamma": list(widths)}
        folds = make_folds(X[train], y[train])
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)
        total += 1 - search.fit(X[train], y[train]).score(X[test], y[test])
    return total / len(outer)
""",
}
