"""Learners that keep their examples: nearest neighbours."""
