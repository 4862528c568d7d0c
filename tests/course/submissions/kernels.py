"""Typical wrong answers to the assignment `kernels`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

CHOOSE_SOURCE = """
def choose(X, y, C_values, gammas, folds):
    pairs = [(C, gamma) for C in C_values for gamma in gammas]
    errors = [mean_error(X, y, C, gamma, folds) for C, gamma in pairs]
    return pairs[int(np.argmin(np.round(errors, 9)))]


def mean_error(X, y, C, gamma, folds):
    errors = []
    for train, test in folds:
        model = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma)).fit(X[train], y[train])
        errors.append((model.predict(X[test]) != y[test]).mean())
    return np.mean(errors)

"""
MISTAKES = {
    "products are summed instead of minima": (
        {"intersection": "def intersection(X, Z):\n    return X @ Z.T"},
        {"test_intersection": 0},
    ),
    "all points are standardised before the split": (
        {
            "cv": """
def cv_error(X, y, C, gamma, folds):
    X_scaled = StandardScaler().fit_transform(X)
    errors = [
        1 - SVC(C=C, gamma=gamma).fit(X_scaled[train], y[train]).score(X_scaled[test], y[test])
        for train, test in folds
    ]
    return np.mean(errors)
""",
            "choose": CHOOSE_SOURCE
            + """
def nested_cv_error(X, y, C_values, gammas, outer, make_folds):
    return np.mean(
        [
            mean_error(
                X,
                y,
                *choose(X[train], y[train], C_values, gammas, make_folds(X[train], y[train])),
                [(train, test)],
            )
            for train, test in outer
        ]
    )
""",
        },
        {"test_cv": 0},
    ),
    "the test part is used for model selection": (
        {
            "choose": CHOOSE_SOURCE
            + """
def nested_cv_error(X, y, C_values, gammas, outer, make_folds):
    return min(mean_error(X, y, C, gamma, outer) for C in C_values for gamma in gammas)
"""
        },
        {"test_nested": 0},
    ),
    "the counterexample has a positive semi-definite kernel matrix": (
        {
            "counterexample": """
def counterexample():
    return np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0])
"""
        },
        {"test_counterexample": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "intersection": """
def intersection(X, Z):
    return np.array([[sum(map(min, x, z)) for z in Z] for x in X])
""",
    "counterexample": """
def counterexample():
    return [[0.5, 0.0], [0.0, 0.5], [0.1, 0.1]], [1, 1, 1]
""",
    "cv": """
def cv_error(X, y, C, gamma, folds):
    errors = []
    for train, test in folds:
        scaler = StandardScaler().fit(X[train])
        model = SVC(C=C, gamma=gamma).fit(scaler.transform(X[train]), y[train])
        errors.append(np.mean(model.predict(scaler.transform(X[test])) != y[test]))
    return sum(errors) / len(errors)
""",
    "choose": CHOOSE_SOURCE
    + """
def nested_cv_error(X, y, C_values, gammas, outer, make_folds):
    total_error = 0.0
    for train, test in outer:
        param_grid = {"svc__C": list(C_values), "svc__gamma": list(gammas)}
        folds = make_folds(X[train], y[train])
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), param_grid, cv=folds)
        total_error += 1 - search.fit(X[train], y[train]).score(X[test], y[test])
    return total_error / len(outer)
""",
}
