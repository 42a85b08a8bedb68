"""Search results put in order: a machine that learns from pairs, and what its order is worth.

Queries with some pages each, graded 0 to 2. Some queries are answered well by every page and some by none, so
that what a page is worth shows only beside the other pages of its query. A regression on grades has to
explain the queries, too; a ranking does not.

    python examples/ranking.py
"""

import numpy as np

import lineal
from lineal.evaluation import evaluate_ranking
from lineal.objective import Log


def search_log(n_queries, rng):
    """(X, grades, queries): three columns about a page, and two about its query."""
    sizes = rng.integers(5, 40, size=n_queries)
    queries = np.repeat([f"query {k}" for k in range(n_queries)], sizes)
    pages = rng.normal(size=(len(queries), 3))
    hardness = np.repeat(rng.normal(size=n_queries), sizes)
    said = np.column_stack([np.exp(hardness), hardness + 0.3 * rng.normal(size=len(queries))])
    worth = pages @ [1.0, 0.6, -0.4] + 2.5 * np.sin(2 * hardness) + 0.7 * rng.normal(size=len(queries))
    return np.column_stack([pages, said]), np.digitize(worth, [0.5, 2.0]), queries


def main():
    """Learn, prove, judge."""
    rng = np.random.default_rng(0)
    X, grades, queries = search_log(300, rng)
    X_new, grades_new, queries_new = search_log(200, rng)

    model = lineal.RankSVM(C=0.1).fit(X, grades, groups=queries)
    print(f"{model.n_pairs_:,} pairs of {len(X):,} pages, none of them listed")
    print(model.certificate_)
    print(f"proved again from every pair: {lineal.verify(model, X, grades, groups=queries).converged}")

    contenders = {
        "RankSVM": model,
        "pairwise logistic": lineal.RankSVM(C=0.1, loss=Log()).fit(X, grades, groups=queries),
        "ridge on grades": lineal.Ridge().fit(X, grades),
    }
    for name, one in contenders.items():
        found = evaluate_ranking(one.predict(X_new), grades_new, queries_new, k=5, gain="exponential")
        cells = [f"{measure} {found[measure].value:.3f}" for measure in ("ndcg_at_k", "map", "kendall")]
        print(f"  {name:18}", "  ".join(cells), f" (NDCG 95 %: {found['ndcg_at_k'].interval})")

    first = queries_new == queries_new[0]
    places = model.rank(X_new[first])
    print("the best page of the first new query is page", int(places.argmin()), "of", int(first.sum()))


if __name__ == "__main__":
    main()
