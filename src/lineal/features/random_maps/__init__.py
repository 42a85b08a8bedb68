"""Kernels for many rows: explicit features whose dot products are kernel values, or nearly so."""
