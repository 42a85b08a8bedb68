"""Slow, obvious twins of the native kernels: the formula as a loop."""
