"""An explanation as people read it: words in colour, features in a table."""

from __future__ import annotations

from typing import Any

from lineal.cli.printing import console, escaped, table
from lineal.evaluation.wording import visible
from lineal.model.explanation import shown


def show_explanation(found: Any, top: int) -> None:
    """The answer, the words with what each added, and the features behind them."""
    from rich.text import Text

    out, why, answers = console(), found.explanation, found.answers
    if found.model.task == "classification":
        out.print(f"[bold]{escaped(str(answers.labels[0]))}[/bold]{_likely(answers)}")
    else:
        out.print(f"[bold]{answers.labels[0]:.6g}[/bold]")
    if why.tokens:
        line = Text()
        for token, share in why.tokens:
            line.append(visible(token))
            style = "green" if share > 0 else "red" if share < 0 else "dim"
            line.append(f" {share:+.2f}  " if abs(share) >= 0.005 else "  ", style)
        out.print(line)
    rows = [
        [escaped(shown(term.name)), f"{term.value:.4g}", f"{term.weight:+.4g}", f"{term.contribution:+.4g}"]
        for term in why.terms[:top]
    ]
    if len(why.terms) > top:
        rest = sum(term.contribution for term in why.terms[top:])
        rows.append([f"{len(why.terms) - top} more", "", "", f"{rest:+.4g}"])
    # The smallest number there is stands for 0 in models of other libraries, where it decides between labels.
    intercept = why.intercept if abs(why.intercept) > 1e-300 else 0.0
    rows.append(["intercept", "", "", f"{intercept:+.4g}"])
    rows.append([f"score of {escaped(str(why.label))}", "", "", f"{why.score:+.4g}"])
    out.print(table(["feature", "value", "weight", "adds"], rows, right=(1, 2, 3)))


def explanation_document(found: Any, top: int) -> dict[str, Any]:
    """The same for machines."""
    why, answers = found.explanation, found.answers
    document: dict[str, Any] = {
        "prediction": answers.labels.tolist()[0],
        "label": why.label,
        "score": why.score,
        "intercept": why.intercept,
        "terms": [vars(term) for term in why.terms[:top]],
        "n_terms": len(why.terms),
        "tokens": [{"text": token, "share": share} for token, share in why.tokens],
    }
    if answers.probabilities is not None:
        names = [str(label) for label in answers.classes_.tolist()]
        document["probabilities"] = dict(zip(names, answers.probabilities[0].tolist(), strict=True))
    return document


def _likely(answers: Any) -> str:
    if answers.probabilities is None:
        return ""
    p = answers.probabilities[0]
    best = p.argsort()[::-1][:3]
    return "  " + ", ".join(f"{escaped(str(answers.classes_[k]))} {p[k]:.1%}" for k in best)
