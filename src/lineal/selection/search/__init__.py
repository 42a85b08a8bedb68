"""Choosing parameters: spaces, trials on folds, budgets, and an honest score."""
