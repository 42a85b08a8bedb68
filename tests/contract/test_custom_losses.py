"""A custom loss that is not what it says is refused before the fit, in a sentence that says where."""

import ctypes
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import LowLevelCallable
from sklearn.base import clone

from custom_losses import CarelessLog, CustomLog, Poisson
from lineal import LinearClassifier, LinearRegressor, check_gradient, verify
from lineal.errors import CombinationError, ParameterError
from lineal.objective import L1, CompiledLoss, CustomLoss
from strategies import sample

X, LABELS = sample("binary", 3)
_, NUMBERS = sample("regression", 3)


def made(value, derivative, **attributes):
    """A custom loss of two functions."""
    methods = {
        "value": lambda self, y, z: value(y, z),
        "derivative": lambda self, y, z: derivative(y, z),
    }
    return type("Mine", (CustomLoss,), {**methods, **attributes})()


def squared(y, z):
    return (z - y) ** 2 / 2


def residual(y, z):
    return z - y


def scalar(function):
    return lambda y, z: function(y, z)


def in_place(y, z):
    z -= y
    return z


WRONG = {
    "the derivative of another loss": (
        made(squared, lambda y, z: 1.01 * (z - y)),
        r"Mine\(\)\.derivative is not the slope of its value at y = \S+, z = \S+: expected \S+ .* got",
    ),
    "a sign": (made(squared, lambda y, z: y - z), "is not the slope of its value"),
    "a constant that is missing": (made(squared, lambda y, z: z - y + 1e-3), "is not the slope"),
    "not convex": (
        made(lambda y, z: 1 - np.exp(-((z - y) ** 2)), lambda y, z: 2 * (z - y) * np.exp(-((z - y) ** 2))),
        r"Mine\(\) is not convex: at y = \S+, z = \S+ its derivative has fallen from",
    ),
    "concave": (made(lambda y, z: -squared(y, z), lambda y, z: y - z), "is not convex"),
    "NaN": (
        made(lambda y, z: np.where(z < 5, squared(y, z), np.nan), residual),
        r"value must be a number everywhere, got NaN at y = \S+, z = 5",
    ),
    "infinite at 0": (
        made(lambda y, z: np.where(np.abs(z) < 1e-9, np.inf, squared(y, z)), residual),
        "must be finite at score 0",
    ),
    "a sum": (made(lambda y, z: squared(y, z).sum(), residual), r"of the shape of its arguments, .* got"),
    "a number": (made(lambda y, z: 1.0, residual), "must return a float64 array .* got float"),
    "whole numbers": (made(squared, lambda y, z: np.sign(z).astype(int)), "must return a float64 array"),
    "single precision": (made(lambda y, z: squared(y, z).astype(np.float32), residual), "got float32"),
    "a mean inside": (
        made(lambda y, z: squared(y, z) + z.mean(axis=-1, keepdims=True), residual),
        "must work entry by entry",
    ),
    "raising": (
        made(lambda y, z: {}["missing"], residual),
        r"Mine\(\)\.value must take NumPy arrays .* raised KeyError",
    ),
    "one number at a time": (
        made(lambda y, z: math.exp(z) - y * z, lambda y, z: math.exp(z) - y),
        "wrap a function of two numbers with np.vectorize",
    ),
    "an if of one number": (made(lambda y, z: z if z > 0 else -z, residual), "np.vectorize"),
    "writing into z": (made(squared, in_place), "must leave y and z as they are"),
    "a kink that is not stated": (
        made(lambda y, z: np.abs(z - y), lambda y, z: np.sign(z - y)),
        r"Mine\(\) has a kink: at y = \S+, z = \S+ its derivative jumps from -1 to \S+ Say so with has_kinks",
    ),
    "unbounded below": (
        made(lambda y, z: -z + 0 * y, lambda y, z: -np.ones_like(z)),
        "must be bounded below",
    ),
    "too small a curvature": (made(squared, residual, curvature=0.5), "curvature bounds how fast"),
    "a curvature of 0": (made(squared, residual, curvature=0.0), "must be a positive number or None"),
    "kinks and a curvature": (
        made(squared, residual, curvature=1.0, has_kinks=True),
        "leave curvature = None",
    ),
    "a negative second derivative": (
        made(squared, residual, second_derivative=lambda self, y, z: -np.ones_like(z)),
        "second_derivative must not be negative",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_loss_is_refused(case):
    """Each flaw has its own sentence, with target and score where there is a place to point at."""
    loss, sentence = WRONG[case]
    with pytest.raises(ParameterError, match=sentence):
        LinearRegressor(loss=loss).fit(X, NUMBERS)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_a_right_loss_is_taken_in_any_units(scale, shift):
    """The check knows no units: targets of any size, and losses of any size, pass."""
    y = scale * NUMBERS + shift
    for factor in (1e-6, 1e6):
        made(lambda y, z, f=factor: f * squared(y, z), lambda y, z, f=factor: f * (z - y)).check(y)
    kinked = made(lambda y, z: np.abs(z - y), lambda y, z: np.sign(z - y), has_kinks=True)
    kinked.check(y)


def test_flaws_in_the_units_of_the_targets_are_found():
    """A loss that turns over, or has a kink, thousands of units from its target is refused there too."""
    y = 1e4 * NUMBERS

    def tukey(y, z):
        r = np.minimum(((z - y) / 5e3) ** 2, 1.0)
        return 1 - (1 - r) ** 3

    def slope(y, z):
        r = np.minimum(((z - y) / 5e3) ** 2, 1.0)
        return 6 * (z - y) / 5e3**2 * (1 - r) ** 2

    with pytest.raises(ParameterError, match="is not convex"):
        made(tukey, slope).check(y)
    insensitive = made(
        lambda y, z: np.maximum(0.0, np.abs(z - y) - 1234.5),
        lambda y, z: np.where(np.abs(z - y) > 1234.5, np.sign(z - y), 0.0),
    )
    with pytest.raises(ParameterError, match="has a kink"):
        insensitive.check(y)


def test_a_function_of_two_numbers_can_be_wrapped():
    """np.vectorize is the way that the refusal names."""
    loss = made(
        np.vectorize(lambda y, z: math.exp(z) - y * z if z < 700 else math.inf),
        np.vectorize(lambda y, z: math.exp(z) - y if z < 700 else math.inf),
    )
    counts = np.abs(NUMBERS).round()
    model = LinearRegressor(loss=loss, tol=1e-6).fit(X, counts)
    own = LinearRegressor(loss=Poisson(), tol=1e-6).fit(X, counts)
    np.testing.assert_allclose(model.coef_, own.coef_, atol=1e-9)


def test_both_methods_are_needed():
    """A class that states one of the two is no loss yet."""
    half = type("Half", (CustomLoss,), {"value": lambda self, y, z: z})
    with pytest.raises(TypeError, match="derivative"):
        half()


def test_plan_and_refusals():
    """The planner says what a custom loss costs; dual_cd names who takes it; regressors refuse margins."""
    model = LinearClassifier(loss=CustomLog()).fit(X, LABELS)
    assert "in Python it is slower than a compiled one" in str(model.plan_)
    assert model.plan_.solvers[0].name == "newton"
    with pytest.raises(
        CombinationError,
        match=r"dual_cd needs a loss with a dual step.*not CustomLog\(\): use newton or lbfgs",
    ):
        LinearClassifier(loss=CustomLog(), solver="dual_cd").fit(X, LABELS)
    with pytest.raises(ParameterError, match="needs a regression loss"):
        LinearRegressor(loss=made(squared, residual, is_margin=True)).fit(X, NUMBERS)


def test_careless_formulas_are_met_with_care():
    """Overflow far out neither warns nor spoils the fit or its proof."""
    model = LinearClassifier(loss=CarelessLog(), tol=1e-8).fit(X, LABELS)
    assert verify(model, X, LABELS, use_dual=False).converged
    assert model.certificate_.primal == pytest.approx(
        LinearClassifier(tol=1e-9).fit(X, LABELS).certificate_.primal
    )


@dataclass(frozen=True)
class Scaled(CustomLoss):
    """A parameter, the way losses have them."""

    factor: float = 1.0

    def value(self, y, z):
        return self.factor * squared(y, z)

    def derivative(self, y, z):
        return self.factor * (z - y)


class Plain(CustomLoss):
    """A parameter, without a dataclass."""

    def __init__(self, factor):
        self.factor = factor

    def value(self, y, z):
        return self.factor * squared(y, z)

    def derivative(self, y, z):
        return self.factor * (z - y)


@pytest.mark.parametrize("loss", [Scaled(2.0), Plain(2.0)], ids=repr)
def test_it_is_an_option_like_any_other(loss):
    """clone, get_params, pickle and repr know its parameters."""
    model = LinearRegressor(loss=loss, penalty=L1(0.5)).fit(X, NUMBERS)
    assert f"{type(loss).__name__}(factor=2.0)" in repr(model)
    copy = clone(model)
    assert copy.get_params()["loss"].factor == 2.0
    np.testing.assert_array_equal(copy.fit(X, NUMBERS).coef_, model.coef_)
    restored = pickle.loads(pickle.dumps(model))
    assert restored.loss.factor == 2.0
    assert verify(restored, X, NUMBERS).converged


def test_losses_of_equal_parameters_only_are_equal():
    """A dataclass compares parameters; a plain class is equal to itself alone."""
    assert Scaled(1.0) == Scaled(1.0) != Scaled(2.0)
    assert Plain(1.0) != Plain(2.0)
    assert hash(Scaled(1.0)) == hash(Scaled(1.0))


def test_gradient_check_agrees():
    """The public gradient check and the check before a fit find the same flaw."""
    y, at = NUMBERS[:5], np.linspace(-1, 1, 5)
    for loss, is_right in ((Scaled(), True), (WRONG["the derivative of another loss"][0], False)):
        check = check_gradient(
            lambda z, loss=loss: float(loss.value(y, z).sum()), lambda z, loss=loss: loss.derivative(y, z), at
        )
        assert check.passed is is_right


# ---- compiled -----------------------------------------------------------------------------------

PLAIN = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
THREE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double, ctypes.c_double)
FLOATS = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float, ctypes.c_float)


def test_compiled_signatures_are_checked():
    """A function of another signature would read what is not there: it is refused."""
    good = PLAIN(squared)
    for bad in (THREE(lambda a, b, c: 0.0), FLOATS(squared)):
        with pytest.raises(
            ParameterError, match=r"needs derivative of the signature 'double \(double, double\)'"
        ):
            CompiledLoss(good, bad)
        with pytest.raises(ParameterError, match="needs value of the signature"):
            CompiledLoss(LowLevelCallable(bad), good)
    for bad in (squared, 3, None):
        with pytest.raises(ParameterError, match="For a Python function subclass CustomLoss"):
            CompiledLoss(bad, good)
    with pytest.raises(ParameterError, match="null pointer"):
        CompiledLoss(PLAIN(), good)


def test_compiled_is_an_option_like_any_other():
    """clone works, pickle says why it cannot, and a wrong derivative is refused as in Python."""
    loss = CompiledLoss(PLAIN(squared), PLAIN(residual))
    model = clone(LinearRegressor(loss=loss)).fit(X, NUMBERS)
    assert "CompiledLoss(" in repr(model)
    assert "slower" not in str(model.plan_)
    assert verify(model, X, NUMBERS).converged
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(model)
    with pytest.raises(
        CombinationError, match=r"dual step in the core, not CompiledLoss.*: use newton or lbfgs"
    ):
        LinearRegressor(loss=loss, solver="dual_cd").fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="is not the slope of its value"):
        LinearRegressor(loss=CompiledLoss(PLAIN(squared), PLAIN(lambda y, z: 2 * (z - y)))).fit(X, NUMBERS)
