"""The first-order rules as their sources print them, one row sum at a time; no intercept, one output, L2."""

import numpy as np


def gradient(loss, X, y, s, strength, w, rows):
    """(n / |rows|) sum_i s_i loss'(y_i, x_i.w) x_i + strength w."""
    total = np.zeros_like(w)
    for i in rows:
        total += s[i] * float(loss.derivative(y[i], X[i] @ w)) * X[i]
    return len(y) / len(rows) * total + strength * w


def batches(n, size, epochs, seed):
    """The rows of each step, epoch by epoch."""
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = np.arange(n) if size is None else rng.permutation(n)
        yield [order[k : k + (size or n)] for k in range(0, n, size or n)]


def descend(rule, g, w, steps_of_epochs, eta):
    """The weights after each epoch; ``rule`` is a generator function below, eta a function of the epoch."""
    out, run = [], rule(g, w)
    next(run)
    for epoch, steps in enumerate(steps_of_epochs):
        for rows in steps:
            w = run.send((rows, eta(epoch)))
        out.append(w)
    return out


def gd(g, w):
    while True:
        rows, eta = yield w
        w = w - eta * g(w, rows)


def momentum(g, w, gamma=0.9):
    v = np.zeros_like(w)
    while True:
        rows, eta = yield w
        v = gamma * v + eta * g(w, rows)
        w = w - v


def nesterov(g, w, gamma=0.9):
    v = np.zeros_like(w)
    while True:
        rows, eta = yield w
        v = gamma * v + eta * g(w - gamma * v, rows)
        w = w - v


def adagrad(g, w, eps=1e-8):
    G = np.zeros_like(w)
    while True:
        rows, eta = yield w
        d = g(w, rows)
        G = G + d**2
        w = w - eta / np.sqrt(G + eps) * d


def rmsprop(g, w, rho=0.9, eps=1e-8):
    E = np.zeros_like(w)
    while True:
        rows, eta = yield w
        d = g(w, rows)
        E = rho * E + (1 - rho) * d**2
        w = w - eta / np.sqrt(E + eps) * d


def adadelta(g, w, rho=0.9, eps=1e-6):
    E, D = np.zeros_like(w), np.zeros_like(w)
    while True:
        rows, eta = yield w
        d = g(w, rows)
        E = rho * E + (1 - rho) * d**2
        move = -np.sqrt(D + eps) / np.sqrt(E + eps) * d
        D = rho * D + (1 - rho) * move**2
        w = w + eta * move


def adam(g, w, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v, t = np.zeros_like(w), np.zeros_like(w), 0
    while True:
        rows, eta = yield w
        d, t = g(w, rows), t + 1
        m = beta1 * m + (1 - beta1) * d
        v = beta2 * v + (1 - beta2) * d**2
        w = w - eta * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)


def pegasos(loss, X, y, s, lam, steps_of_epochs):
    """w <- (1 - eta lam) w - eta s_i loss'_i x_i, eta = 1 / (lam t), for mean losses: (last, mean)s."""
    w, t, out = np.zeros(X.shape[1]), 0, []
    for steps in steps_of_epochs:
        seen = []
        for (i,) in steps:
            t += 1
            slope = float(loss.derivative(y[i], X[i] @ w))
            w = (1 - 1 / t) * w - 1 / (lam * t) * s[i] * slope * X[i]
            seen.append(w)
        out.append((w, np.mean(seen, axis=0)))
    return out


def svrg(g, w, steps_of_epochs, eta, n):
    """w <- w - eta (g_B(w) - g_B(begin) + g(begin)), the begin moved after each epoch."""
    out = []
    for steps in steps_of_epochs:
        begin, whole = w, g(w, np.arange(n))
        for rows in steps:
            w = w - eta * (g(w, rows) - g(begin, rows) + whole)
        out.append(w)
    return out


def subgradient_steps(problem, theta, steps_of_epochs, eta):
    """theta <- theta - eta_t (n / |B| [X 1]_B'(s u) + strength theta): every theta, epoch by epoch."""
    X, K = problem.X.dense, problem.n_outputs
    penalised = np.ones((X.shape[1], 1)) * problem.penalty.strength
    if problem.intercept.value != "none":
        X = np.column_stack([X, np.ones(len(X))])
        on_b = problem.penalty.strength if problem.intercept.value == "penalized" else 0.0
        penalised = np.vstack([penalised, [[on_b]]])
    theta, t, out = theta.reshape(-1, K), 0, []
    for steps in steps_of_epochs:
        out.append([])
        for rows in steps:
            t += 1
            U = problem.losses.loss.derivative(problem.losses.y[rows], X[rows] @ theta)
            pull = len(X) / len(rows) * X[rows].T @ (problem.losses.s[rows, None] * U)
            theta = theta - eta(t) * (pull + penalised * theta)
            out[-1].append(theta.ravel())
    return out
