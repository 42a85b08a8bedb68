"""Perceptrons, what they guarantee, and the proof that data can or cannot be separated."""
