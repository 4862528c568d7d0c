"""Ensembles built one hypothesis at a time: adaptive boosting, and linear programs by columns."""
