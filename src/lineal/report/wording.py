"""How to read each section, and what scores mean, for readers who are no experts."""

from __future__ import annotations

HOW_TO_READ = {
    "result": (
        "Each number was measured on rows that the model had not seen. The interval beside it says how far "
        "the true value may plausibly lie from it; the baseline is what knowing nothing would get you."
    ),
    "comparison": (
        "All models saw the same rows. Where two intervals hardly overlap the models differ; the verdicts "
        "below test each pair, since overlapping intervals alone do not mean a tie."
    ),
    "classes": (
        "Precision: of the rows that were given this label, how many have it. Recall: of the rows that "
        "have this label, how many were given it. F1 is their harmonic mean: high only if both are."
    ),
    "confusion": (
        "A row of the table is a true label, a column a predicted one. Numbers on the diagonal are right; "
        "the others show what was taken for what."
    ),
    "curves": (
        "The model ranks rows by how surely they have the label looked for; where to cut is your choice. A "
        "curve shows what every cut would give; the nearer to the corner it bends to, the better the "
        "ranking."
    ),
    "calibration": (
        "When the model says 80 %, is it right 8 times out of 10? Dots on the diagonal say yes. Below it "
        "the model is too sure of itself, above it too modest."
    ),
    "regression": (
        "Left: the nearer to the diagonal, the better. Right: errors should look like noise around 0, "
        "alike everywhere; a bend or a funnel is something the model has not understood."
    ),
    "mistakes": (
        "The rows that the model got wrong and was surest of. They show what it has not learnt, and often "
        "labels that are wrong in the data."
    ),
    "far-off": (
        "The rows whose predictions are furthest from the truth. They show what the model has not learnt, "
        "and often numbers that are wrong in the data."
    ),
    "features": (
        "The model adds up a weight for every feature that it finds in a row. These are the heaviest: what "
        "it looks for. A surprising one here is often a leak or a peculiarity of your data."
    ),
    "learning": (
        "Is it worth labelling more? If the lower line still climbs at its right end, more rows will help. "
        "If both lines have met, a richer model or better features would."
    ),
    "strengths": (
        "The penalty holds weights back: too little and the model learns noise by heart, too much and it "
        "learns nothing. The strength was chosen on rows held out of training, never on the test rows."
    ),
    "trials": (
        "What was tried on held-out parts of the training rows before the model was trained on all of them."
    ),
    "data": "What was read, what each column was taken for, and why.",
    "problems": "What looks wrong in the data, where it is and what to do about it.",
    "model": "What was trained, and where it is.",
    "proof": (
        "Training means minimising a number. A second number, computed independently, is proved to lie "
        "below every value that any weights can reach; the gap between both is the most that this model "
        "can be improved in training."
    ),
    "reproduce": "The same data, command, seed and versions give the same model.",
}

_MEANINGS = {
    "accuracy": "the share of rows given their true label",
    "balanced accuracy": "accuracy if all labels were equally frequent",
    "precision": "of rows given a label, the share that has it",
    "recall": "of rows with a label, the share that was given it",
    "f1": "the harmonic mean of precision and recall",
    "matthews correlation": "0 is guessing, 1 is perfect; fair to rare labels",
    "roc auc": "how often a row with the label is ranked above one without; 0.5 is guessing",
    "average precision": "the area below the precision-recall curve",
    "log loss": "the price of probabilities: sure and wrong costs most",
    "brier score": "the mean squared error of probabilities",
    "calibration error": "how far probabilities are from observed shares, on average",
    "r²": "the share of the variation that is explained; 0 is predicting the mean",
    "r2": "the share of the variation that is explained; 0 is predicting the mean",
    "mean absolute error": "how far predictions are off on average",
    "median absolute error": "half of the predictions are off by less",
    "root mean squared error": "a typical error, large ones counting more",
    "rmse": "a typical error, large ones counting more",
    "mae": "how far predictions are off on average",
    "mean squared error": "errors squared, on average: large ones count most",
    "mean error": "whether predictions are too low or too high on the whole; 0 is best",
    "spearman correlation": "whether rows are ranked in the right order; 1 is perfect",
    "pearson correlation": "how well predictions follow the truth along a line; 1 is perfect",
}


def meaning(name: str) -> str:
    """What a score says in plain words; nothing for one that is not known.

    "accuracy = micro F1" and "F1 (macro)" are known by what stands first.
    """
    known = name.lower().split(" = ")[0]
    if known in _MEANINGS:
        return _MEANINGS[known]
    found = _MEANINGS.get(known.split(" (")[0], "")
    return f"{found}, the mean over labels" if found and "(macro)" in known else found
