"""What is told of how good a model is: by one truth, and as sure as the rows, groups and weights allow."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from lineal.errors import InputError, ParameterError
from lineal.jobs.judge import compare_files, evaluate_file
from lineal.jobs.mistakes import worst_mistakes
from lineal.jobs.predict import predict
from lineal.jobs.report_scores import calibration_of, curves_of
from lineal.jobs.train import train
from lineal.jobs.training import Columns, Judging
from lineal.jobs.update import update


def written(path, columns):
    """A CSV file."""
    pa.csv.write_csv(pa.table(columns), path)
    return str(path)


def numbers(n=200, seed=0):
    """Two columns of numbers, and a label that the first one tells often."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {"x": rng.normal(size=n) + 1.5 * y, "z": rng.normal(size=n), "label": np.array(["no", "yes"])[y]}


def test_models_of_different_columns_are_not_compared_by_one_of_them(tmp_path):
    """Two models that predict different columns are refused, in either order, unless the truth is named."""
    n = 120
    columns = {
        "text": [f"{'good' if k % 2 else 'bad'} {'big' if k // 2 % 2 else 'small'} {k}" for k in range(n)],
        "label": ["pos" if k % 2 else "neg" for k in range(n)],
        "other": ["pos" if k // 2 % 2 else "neg" for k in range(n)],
    }
    path = written(tmp_path / "two.csv", columns)
    first, second = (str(tmp_path / f"{name}.lineal") for name in "ab")
    for place, label, drop in ((first, "label", "other"), (second, "other", "label")):
        train(path, columns=Columns(label=label, drop=[drop])).model.save(place)
    for models in ((first, second), (second, first)):
        with pytest.raises(ParameterError, match=r"different columns.*'other'.*--label"):
            compare_files(models, path)
        judged = compare_files(models, path, label="label")
        assert judged["a"].value == 1.0
        assert judged["b"].value == 0.5
        assert judged.pairs[0].better == "a"


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_how_much_rows_count_does_not_say_how_many_they_are(tmp_path, factor):
    """Weights multiplied by a number leave every interval of an evaluation as it was, and make none tiny."""
    weights = 1.0 + np.arange(200) % 3
    path = written(tmp_path / "w.csv", {**numbers(), "w": weights, "v": factor * weights})
    model = train(path, columns=Columns(drop=["w", "v"])).model
    once, again = (evaluate_file(model, path, weight=name).evaluation for name in "wv")
    for name in once:
        assert (again[name].low, again[name].high) == pytest.approx((once[name].low, once[name].high)), name
    training = train(path, columns=Columns(weight="v", drop=["w"]))
    assert 0.1 < training.evaluation["accuracy"].interval.width < 0.5  # that of some 40 rows


def test_groups_make_a_training_less_sure(tmp_path):
    """25 copies of a row in one group are worth one row: what is said of them is that of the row alone."""
    columns = numbers(40, 1)
    often = {name: np.repeat(np.asarray(values), 25) for name, values in columns.items()}
    path = written(tmp_path / "grouped.csv", {**often, "g": np.repeat(np.arange(40), 25).astype(str)})
    training = train(path, columns=Columns(group="g"))
    accuracy = training.evaluation["accuracy"]
    assert training.evaluation.n_rows == 200
    assert accuracy.interval.width > 0.3  # eight rows of weight 1 have at least Wilson's 0.32
    assert "8 groups" in training.comparison.pairs[0].verdict
    # The stored model knows its groups: the same column of another file is asked for them.
    again = evaluate_file(training.model, path).evaluation
    assert "groups" in again["accuracy"].interval.method
    plain = written(tmp_path / "plain.csv", often)
    assert "groups" not in evaluate_file(training.model, plain).evaluation["accuracy"].interval.method


def test_curves_of_a_report_are_as_sure_as_was_asked_for(tmp_path):
    """The area below the ROC curve has the interval of the table, and the average precision is told."""
    path = written(tmp_path / "x.csv", numbers())
    for confidence in (0.5, 0.99):
        training = train(path, judging=Judging(confidence=confidence))
        curves = curves_of(training)
        area = training.evaluation["roc_auc"]
        assert (curves.roc[0].low, curves.roc[0].high) == (area.low, area.high)
        precision = curves.precision_recall[0]
        assert precision.low < precision.area < precision.high
    assert calibration_of(training) is not None


def test_bands_of_a_report_go_by_groups(tmp_path):
    """25 copies of a row are one row to calibration bins and average precisions, whose ends are told."""
    columns = numbers(60, 1)
    often = {name: np.repeat(np.asarray(values), 25) for name, values in columns.items()}
    path = written(tmp_path / "grouped.csv", {**often, "g": np.repeat(np.arange(60), 25).astype(str)})
    training = train(path, columns=Columns(group="g"))
    bins = calibration_of(training).bins
    # A bin of at most two of the twelve groups has at least Wilson's 0.66 of two rows; 25 rows have 0.13.
    assert max(one.high - one.low for one in bins) > 0.6
    precision = curves_of(training).precision_recall[0]
    assert precision.low <= precision.area <= precision.high
    assert precision.high - precision.low > 0.15


def test_the_point_on_a_weighted_curve_is_on_it(tmp_path):
    """Where the model cuts is a point of the weighted ROC and precision-recall curves, not beside them."""
    columns = numbers(400, 2)
    weights = np.where(np.asarray(columns["x"]) > 0.7, 5.0, 1.0)
    path = written(tmp_path / "w.csv", {**columns, "w": weights})
    curves = curves_of(train(path, columns=Columns(weight="w")))
    for curve in (curves.roc[0], curves.precision_recall[0]):
        apart = np.hypot(np.array(curve.x) - curve.point[0], np.array(curve.y) - curve.point[1])
        assert apart.min() < 1e-12


# ---- where things are -----------------------------------------------------------------------------


def test_what_is_wrong_is_told_by_its_line_whatever_the_split(tmp_path):
    """A number that is infinite is refused by the line that an editor shows, for every seed."""
    columns = {**numbers(30), "x": np.where(np.arange(30) == 3, np.inf, np.arange(30) + 0.5)}
    path = written(tmp_path / "inf.csv", columns)
    for seed in range(3):
        with pytest.raises(InputError, match=r"inf\.csv, line 5: column 'x' needs finite numbers"):
            train(path, judging=Judging(seed=seed))


def test_an_infinite_target_is_told_by_its_line(tmp_path):
    """The same of a number that is to be predicted."""
    price = np.where(np.arange(30) == 10, np.inf, np.arange(30) + 0.5)
    path = written(tmp_path / "p.csv", {"x": np.arange(30) * 1.5, "price": price})
    with pytest.raises(InputError, match=r"p\.csv, line 12: the label needs finite numbers"):
        train(path, columns=Columns(label="price"))


FLAWS = {
    "infinity": ({"x": "inf"}, {}, "column 'x' needs finite numbers"),
    "a weight below 0": ({"w": "-3"}, {"weight": "w"}, "column 'w' must be numbers of at least 0"),
    "a weight in words": ({"w": "much"}, {"weight": "w"}, "column 'w' must be numbers of at least 0"),
    "no weight": ({"w": ""}, {"weight": "w"}, "column 'w' must be numbers of at least 0"),
    "no group": ({"g": ""}, {"group": "g"}, "column 'g' has no group"),
    "a target in words": ({"y": "dear"}, {}, "column 'y' cannot be predicted as a number"),
    "an infinite target": ({"y": "inf"}, {}, "needs finite numbers"),
}


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("flaw", FLAWS)
def test_every_verb_names_a_row_by_its_line(flaw, header, tmp_path):
    """train, evaluate, predict and update say the line that an editor shows, names of columns counted or not;
    where lines and rows differ they say the row and how it is counted."""
    wrong, options, words = FLAWS[flaw]
    rows = [{"x": f"{k}.5", "w": "1", "g": f"g{k % 7}", "y": f"{2 * k + 0.25}"} for k in range(200)]
    if not header:
        numbered = {name: str(place) for place, name in enumerate("xwgy")}
        options = {role: numbered[name] for role, name in options.items()}
        for name, place in numbered.items():
            words = words.replace(f"'{name}'", f"'{place}'")
    names = dict(zip("xwgy", "xwgy" if header else "0123", strict=True))

    def file(name, rows, end="\n"):
        lines = [",".join(row[column] for column in "xwgy") for row in rows]
        path = tmp_path / name
        path.write_text("\n".join([*(["x,w,g,y"] if header else []), *lines]) + end)
        return str(path)

    reading = {"header": header}
    columns = {"label": names["y"], "drop": [] if options else [names["w"], names["g"]], **options}
    good, bad = file("good.csv", rows), file("bad.csv", [*rows[:24], {**rows[24], **wrong}, *rows[25:]])
    place = rf"bad\.csv.* line {25 + header}\b"
    with pytest.raises(InputError, match=place) as told:
        train(bad, columns=Columns(task="regression", **columns), reading=reading)
    assert words in str(told.value) or "the label" in str(told.value)
    model = train(good, columns=Columns(task="regression", **columns), reading=reading).model
    stored = str(tmp_path / "model.lineal")
    model.save(stored)
    asked = {"label": names["y"], "reading": reading, **options}
    with pytest.raises(InputError, match=place) as told:
        evaluate_file(model, bad, **asked)
    assert words in str(told.value)
    learns = {name: value for name, value in asked.items() if name != "group"}
    if flaw != "no group":
        with pytest.raises(InputError, match=place):
            update(stored, bad, n_bytes=300, **learns)
    if flaw == "infinity":
        with pytest.raises(InputError, match=place):
            list(predict(model, bad, reading=reading, n_bytes=300))
        other = file("blank.csv", [*rows[:24], {**rows[24], **wrong}], end="\n\n")
        with pytest.raises(InputError, match=r"blank\.csv.* row 24 \(the first is row 0\)"):
            evaluate_file(model, other, **asked)


def test_findings_and_mistakes_count_alike(tmp_path):
    """Both name lines where every row is one; else both count rows from 0, and say so."""
    n = 120
    texts = [f"a {'good' if k % 2 else 'bad'} film number {k}" for k in range(n)]
    labels = ["pos" if (k % 2) ^ (k % 9 == 0) else "neg" for k in range(n)]
    labels[7] = None
    path = written(tmp_path / "a.csv", {"text": texts, "label": labels})
    training = train(path)
    (finding,) = (f for f in training.findings if f.code == "label-missing")
    assert finding.lines == (9,)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    for mistake in worst_mistakes(training).examples:
        line = int(mistake.place.rpartition("line ")[2])
        assert f'"{mistake.truth}"' in lines[line - 1]
    texts[0] += "\nin two lines"
    again = train(written(tmp_path / "b.csv", {"text": texts, "label": labels}))
    (finding,) = (f for f in again.findings if f.code == "label-missing")
    assert (finding.lines, finding.rows) == ((), (7,))
    assert "table.drop(index=[7])" in finding.fix
    assert "(the first is row 0)" in worst_mistakes(again).examples[0].place
