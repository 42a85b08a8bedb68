"""The perceptron in its dual forms."""
