"""Several models side by side, with the test that suits the situation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.fits import Table
from lineal.evaluation.heldout import TESTS
from lineal.evaluation.inputs import checked_confidence, checked_count, generator
from lineal.evaluation.on_rows import compare_on_rows
from lineal.evaluation.situation import Options


def compare(
    models: Mapping[str, Any],
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    metric: Any = None,
    refit: bool | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_test: ArrayLike | None = None,
    weights: str = "counts",
    confidence: float = 0.95,
    test: str = "auto",
    n_resamples: int = 5000,
    task: str | None = None,
    random_state: Any = 0,
    n_threads: int = 1,
    progress: bool = False,
) -> ModelComparison:
    """Compares models on the same rows: scores with intervals, paired tests, a verdict for every pair.

    Three situations, three kinds of test:

    - **A test set** (``X_test``, ``y_test``): McNemar's test for accuracy, DeLong's for the area under the
      ROC curve, the paired bootstrap for the rest, a permutation test below 100 rows.
    - **Cross-validation** (no test set): the corrected resampled t-test on the scores of the folds, which are
      the same for all models.
    - **Several data sets** (X a dict of name to ``(X, y)`` or ``(X, y, X_test, y_test)``): Friedman's and
      Nemenyi's tests of ranks; Wilcoxon's for two models.

    Several pairs are corrected by Holm's method (Nemenyi's test is, in itself).

    Parameters
    ----------
    models : dict of name to model
        At least two, of any library, with ``fit`` and ``predict``. They are cloned before they are fitted.
    X, y : training data
        Whatever the models take: matrices, tables, texts. Not needed for models that are fitted.
    X_test, y_test : optional
        Held-out rows.
    cv : int, splitter or list of (train, test) rows, optional
        10 folds if not given: shuffled, stratified by label, whole groups in one fold.
    groups : (n,) labels, optional
        Rows of one group stay together in the folds. With a test set and fitted models they are groups of its
        rows, and intervals and tests are by whole groups.
    metric : str or function, optional
        Accuracy or R² if not given; a name in ``lineal.evaluation.METRICS``, or a function of
        (y_true, y_pred) whose larger values are better.
    refit : bool, optional
        With a test set: True fits every model to X, y; False none. Not given: those that
        ``sklearn.utils.validation.check_is_fitted`` calls unfitted.
    sample_weight, sample_weight_test : numbers >= 0, optional
        Of the rows of X (passed on to ``fit``) and of X_test.
    weights : "counts" or "importance"
        What a weight means, as for ``evaluate``.
    confidence : float
        Of the intervals; verdicts are at the level 1 - confidence.
    test : "auto", "mcnemar", "delong", "bootstrap" or "permutation"
        Of the pairs on a test set.
    n_resamples : int
        Of bootstrap and permutation tests.
    task : "classification" or "regression", optional
        What the models say they are if not given.
    random_state : seed
        Of folds and resamples; models keep their own.
    n_threads : int
        How many models are fitted side by side. Learners of this library use all cores by themselves.
    progress : bool
        Show a bar on a terminal.

    Returns
    -------
    ModelComparison

    Notes
    -----
    Ctrl-C ends the comparison with the folds, data sets or models that are done, ``is_complete`` being False;
    with fewer than two of them, and at the second Ctrl-C, ``KeyboardInterrupt`` is raised.

    Examples
    --------
    >>> import lineal
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"logistic": lineal.LogisticRegression(), "ridge": lineal.RidgeClassifier()}
    >>> result = lineal.compare(models, X, y)
    >>> print(result.pair("logistic", "ridge"))
    logistic is better than ridge in 10 folds: accuracy 0.9667 against 0.8333, p = 0.013, difference \
0.0353 .. 0.2313.
    """
    _check_models(models)
    options = Options(
        checked_confidence(confidence), test, checked_count("n_resamples", n_resamples, 10), weights, task,
        generator(random_state), checked_count("n_threads", n_threads), progress, metric,
    )  # fmt: skip
    if test not in TESTS:
        raise ParameterError(f"test must be one of {', '.join(TESTS)}, got {test!r}.")
    if (X_test is None) != (y_test is None):
        raise ParameterError("a test set needs both X_test and y_test, got one of them.")
    held_out_only = {"refit": refit, "sample_weight_test": sample_weight_test}
    if isinstance(X, Mapping):
        own = {"y": y, "X_test": X_test, "sample_weight": sample_weight, "groups": groups, **held_out_only}
        _refuse(own, "a dict of data sets, which brings (X, y) or (X, y, X_test, y_test) for each")
        _refuse({"test": None if test == "auto" else test}, "several data sets, which have tests of ranks")
        from lineal.evaluation.over_sets import compare_over_sets

        return compare_over_sets(models, X, cv, options)
    if X_test is not None:
        _refuse({"cv": cv}, "a test set, which needs no folds")
        if X is not None:
            _refuse({"groups": groups}, "a test set and rows to learn from, which need no folds")
        else:
            _refuse({"y": y, "sample_weight": sample_weight}, "fitted models alone: pass X too")
        train = None if X is None else Table.of(X, y, sample_weight)
        held_out = Table.of(X_test, y_test, sample_weight_test, groups, name="X_test")
        if groups is not None and test not in ("auto", "permutation"):
            raise ParameterError(
                f"test={test!r} takes rows as independent, and groups= are given. Use 'auto'."
            )
        return compare_on_rows(models, train, held_out, refit, options)
    if X is None:
        raise ParameterError("compare needs rows: X and y for folds, X_test and y_test for fitted models.")
    if refit is False:
        raise ParameterError("refit=False needs held-out rows: pass X_test and y_test.")
    _refuse({"sample_weight_test": sample_weight_test}, "folds: their test rows have those of sample_weight")
    _refuse({"test": None if test == "auto" else test}, "folds, which have the corrected resampled t-test")
    from lineal.evaluation.in_folds import compare_in_folds

    return compare_in_folds(models, Table.of(X, y, sample_weight, groups), cv, options)


def _refuse(given: dict[str, Any], where: str) -> None:
    """Says no to what would not be looked at."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"{name}= has no meaning with {where}. Leave it out.")


def _check_models(models: Any) -> None:
    if not isinstance(models, Mapping):
        raise ParameterError(f"models must be a dict of name to model, got {type(models).__name__}.")
    if len(models) < 2:
        raise ParameterError(f"compare needs at least two models, got {len(models)}. Use evaluate for one.")
    for name, model in models.items():
        if not isinstance(name, str):
            raise ParameterError(f"names of models must be text, got {name!r}.")
        if not hasattr(model, "predict"):
            raise ParameterError(f"model {name!r} ({type(model).__name__}) has no predict method.")
