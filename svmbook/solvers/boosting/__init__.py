"""Boosting: AdaBoost, LPBoost by column generation, and decision stumps as base learners."""
