"""Fisher's discriminant: the directions that part classes best, and where two Gaussians on one of them meet.

``discriminant`` is the learner; ``scatter`` reads the data; ``directions`` solves for the directions by a
factorisation, ``iterative`` without one; ``crossing`` places the threshold.
"""

from lineal.learners.fisher.crossing import Crossing, Gaussians
from lineal.learners.fisher.discriminant import FisherDiscriminant

__all__ = ["Crossing", "FisherDiscriminant", "Gaussians"]
