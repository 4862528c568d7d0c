"""The dual of the support vector machine: five solvers and what proves them right."""
