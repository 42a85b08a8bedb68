"""Naive Bayes: one theory (``base``), five ways to say how likely a row is in a class."""
