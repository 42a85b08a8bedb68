"""Model files of other libraries, written from their formats, and their predictions, from their formulas."""

import math
import struct

import numpy as np


def write_liblinear(path, solver, labels, W, bias):
    """Weights (n_columns, n_scores), the row of the bias last if it is >= 0, as save_model writes."""
    n_features = len(W) - (bias >= 0)
    lines = [f"solver_type {solver}", f"nr_class {max(len(labels), 2)}"]
    if labels:
        lines.append("label " + " ".join(map(str, labels)))
    lines += [f"nr_feature {n_features}", f"bias {bias:.17g}", "w"]
    lines += [" ".join(f"{weight:.17g}" for weight in row) + " " for row in W]
    path.write_text("\n".join(lines) + "\n")


def liblinear_predict(labels, W, bias, row):
    """(label or number, scores): predict_values of linear.cpp, one row at a time."""
    row = [*row, bias] if bias >= 0 else list(row)
    scores = [sum(x * w for x, w in zip(row, column, strict=True)) for column in np.transpose(W)]
    if not labels:
        return scores[0], scores
    if len(labels) == 2:
        return labels[0] if scores[0] > 0 else labels[1], scores
    return labels[max(range(len(labels)), key=lambda k: scores[k])], scores


def write_libsvm(
    path, kind, labels, counts, rho, coefficients, vectors, more=(), kernel="linear", numbers=()
):
    """Support vectors by class, with coefficients (n_vectors, n_classes - 1), as svm_save_model.

    ``numbers`` are pairs of a name and a number of the kernel.
    """
    lines = [f"svm_type {kind}", f"kernel_type {kernel}"]
    lines += [f"{name} {number:.17g}" for name, number in numbers]
    lines += [f"nr_class {max(len(labels), 2)}"]
    lines += [f"total_sv {len(vectors)}", "rho " + " ".join(f"{number:.17g}" for number in rho)]
    if labels:
        lines += ["label " + " ".join(map(str, labels)), *more, "nr_sv " + " ".join(map(str, counts))]
    else:
        lines += more
    lines.append("SV")
    for own, vector in zip(coefficients, vectors, strict=True):
        pairs = [f"{j + 1}:{x:.17g}" for j, x in enumerate(vector) if x]
        lines.append(" ".join([*(f"{c:.17g}" for c in own), *pairs]) + " ")
    path.write_text("\n".join(lines) + "\n")


def libsvm_kernel(kernel, degree=3, gamma=1.0, coef0=0.0):
    """Kernel::k_function of svm.cpp, for vectors with all their numbers."""
    dot = lambda x, z: sum(a * b for a, b in zip(x, z, strict=True))  # noqa: E731
    return {
        "linear": dot,
        "polynomial": lambda x, z: (gamma * dot(x, z) + coef0) ** degree,
        "rbf": lambda x, z: math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True))),
    }[kernel]


def libsvm_predict(labels, counts, rho, coefficients, vectors, row, k=libsvm_kernel("linear")):
    """svm_predict_values of svm.cpp: the number, or the label of most votes."""
    kernel = [k(row, vector) for vector in vectors]
    if not labels:
        return sum(c[0] * k for c, k in zip(coefficients, kernel, strict=True)) - rho[0]
    starts = np.cumsum([0, *counts]).tolist()
    votes, pair = [0] * len(labels), 0
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            total = sum(coefficients[s][j - 1] * kernel[s] for s in range(starts[i], starts[i + 1]))
            total += sum(coefficients[s][i] * kernel[s] for s in range(starts[j], starts[j + 1]))
            votes[i if total - rho[pair] > 0 else j] += 1
            pair += 1
    return labels[votes.index(max(votes))]


def write_fasttext(path, words, labels, A, O, *, loss=3, word_ngrams=1, bucket=0, minn=0, maxn=0, **odd):
    """A model of fastText 0.9: arguments, vocabulary, input and output matrix."""
    arguments = (A.shape[1], 5, 5, 1, 5, word_ngrams, loss, odd.get("model", 3), bucket, minn, maxn, 100)
    out = [struct.pack("<2i12id", odd.get("magic", 793712314), odd.get("version", 12), *arguments, 1e-4)]
    entries = [(word, 0) for word in words] + [(label, 1) for label in labels]
    out.append(struct.pack("<3iqq", len(entries), len(words), len(labels), 1000, odd.get("pruned", -1)))
    out += [word.encode() + b"\0" + struct.pack("<qb", 7, kind) for word, kind in entries]
    for matrix in (A, O):
        out.append(struct.pack("<bqq", odd.get("quantised", 0), *matrix.shape))
        out.append(matrix.astype("<f4").tobytes())
    path.write_bytes(b"".join(out))


def fasttext_scores(text, words, A, O, *, word_ngrams=1, bucket=0, minn=0, maxn=0):
    """Dictionary::getLine and Model::computeHidden in 32 and 64 bits of NumPy, one byte at a time."""
    tokens, word = [], b""
    for byte in text.encode() + b"\n":
        if byte in b" \n\r\t\v\f\0":
            tokens += [word] if word else []
            word = b""
        else:
            word += bytes([byte])
    tokens.append(b"</s>")
    ids, hashes = [], []
    known = {name.encode(): k for k, name in enumerate(words)}
    for token in tokens:
        if token not in known and token.startswith(b"__label__"):
            continue
        ids += [known[token]] if token in known else []
        if maxn > 0 and token != b"</s>":
            ids += [len(words) + h for h in _subwords(b"<" + token + b">", minn, maxn, bucket)]
        hashes.append(_hash(token).astype(np.int32))
        if token == b"</s>":
            break
    with np.errstate(over="ignore"):
        for i in range(len(hashes)):
            h = np.uint64(int(hashes[i]) % 2**64)
            for j in range(i + 1, min(len(hashes), i + word_ngrams)):
                h = h * np.uint64(116049371) + np.uint64(int(hashes[j]) % 2**64)
                ids.append(len(words) + int(h % np.uint64(bucket)))
    return O.astype(float) @ (A[ids].astype(float).sum(axis=0) / len(ids)) if ids else np.zeros(len(O))


def _hash(token):
    h = np.uint32(2166136261)
    with np.errstate(over="ignore"):
        for byte in np.frombuffer(token, np.int8):
            h = (h ^ np.uint32(int(byte) % 2**32)) * np.uint32(16777619)
    return h


def _subwords(word, minn, maxn, bucket):
    for i in range(len(word)):
        if word[i] & 0xC0 == 0x80:
            continue
        j, n = i, 1
        while j < len(word) and n <= maxn:
            j += 1
            while j < len(word) and word[j] & 0xC0 == 0x80:
                j += 1
            if n >= minn and not (n == 1 and (i == 0 or j == len(word))):
                yield int(_hash(word[i:j])) % bucket
            n += 1


def softmax(scores):
    """Of one row."""
    e = [math.exp(score - max(scores)) for score in scores]
    return [one / sum(e) for one in e]
