"""From what comes to a stored model to rows of numbers."""
