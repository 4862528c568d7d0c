"""Typical wrong answers to the assignment `project`, and an alternative solution.

For each wrong answer, the points that its tests receive are listed.
"""

MISTAKES = {
    "the class is one of the features": (
        {
            "data": """
def load_data():
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True).frame
    return wine.to_numpy(), wine["target"].to_numpy()
"""
        },
        {"test_data": 0},
    ),
    "new rows are standardised with their own mean and standard deviation": (
        {
            "classifiers": """
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def baseline(X, y, X_new):
    return LogisticRegression().fit(standardised(X), y).predict(standardised(X_new))


def candidate(X, y, X_new):
    return SVC().fit(standardised(X), y).predict(standardised(X_new))
"""
        },
        {"test_classifiers": 0},
    ),
    "one classifier is trained on the whole table": (
        {
            "classifiers": """
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC

MODEL = SVC().fit(X, y)


def baseline(X, y, X_new):
    return NearestCentroid().fit(X, y).predict(X_new)


def candidate(X, y, X_new):
    return MODEL.predict(X_new)
"""
        },
        {"test_classifiers": 0},
    ),
    "each method has its own splits": (
        {
            "errors": """
def errors(methods, X, y, seeds):
    error_rates = np.zeros((len(seeds), len(methods)))
    for k, method in enumerate(methods):
        for row, seed in enumerate(seeds):
            X_train, X_test, y_train, y_test = train_test_split(
                X, y, test_size=1 / 3, stratify=y, random_state=seed + 1000 * k
            )
            error_rates[row, k] = np.mean(method(X_train, y_train, X_test) != y_test)
    return error_rates
"""
        },
        {"test_errors": 0},
    ),
    "splits are treated as independent": (
        {
            "interval": """
def confidence_interval(differences, q):
    half_width = student_t.ppf(0.975, len(differences) - 1)
    half_width *= np.std(differences, ddof=1) / np.sqrt(len(differences))
    return np.mean(differences) - half_width, np.mean(differences) + half_width
"""
        },
        {"test_interval": 0},
    ),
}
ALTERNATIVE_SOLUTION = {
    "data": """
from svmbook.datasets import striated


def load_data():
    X, y = striated(random_state=3)[:2]
    return X, np.where(y > 0, 7, 2)
""",
    "classifiers": """
def train(X, y):  # the tests may use this name too
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(5).fit(X, y)


def baseline(X, y, X_new):
    classes = np.unique(y)
    centres = np.array([X[y == label].mean(axis=0) for label in classes])
    sq_dist = ((X_new[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return classes[sq_dist.argmin(axis=1)]


def candidate(X, y, X_new):
    return train(X, y).predict(X_new)
""",
    "errors": """
def errors(methods, X, y, seeds):
    return np.array([[error(method, X, y, seed) for method in methods] for seed in seeds])


def error(method, X, y, seed):
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed
    )
    return (method(X[train], y[train], X[test]) != y[test]).sum() / len(test)
""",
    "interval": """
def confidence_interval(differences, q):
    k, mean = len(differences), np.mean(differences)
    variance = sum((d - mean) ** 2 for d in differences) / (k - 1)
    low, high = student_t.interval(0.95, k - 1, mean, np.sqrt(variance * (1 / k + q)))
    return [low, high]
""",
}
