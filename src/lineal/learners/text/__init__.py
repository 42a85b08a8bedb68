"""Learners that take texts."""
