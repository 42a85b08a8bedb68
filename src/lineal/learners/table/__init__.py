"""Learners of tables: columns of any kind in, labels or numbers out."""
