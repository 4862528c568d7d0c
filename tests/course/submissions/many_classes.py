"""Typical wrong answers to the assignment `many_classes`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "the classifier of a pair is trained on all points": (
        {
            "pairs": """
def one_vs_one(X, y, X_new, make_classifier):
    classes = np.unique(y)
    votes = np.zeros((len(X_new), len(classes)), dtype=int)
    for a, b in itertools.combinations(range(len(classes)), 2):
        labels = np.where(y == classes[a], classes[a], classes[b])
        predicted = make_classifier().fit(X, labels).predict(X_new)
        votes[:, a] += predicted == classes[a]
        votes[:, b] += predicted == classes[b]
    return classes[votes.argmax(axis=1)]
"""
        },
        {"test_pairs": 0},
    ),
    "rows and columns are exchanged": (
        {
            "confusion": """
def confusion_matrix(y_true, y_pred):
    classes = np.unique(np.append(y_true, y_pred))
    return np.array([[np.sum((y_pred == a) & (y_true == b)) for b in classes] for a in classes])
"""
        },
        {"test_confusion": 0},
    ),
    "each class with an error is listed": (
        {
            "never_predicted": """
def never_predicted(X, y, make_classifier):
    selected = []
    for c in np.unique(y):
        signs = np.where(y == c, 1, -1)
        if (make_classifier().fit(X, signs).predict(X) != signs).any():
            selected.append(int(c))
    return selected
"""
        },
        {"test_never_predicted": 0},
    ),
    "only one direction of confusion is counted": (
        {
            "most_confused": """
def most_confused(matrix):
    errors = matrix - np.diag(np.diag(matrix))
    a, b = np.unravel_index(errors.argmax(), errors.shape)
    return int(min(a, b)), int(max(a, b))
"""
        },
        {"test_most_confused": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "pairs": """
def one_vs_one(X, y, X_new, make_classifier):
    classes = sorted(set(int(c) for c in y))
    votes = [[] for _ in X_new]
    for a in classes:
        for b in classes:
            if a < b:
                in_pair = np.logical_or(y == a, y == b)
                is_b = np.where(y[in_pair] == a, 0, 1)
                model = make_classifier().fit(X[in_pair], is_b)
                for point_votes, predicts_b in zip(votes, model.predict(X_new)):
                    point_votes.append(b if predicts_b else a)
    return np.array(
        [min(classes, key=lambda c: (-point_votes.count(c), c)) for point_votes in votes]
    )
""",
    "confusion": """
def confusion_matrix(y_true, y_pred):
    classes = sorted(set(y_true) | set(y_pred))
    return [[int(np.sum(y_pred[y_true == a] == b)) for b in classes] for a in classes]
""",
    "never_predicted": """
def never_predicted(X, y, make_classifier):
    classes = np.unique(y)
    never = [np.all(make_classifier().fit(X, 2 * (y == c) - 1).predict(X) < 0) for c in classes]
    return classes[never]
""",
    "most_confused": """
def most_confused(matrix):
    most_errors = (-1, None)
    for b in range(len(matrix)):
        for a in range(b):
            most_errors = max(most_errors, (int(matrix[a][b] + matrix[b][a]), (a, b)))
    return most_errors[1]
""",
}
