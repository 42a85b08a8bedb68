"""What is fuzzed: valid files to begin with, how they are changed, and what is done with the result."""

from __future__ import annotations

import io
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from model_files import change_model, with_true_sums
from mutations import Chance, change_bytes

from lineal.errors import InputError, LinealError, ModelFileError, ParameterError
from lineal.model import container


class Target(ABC):
    """One kind of file."""

    expected: tuple[type[Exception], ...] = ()

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.seeds = self.make_seeds()

    def case(self, chance: Chance) -> bytes:
        """A changed file; the same chance gives the same bytes."""
        return self.change(chance.choice(self.seeds), chance)

    @abstractmethod
    def make_seeds(self) -> Sequence[bytes]:
        """Valid files."""

    @abstractmethod
    def change(self, content: bytes, chance: Chance) -> bytes:
        """A changed file."""

    @abstractmethod
    def use(self, content: bytes, chance: Chance) -> None:
        """Reads the file and uses what was read; raises what is ``expected`` if it is refused."""


class Containers(Target):
    """Arrays and strings without meaning, read from memory."""

    expected = (ModelFileError,)

    def make_seeds(self) -> Sequence[bytes]:
        generator = np.random.default_rng(0)
        numbers = {"W": generator.normal(size=(7, 3)), "b": np.zeros(3, "f4"), "starts": np.arange(9)}
        kinds = {name: np.ones((2, 2), name) for name in ("?", "u1", "i2", "u4", "f2", "c8")}
        files: list[tuple[dict[str, Any], dict[str, str]]] = [
            ({}, {}),
            (numbers, {"format": "lineal", "version": "1", "lineal": '{"a":[1,2,{"b":null}],"c":0.5}'}),
            (kinds, {"é": "ü" * 30}),
            ({"none": np.zeros((0, 4)), "one": np.ones(1, "u1")}, {}),
        ]
        return [b"".join(container.encode(*file)) for file in files]

    def change(self, content: bytes, chance: Chance) -> bytes:
        return change_model(content, chance, self.seeds)

    def use(self, content: bytes, chance: Chance) -> None:
        found = container.decode(content)
        sum(len(array.tobytes()) for array in found.tensors.values())


class Models(Target):
    """Models of every kind, loaded from a file and asked."""

    expected = (ModelFileError,)

    def make_seeds(self) -> Sequence[bytes]:
        folder = self.scratch / "models"
        if not folder.exists():
            from seeds import save_models

            folder.mkdir()
            save_models(folder)
        return [path.read_bytes() for path in sorted(folder.iterdir())]

    def change(self, content: bytes, chance: Chance) -> bytes:
        changed = change_model(content, chance, self.seeds)
        return with_true_sums(changed) if chance.random() < 0.85 else changed

    def use(self, content: bytes, chance: Chance) -> None:
        import lineal

        path = self.scratch / "model.lineal"
        path.write_bytes(content)
        model = lineal.load(path, check=chance.random() < 0.5)
        if model.inputs == "texts":
            X: Any = ["good film, really", "", "bad " * 50, "Ünïcode \0 12"]
        elif model.inputs == "rows":
            X = _made_rows(min(model.n_features_in_, 1000), model.n_features_in_)
        else:
            X = {"age": [30, None], "town": ["Rome", "?"], "review": ["good", ""]}
        for question in chance.sample(_QUESTIONS, 3):
            # A model that cannot answer this, or not these inputs, says so.
            with suppress(LinealError, AttributeError):
                question(model, X)
        with suppress(InputError, ParameterError):  # a language that the stemmer does not know, say
            assert len(model.predict(X)) == (2 if isinstance(X, dict) else 4)


_QUESTIONS: list[Callable[[Any, Any], Any]] = [
    lambda model, X: model.decision_function(X),
    lambda model, X: model.predict_proba(X),
    lambda model, X: model.top_features(3),
    lambda model, X: model.explain(_first(X)),
    lambda model, X: model.predict(X[:1] if not isinstance(X, dict) else {name: X[name][:1] for name in X}),
    lambda model, X: (model.coef_, model.intercept_, repr(model), model.size, model.about),
    lambda model, X: model.certificate_,
    lambda model, X: len(model.get_feature_names_out()) if model.n_columns < 10**6 else 0,
]


def _first(X: Any) -> Any:
    if isinstance(X, dict):
        return {name: values[0] for name, values in X.items()}
    return X[0] if isinstance(X, list) else X[:1]


def _made_rows(n_used: int, n_columns: int) -> Any:
    import scipy.sparse as sp

    values = np.linspace(-1.0, 1.0, 4 * n_used).reshape(4, n_used)
    rows = sp.csr_matrix(values)
    return sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(4, n_columns))


class Foreign(Target):
    """Models of other libraries, imported and asked."""

    expected = (ModelFileError,)
    format = ""
    words: Sequence[bytes] = ()

    def change(self, content: bytes, chance: Chance) -> bytes:
        return change_bytes(content, chance, [*COMMON, *self.words], self.seeds)

    def use(self, content: bytes, chance: Chance) -> None:
        from lineal.jobs.foreign import import_model

        path = self.scratch / "foreign"
        path.write_bytes(content)
        model = import_model(path, format=self.format)
        X = (
            ["good film", "", "b\u00e4d"]
            if model.inputs == "texts"
            else _made_rows(min(3, model.n_features_in_), model.n_features_in_)
        )
        assert len(model.predict(X)) in (3, 4)


class Liblinear(Foreign):
    """Lines of weights."""

    format, words = (
        "liblinear",
        (b"label 1 2", b"nr_class 2", b"MCSVM_CS", b"L2R_L2LOSS_SVR", b"bias -1", b"w\n"),
    )

    def make_seeds(self) -> Sequence[bytes]:
        head = b"solver_type L2R_LR\nnr_class %d\nlabel %s\nnr_feature 3\nbias 1\nw\n"
        return [
            head % (2, b"1 -1") + b"0.5 \n-1 \n1e-3 \n2 \n",
            head % (3, b"3 1 2") + b"0.5 1 2 \n-1 0 0 \n1 2 3 \n2 2 2 \n",
        ]


class LibsvmModels(Foreign):
    """Lines of support vectors."""

    format, words = (
        "libsvm",
        (
            *(b"probA 1", b"probB 1", b"nr_sv 1 1", b"rho 0", b"SV\n", b" 9999:1", b"epsilon_svr"),
            *(b" 2147483647:1", b"kernel_type rbf", b"gamma 1e300", b"degree 999", b"one_class", b"coef0 -1"),
        ),
    )

    def make_seeds(self) -> Sequence[bytes]:
        head = b"svm_type %s\nkernel_type linear\nnr_class %d\ntotal_sv %d\n"
        radial = head.replace(b"linear", b"rbf\ngamma 0.5")
        cubed = head.replace(b"linear", b"polynomial\ndegree 3\ngamma 0.5\ncoef0 1")
        return [
            radial % (b"c_svc", 2, 2) + b"rho 0.1\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1 3:2 \n-1 2:1 \n",
            radial % (b"one_class", 2, 2) + b"rho 0.1\nSV\n1 1:1 2:2 \n0.5 2:1 \n",
            cubed % (b"c_svc", 3, 3)
            + b"rho 0 1 2\nlabel 3 1 2\nnr_sv 1 1 1\nSV\n1 2 1:1 \n-1 1 2:1 \n1 1 3:1 \n",
            head % (b"c_svc", 2, 2)
            + b"rho 0.1\nlabel 1 -1\nprobA -1\nprobB 0\nnr_sv 1 1\nSV\n1 1:1 3:2 \n-1 2:1 \n",
            head % (b"nu_svc", 3, 3)
            + b"rho 0 1 2\nlabel 3 1 2\nnr_sv 1 1 1\nSV\n1 2 1:1 \n-1 1 2:1 \n1 1 3:1 \n",
            head % (b"epsilon_svr", 2, 1) + b"rho 0\nSV\n1 1:0.5 2:1 \n",
        ]


class FastText(Foreign):
    """A vocabulary and two matrices."""

    format, words = "fasttext", (b"\x01\x00\x00\x00", b"\x00" * 8, b"__label__", b"\x03\x00\x00\x00")

    def make_seeds(self) -> Sequence[bytes]:
        found = []
        for n_grams, n_buckets, most in ((1, 0, 0), (2, 5, 3)):
            out = struct.pack(
                "<14id", 793712314, 12, 2, 5, 5, 1, 5, n_grams, 3, 3, n_buckets, 2, most, 100, 1e-4
            )
            out += struct.pack("<3iqq", 5, 3, 2, 9, -1)
            for word, kind in (
                (b"</s>", 0),
                (b"good", 0),
                (b"film", 0),
                (b"__label__a", 1),
                (b"__label__b", 1),
            ):
                out += word + b"\0" + struct.pack("<qb", 1, kind)
            for n_rows in (3 + n_buckets, 2):
                out += (
                    struct.pack("<bqq", 0, n_rows, 2) + np.linspace(-1, 1, 2 * n_rows).astype("<f4").tobytes()
                )
            found.append(out)
        return found


COMMON = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"nan",
    b"inf",
    b"-",
    b"1e999",
    b"1e-999",
]
COMMON += [
    b"9" * 30,
    b"0x10",
    b"-0",
    b"1_0",
    b"\xe2\x80\xa8",
    b"#",
    b" ",
    b"\t",
    b"a" * 5000,
    b"\x1f\x8b",
    b"PAR1",
]


class Tables(Target):
    """Files of records, read whole and in small parts."""

    expected = (InputError,)
    format = ""
    words: Sequence[bytes] = ()

    def change(self, content: bytes, chance: Chance) -> bytes:
        return change_bytes(content, chance, [*COMMON, *self.words], self.seeds)

    def use(self, content: bytes, chance: Chance) -> None:
        from lineal.data.records import read_records, stream_records

        path = self.scratch / "data"
        path.write_bytes(content)
        format = self.format if chance.random() < 0.8 else None
        if chance.random() < 0.5:
            _touch(read_records(path, format=format))
        else:
            for part in stream_records(path, format=format, n_bytes=chance.choice((1, 50, 1000))):
                _touch(part)


def _touch(records: Any) -> None:
    """Every value is looked at, so that wrong lengths and places come to light."""
    rows = getattr(records, "rows", None)
    if rows is not None:
        assert len(rows.indptr) == records.n_rows + 1
        assert rows.indptr[-1] == len(rows.indices) == len(rows.values)
        assert not len(rows.indices) or 0 <= rows.indices.min() <= rows.indices.max() < rows.n_columns
    else:
        records.table.validate(full=True)
        records.table.to_pylist()


class Csv(Tables):
    """Commas and quotes."""

    format, words = "csv", (b",", b'"', b'""', b";", b'",', b",,,,", b"2024-13-45", b"12:61")

    def make_seeds(self) -> Sequence[bytes]:
        return [
            b'text,label,number,when\r\nhello,a,1.5,2024-01-02\r\n"two, ""quoted"" \n lines",b,-3,\r\n',
            b"a;b;c\n1;2;3\n4;5;6\n",
            b"zip,name\n00123,x\n,\n7,\xc3\xbc\n",
        ]


class Tsv(Tables):
    """Tabs and no quotes."""

    format, words = "tsv", (b"\t", b'"', b"\t\t\t")

    def make_seeds(self) -> Sequence[bytes]:
        return [b'text\tlabel\nhello "there\ta\nx\tb\n', b"a\tb\n1\t2\n\t\n"]


class JsonLines(Tables):
    """An object on each line."""

    format = "jsonl"
    words = (
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"null",
        b"true",
        b"\\u0000",
        b"\\ud800",
        b"[[[[[[[[",
        b'{"a":',
    )

    def make_seeds(self) -> Sequence[bytes]:
        return [
            b'{"text": "hello", "label": "a", "n": 1}\n{"text": "w\\u00fc", "label": null, "n": 2.5}\n',
            b'[{"a": 1}, {"a": 2, "b": true}]',
            b'{"when": "2024-01-02T03:04:05", "x": -1e5}\n\n{"x": 0}\n',
        ]


class Lines(Tables):
    """Plain text."""

    format = "lines"

    def make_seeds(self) -> Sequence[bytes]:
        return [b"one line\nanother\n\nlast", "grüße\n😀\n".encode()]


class Libsvm(Tables):
    """Labels and pairs of column and number."""

    format, words = (
        "libsvm",
        (b":", b"qid:", b"qid:1", b"#", b"1:1", b"0:0", b"2147483648:1", b"1:", b":1", b"+"),
    )

    def make_seeds(self) -> Sequence[bytes]:
        return [
            b"+1 1:0.5 3:-2\n-1 2:1 # a comment\n\n0 7:1e3\n",
            b"3 qid:1 1:1 2:0\n1 qid:1 2:2\n2 qid:2 1:7\n",
            b"a 0:1 5:2\nb 1:3\n",
        ]


class Vw(Tables):
    """Labels, name spaces and names with numbers."""

    format, words = "vw", (b"|", b"||", b":", b"|a:", b"'tag|", b" 0.5 '", b"::", b"|a b:1 c:nan", b" ")

    def make_seeds(self) -> Sequence[bytes]:
        return [b"1 2.0 'first|a x:1.5 y |b:0.5 z\n-1 |a y:2\n|c unlabelled\n", b"1 | a b c\n0 | d:3\n"]


class Parquet(Tables):
    """Columns in pages, compressed."""

    format, words = "parquet", (b"PAR1", b"\x15", b"\x15\x80\x80\x80\x80\x08", b"\x19", b"\x00\x00\x00\x7f")

    def make_seeds(self) -> Sequence[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"text": ["hello", None, "x" * 50], "label": [1, 2, 1], "when": [0.5, None, 2.5]})
        found = []
        for options in ({"compression": "none"}, {"compression": "snappy"}, {"use_dictionary": False}):
            out = io.BytesIO()
            pq.write_table(table, out, **options)
            found.append(out.getvalue())
        return found


TARGETS: dict[str, Callable[[Path], Target]] = {
    "container": Containers,
    "model": Models,
    "liblinear-model": Liblinear,
    "libsvm-model": LibsvmModels,
    "fasttext-model": FastText,
    "csv": Csv,
    "tsv": Tsv,
    "jsonl": JsonLines,
    "lines": Lines,
    "libsvm": Libsvm,
    "vw": Vw,
    "parquet": Parquet,
}
