"""Learners over a joint map phi(x, y): by an objective, and example by example."""
