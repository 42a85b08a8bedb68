"""Learners in the spaces of kernels."""
