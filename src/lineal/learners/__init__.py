"""Learners: the user's world translated into a problem, and its solution into a model."""
