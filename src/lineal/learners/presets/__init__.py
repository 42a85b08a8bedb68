"""Learners under scikit-learn's names and in its dialect.

Each preset is a loss and a penalty with other people's parameter names: ``C = 1 / strength``, and for
``Lasso``, ``ElasticNet``, ``QuantileRegressor``, ``SGDClassifier`` and ``SGDRegressor`` an ``alpha`` that
stands beside the *mean* loss. Changing the import is enough. Three things are Lineal's own everywhere:

- ``tol`` is the certified relative duality gap;
- the intercept is not penalised (scikit-learn's ``LinearSVC`` and ``LinearSVR`` do penalise theirs:
  ``penalize_intercept=True`` reproduces that);
- ``max_iter`` is a budget of passes over the data, without limit by default, because the certificate
  says when to stop.

Options of scikit-learn that only steer its own solvers (``dual``, ``intercept_scaling``, ``selection``,
``precompute``, ``copy_X``, ``verbose``) are accepted and change nothing.
"""
