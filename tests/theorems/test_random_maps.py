"""Random maps: what their dot products are, how wrong they are, and how fast that falls."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem as TheirNystroem
from threadpoolctl import threadpool_limits

from lineal import Nystroem, RandomBinningFeatures, RandomFourierFeatures
from lineal.errors import InputError, ParameterError
from lineal.kernels import Gaussian, Laplacian, Linear, Polynomial, Spectrum, SubsetTree
from lineal.plot import kernel_errors

X = np.random.default_rng(0).normal(size=(40, 3))
PAIRS = np.triu_indices(len(X), 1)


def products(phi):
    """Dot products of all pairs of rows."""
    K = phi @ phi.T
    return (K.toarray() if sp.issparse(K) else K)[PAIRS]


# Of each map: how to make it with so many features, its kernel, and the mean square error of one pair.
MAPS = {
    "gaussian": (
        lambda size, seed: RandomFourierFeatures(gamma=0.4, n_features=size, random_state=seed),
        Gaussian(gamma=0.4),
        lambda k, size: (1 - k**2) ** 2 / size,
    ),
    "laplacian": (
        lambda size, seed: RandomFourierFeatures(Laplacian(0.4), n_features=size, random_state=seed),
        Laplacian(0.4),
        lambda k, size: (1 - k**2) / size,
    ),
    "binning": (
        lambda size, seed: RandomBinningFeatures(0.4, n_grids=size, random_state=seed),
        Laplacian(0.4),
        lambda k, size: k * (1 - k) / size,
    ),
}
every = pytest.mark.parametrize("kind", MAPS)


@every
def test_the_error_of_a_pair_is_known(kind):
    """E phi(x).phi(z) = k(x, z), and the variance is (1 - k^2)^2 / D, (1 - k^2) / D or k (1 - k) / P."""
    make, kernel, variance = MAPS[kind]
    k = kernel.gram(X)[PAIRS]
    draws = np.array([products(make(50, seed).fit_transform(X)) for seed in range(200)])
    # Means over 200 draws and 780 pairs: pairs of a draw go together, so a tenth is some standard errors.
    assert np.abs(draws.mean(axis=0) - k).max() < 5 * np.sqrt(variance(k, 50).max() / 200)
    assert ((draws - k) ** 2).mean() == pytest.approx(variance(k, 50).mean(), rel=0.1)


@every
def test_the_error_falls_as_one_over_the_root_of_the_size(kind):
    """16 times as many features, or grids, have a quarter of the error."""
    make, _, _ = MAPS[kind]
    found = kernel_errors(make(2, 0), X,
                          sizes=(50, 200, 800), n_draws=12)  # fmt: skip
    (curve,) = found.curves.values()
    assert found.slope(next(iter(found.curves))) == pytest.approx(-0.5, abs=0.06)
    assert curve.typical[0] / curve.typical[2] == pytest.approx(4, rel=0.15)


@every
def test_hoeffding(kind):
    """|phi(x).phi(z) - k| exceeds error_bound(c) in at most a share 1 - c of the draws, for any pair."""
    make, kernel, _ = MAPS[kind]
    k = kernel.gram(X)[PAIRS]
    n_draws, confidence = 200, 0.8
    beyond = np.zeros(len(k))
    for seed in range(n_draws):
        drawn = make(40, seed).fit(X)
        beyond += np.abs(products(drawn.transform(X)) - k) > drawn.error_bound(confidence)
    assert (beyond / n_draws).max() <= 1 - confidence
    all_at_once = make(40, 0).fit(X).error_bound(0.99, n_pairs=len(k))
    assert np.abs(products(make(40, 0).fit_transform(X)) - k).max() <= all_at_once
    # 2 exp(-n e^2 / 2) for n cosines in [-1, 1]; 2 exp(-2 n e^2) for n shares of grids.
    n = 40 if kind == "binning" else 20
    power = 2.0 if kind == "binning" else 0.5
    e = make(40, 0).fit(X).error_bound(confidence)
    assert 2 * np.exp(-power * n * e**2) == pytest.approx(1 - confidence)


@every
def test_rows_have_length_one(kind):
    """phi(x).phi(x) = k(x, x) = 1, exactly but for rounding."""
    phi = MAPS[kind][0](60, 1).fit_transform(X)
    lengths = phi.multiply(phi).sum(axis=1) if sp.issparse(phi) else (phi**2).sum(axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)


def test_orthogonal_frequencies():
    """Frequencies of a group of d are orthogonal; expectations stay, and near rows have smaller errors."""
    drawn = RandomFourierFeatures(gamma=0.4, n_features=14, orthogonal=True).fit(X)
    groups = np.split(drawn.frequencies_, [3, 6], axis=1)
    for group in groups:
        inner = group.T @ group
        np.testing.assert_allclose(inner - np.diag(np.diag(inner)), 0, atol=1e-12)
    k = Gaussian(gamma=0.4).gram(X)[PAIRS]
    draws = {
        is_orthogonal: np.array(
            [
                products(
                    RandomFourierFeatures(
                        gamma=0.4, n_features=60, orthogonal=is_orthogonal, random_state=seed
                    ).fit_transform(X)
                )
                for seed in range(150)
            ]
        )
        for is_orthogonal in (False, True)
    }
    assert np.abs(draws[True].mean(axis=0) - k).max() < 5 / np.sqrt(60 * 150)
    assert ((draws[True] - k) ** 2).mean() < ((draws[False] - k) ** 2).mean()


def test_buckets_add_what_they_say():
    """Cells hashed into b columns raise the expectation by (1 - k) / b."""
    k = Laplacian(0.4).gram(X)[PAIRS]
    made = [RandomBinningFeatures(0.4, n_grids=50, n_buckets=8, random_state=seed) for seed in range(100)]
    mean = np.mean([products(one.fit_transform(X)) for one in made], axis=0)
    assert made[0].n_output_features_ == 400
    assert (mean - k).mean() == pytest.approx(((1 - k) / 8).mean(), rel=0.1)


def test_new_cells_change_no_prediction():
    """A cell without training rows has no column; products with training rows are those of all cells."""
    new = np.random.default_rng(1).normal(size=(20, 3)) * 2
    learnt = RandomBinningFeatures(2.0, n_grids=30).fit(X)
    assert (learnt.transform(new).sum(axis=1) < np.sqrt(30) - 1e-9).any()
    cells = [np.floor((rows[:, None, :] - learnt.shifts_) / learnt.pitches_)[:, None] for rows in (new, X)]
    shared = (cells[0] == cells[1].swapaxes(0, 1)).all(axis=3).mean(axis=2)
    found = (learnt.transform(new) @ learnt.transform(X).T).toarray()
    np.testing.assert_allclose(found, shared, atol=1e-12)


@pytest.mark.parametrize(
    "drawn",
    [RandomFourierFeatures(n_features=20), RandomFourierFeatures("laplacian", n_features=20),
     RandomBinningFeatures(n_grids=20), Nystroem("rbf"), Nystroem("laplacian")],
    ids=["gaussian", "laplacian", "binning", "rbf", "laplacian landmarks"],
)  # fmt: skip
def test_units_play_no_part_with_gamma_scale(drawn):
    """X -> c X changes no feature: "scale" is 1 / (d variance), or 1 / (d deviation) for |x - z|_1."""
    phi, other = dense(drawn.fit_transform(X)), dense(drawn.fit_transform(256 * X))
    np.testing.assert_allclose(other @ other.T, phi @ phi.T, atol=1e-9)


# ---- Nyström -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["uniform", "kmeans++", "leverage"])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.7), Polynomial(2), Laplacian(1.0)], ids=str)
def test_nystroem_is_a_projection(rule, kernel):
    """K - phi phi' is positive semi-definite, 0 at landmarks, and bounded by the residuals' roots."""
    drawn = Nystroem(kernel, n_components=12, landmarks=rule, random_state=3).fit(X)
    phi = drawn.transform(X)
    K = kernel.gram(X)
    left = K - phi @ phi.T
    unit = 1e-9 * np.abs(K).max()  # eigenvalues down to rounding are divided by
    assert np.linalg.eigvalsh(left)[0] > -unit
    assert np.abs(left[drawn.landmarks_]).max() < unit
    r = drawn.residuals(X)
    np.testing.assert_allclose(r, np.diag(left).clip(0), atol=unit)
    assert (np.abs(left) <= np.sqrt(np.outer(r, r)) + unit).all()
    assert len(np.unique(drawn.landmarks_)) == len(drawn.landmarks_)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.7), Linear(), Linear() + 1, Polynomial(3)], ids=str)
def test_all_rows_as_landmarks_are_exact(kernel):
    """With every row a landmark the features are the kernel's own, in as many columns as it has there."""
    drawn = Nystroem(kernel, n_components=1000).fit(X)
    phi = drawn.transform(X)
    K = kernel.gram(X)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-10 * np.abs(K).max())
    if kernel == Linear():
        assert drawn.n_output_features_ == 3


def test_nystroem_of_strings_and_trees():
    """Any kernel of the library has a map: dot products are its values."""
    texts = ["the cat sat", "the cat ate", "a dog sat", "dogs bark", "the cat sat"]
    trees = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (NP d) (VP b))"]
    for kernel, items in ((Spectrum(3), texts), (SubsetTree(0.5), trees)):
        phi = Nystroem(kernel, landmarks="kmeans++").fit_transform(items)
        np.testing.assert_allclose(phi @ phi.T, kernel.gram(items), atol=1e-9)


def test_nystroem_agrees_with_scikit_learn():
    """With the same landmarks the dot products are those of scikit-learn's map."""
    ours = Nystroem("rbf", gamma=0.5, n_components=10, random_state=1).fit(X)
    theirs = TheirNystroem(kernel="rbf", gamma=0.5, n_components=10).fit(X[ours.landmarks_])
    a, b = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-8)  # theirs adds to small eigenvalues


def test_precomputed_values_are_as_good():
    """Nystroem on a Gram matrix is Nystroem on its rows."""
    K = Gaussian(gamma=0.5).gram(X)
    by_values = Nystroem("precomputed", n_components=9, random_state=2).fit(K)
    by_rows = Nystroem(Gaussian(gamma=0.5), n_components=9, random_state=2).fit(X)
    new = X[:7] + 0.1
    a = by_values.transform(Gaussian(gamma=0.5).gram(new, X))
    b = by_rows.transform(new)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-8)


def test_equal_rows_make_few_landmarks():
    """k-means++ draws no row twice: three different rows are three landmarks."""
    drawn = Nystroem("rbf", gamma=1.0, n_components=20, landmarks="kmeans++").fit(
        np.repeat(X[:3], 10, axis=0)
    )
    assert len(drawn.landmarks_) == 3


# ---- roads that meet ------------------------------------------------------------------------------

MADE = {
    "fourier": RandomFourierFeatures(gamma=0.4, n_features=60),
    "laplacian": RandomFourierFeatures("laplacian", gamma=0.4, n_features=60),
    "binning": RandomBinningFeatures(0.4, n_grids=20),
    "hashed": RandomBinningFeatures(0.4, n_grids=20, n_buckets=16),
    "nystroem": Nystroem("rbf", gamma=0.4, n_components=15),
}
each = pytest.mark.parametrize("drawn", MADE.values(), ids=list(MADE))


def dense(phi):
    return phi.toarray() if sp.issparse(phi) else phi


@each
def test_sparse_rows_threads_and_pieces(drawn):
    """Sparse = dense; any number of threads gives the same bits; pieces are the whole; a seed is a map."""
    thin = np.where(np.abs(X) < 0.7, 0.0, X)
    many = np.tile(thin, (60, 1))
    drawn.set_params(n_threads=1).fit(thin)
    phi = dense(drawn.transform(many))
    np.testing.assert_allclose(dense(drawn.transform(sp.csr_array(many))), phi, atol=1e-12)
    np.testing.assert_allclose(dense(drawn.transform(sp.csc_array(many))), phi, atol=1e-12)
    again = drawn.set_params(n_threads=3).fit(sp.csr_array(thin))
    np.testing.assert_allclose(dense(again.transform(many)), phi, atol=1e-7)  # signs of eigenvectors may turn
    one = dense(drawn.set_params(n_threads=1).fit(thin).transform(many))
    three = dense(drawn.set_params(n_threads=3).transform(many))
    assert one.tobytes() == three.tobytes()
    with threadpool_limits(2, user_api="blas"):  # `make test` gives BLAS one
        assert dense(drawn.transform(many)).tobytes() == one.tobytes()
    pieces = [dense(piece) for piece in drawn.transform_blocks(many, 700)]
    assert [len(piece) for piece in pieces] == [700, 700, 700, 300]
    np.testing.assert_allclose(np.vstack(pieces), one, atol=1e-12)
    other = dense(drawn.set_params(random_state=9).fit(thin).transform(many[:5]))
    assert other.shape != one[:5].shape or not np.allclose(other, one[:5])
    drawn.set_params(random_state=None, n_threads=None)


@each
def test_single_precision(drawn):
    """float32 features are those of float64, rounded, also where rows are far from 0."""
    far = X + 1000.0
    drawn.fit(far)
    phi = drawn.transform(far)
    half = drawn.set_params(dtype="float32").transform(far)
    drawn.set_params(dtype=None)
    assert (phi.dtype, half.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(dense(half), dense(phi), atol=3e-7)
    names = drawn.get_feature_names_out()
    assert len(names) == len(set(names)) == phi.shape[1] == drawn.n_output_features_


# ---- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (RandomFourierFeatures("poly"), "Nystroem"),
        (RandomFourierFeatures(n_features=7), "even"),
        (RandomFourierFeatures(gamma=-1.0), "gamma"),
        (RandomFourierFeatures(gamma="wide"), "gamma"),
        (RandomFourierFeatures(Gaussian(gamma=1.0), gamma=2.0), "leave gamma out"),
        (RandomFourierFeatures("laplacian", orthogonal=True), "orthogonal=False"),
        (RandomFourierFeatures(dtype="int8"), "dtype"),
        (RandomFourierFeatures(random_state="x"), "random_state"),
        (RandomFourierFeatures(max_bytes=0), "max_bytes"),
        (RandomBinningFeatures(Gaussian(gamma=1.0)), "RandomFourierFeatures"),
        (RandomBinningFeatures(n_grids=0), "n_grids"),
        (RandomBinningFeatures(n_buckets=0), "n_buckets"),
        (Nystroem(landmarks="best"), "kmeans"),
        (Nystroem(n_components=0), "n_components"),
        (Nystroem("sigmoid"), "sigmoid"),
        (Nystroem(n_threads=0), "n_threads"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_impossible_options(drawn, words):
    """An option that cannot be is refused in words that name it."""
    with pytest.raises(ParameterError, match=words):
        drawn.fit(X)


def test_impossible_data():
    """Too much memory, rows beyond what cosines can tell, and kernels that are none are refused."""
    with pytest.raises(InputError, match="frequencies would take"):
        RandomFourierFeatures(n_features=1000, max_bytes=1000).fit(X)
    for n_buckets in (None, 16):
        with pytest.raises(InputError, match="the grids would take"):
            RandomBinningFeatures(0.5, n_grids=10**9, n_buckets=n_buckets).fit(X)
    small = RandomFourierFeatures(n_features=10, max_bytes=1000).fit(X)
    with pytest.raises(InputError, match="transform_blocks"):
        small.transform(X)
    assert sum(len(piece) for piece in small.transform_blocks(X, 5)) == len(X)
    huge = np.vstack([X, np.full((1, 3), 1e30)])
    with pytest.raises(InputError, match="row 40 is too large"):
        RandomFourierFeatures(gamma=1.0, n_features=10).fit(X).transform(huge)
    with pytest.raises(InputError, match="no kernel"):
        Nystroem(lambda A, B: -(A @ B.T), n_components=10).fit(X)
    with pytest.raises(InputError, match="NaN"):
        RandomBinningFeatures().fit([[np.nan]])
    with pytest.raises(ParameterError, match="independent"):
        RandomFourierFeatures(orthogonal=True, n_features=4).fit(X).error_bound()
