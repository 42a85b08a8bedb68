"""Self-training and co-training, line by line as they are printed; rows are numbers, D is a set."""


def self_training(labelled, unlabelled, train, predict, confident, T):
    """D as a dict from rows to labels, and U; ``train(D)`` gives A."""
    D, U = dict(labelled), list(unlabelled)
    t = 0
    while True:
        t = t + 1
        A = train(D)
        for x in list(U):
            z = predict(A, x)
            if confident(A, x, z):
                D[x] = z
                U.remove(x)
        if t == T:
            return D, U


def co_training(labelled, unlabelled, train_a, train_b, predict_a, predict_b, confident_a, confident_b, T):
    """One D for both models; a row needs both of them, agreed and confident."""
    D, U = dict(labelled), list(unlabelled)
    t = 0
    while True:
        t = t + 1
        A = train_a(D)
        B = train_b(D)
        for x in list(U):
            z_a = predict_a(A, x)
            z_b = predict_b(B, x)
            if z_a == z_b and confident_a(A, x, z_a) and confident_b(B, x, z_b):
                D[x] = z_a
                U.remove(x)
        if t == T:
            return D, U
