"""House prices: from one column by the normal equations to all that is known, and a loss for odd sales.

    python examples/house_prices.py [FILE]

The houses are made up; FILE may be a CSV of real ones whose last column of numbers is the price.
"""

import sys

import made_up
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import make_pipeline

from lineal import ColumnScaler, LinearRegressor, TableVectorizer, compare, evaluate, tune
from lineal.objective import L2, Huber, NoPenalty, Squared


def main(path=None):
    table = pc.read_csv(path) if path else pa.table(made_up.houses(900))
    price = [field.name for field in table.schema if pa.types.is_floating(field.type)][-1]
    table = table.take(np.random.default_rng(0).permutation(len(table))[:3000])
    X, y, n = table.drop_columns([price]).to_pylist(), table[price].to_numpy(), len(table) * 2 // 3
    one = "median_income" if "median_income" in X[0] else "floor size"
    only = TableVectorizer({name: "drop" for name in X[0] if name != one}, sparse_output=False)
    scaled = [TableVectorizer(sparse_output=False), ColumnScaler("variance", shift=True)]
    robust = make_pipeline(*scaled, LinearRegressor(Huber(np.std(y) / 8), L2(1.0)))
    tuned = tune(robust, X[:n], y[:n], metric="neg_mean_absolute_error", cv=4)
    plain = make_pipeline(*scaled, LinearRegressor(Squared(), L2(1.0)))
    line = make_pipeline(only, LinearRegressor(Squared(), NoPenalty()))
    models = {
        "all, Huber": tuned.model,
        "all, squared": plain,
        f"{one} alone": line,
        "always the mean": DummyRegressor(),
    }
    result = compare(models, X[:n], y[:n], X_test=X[n:], y_test=y[n:], metric="mae", refit=True)
    print(f"{n} {'real' if path else 'made-up'} houses to learn from, {len(y) - n} to judge by")
    print(*(f"  {name:<20}{result[name]}" for name in result.ranking()), *result.pairs, sep="\n")
    x, line = np.array([row[one] for row in X[:n]]), result.models[f"{one} alone"][1]
    slope = np.sum((x - x.mean()) * (y[:n] - y[:n].mean())) / np.sum((x - x.mean()) ** 2)
    print(f"\n{price} = {line.coef_[0]:.4g} {one} + {line.intercept_:.4g}; the normal equations: {slope:.4g}")
    reader, _, linear = model = result.models["all, Huber"]
    print(f"all, Huber: {evaluate(model, X[n:], y[n:])['r2']}, {linear.penalty}")
    print(f"certificate: proved to be within {linear.certificate_.relative_gap:.1e} of the least objective")
    house = X[n : n + 1]
    shares = linear.coef_ * model[:-1].transform(house)[0]
    print(f"\nA house is worth {model.predict(house)[0]:.4g}: {linear.intercept_:.4g} for the usual one, and")
    for i in np.argsort(-np.abs(shares))[:7]:
        print(f"  {shares[i]:+10.4g}  {reader.get_feature_names_out()[i]}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
