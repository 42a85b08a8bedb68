"""Learners as text: ``LinearClassifier(loss=Hinge(), penalty=L2(strength=0.5))``.

The text is what a person types, what a command line takes and what a model file keeps. It is Python's
notation for calls and literals and nothing else: reading it runs no code but the constructors of public
classes, which store their arguments. ``build(spell(e))`` is a learner with the parameters of ``e``.

Nothing here is imported from the learners themselves; a class is looked up when its name is met.
"""

from lineal.learners.spelling.aliases import Alias, aliases, learner_named
from lineal.learners.spelling.options import options, set_option
from lineal.learners.spelling.reading import build
from lineal.learners.spelling.writing import spell

__all__ = ["Alias", "aliases", "build", "learner_named", "options", "set_option", "spell"]
