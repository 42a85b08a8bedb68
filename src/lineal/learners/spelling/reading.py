"""From a text to a learner, without running anything but constructors of public classes.

Texts come from people and from model files, so a text may be hostile. It is cut into tokens first: how long
it is, how deep its brackets go and how many operators stand in a row are bounded before a parser with a stack
of its own is called. What the parser finds is read node by node; every node that is not listed is refused.
"""

from __future__ import annotations

import ast
import io
import keyword
import math
import tokenize
from typing import Any, NoReturn

from lineal.errors import LinealError, ParameterError
from lineal.learners.spelling.names import REQUIRED, all_names, nearest, parameters, positional, public_class
from lineal.learners.spelling.writing import TYPES

_MAX_CHARACTERS = 2**20
_MAX_BRACKETS = 32
_MAX_OPERATORS = 8  # between two separators
_LARGEST_BASE, _LARGEST_EXPONENT = 10**6, 64
_SEPARATORS = ("(", ")", "[", "]", "{", "}", ",", "=", ":")
_OPERATORS = ("-", "+", "**", ".")
_LITERALS = ("None", "True", "False")
_CONSTANTS: dict[str, Any] = {"inf": math.inf, "nan": math.nan, **TYPES}
ALLOWED = (
    "public names with arguments, such as LinearSVC(C=10) or L2(0.5), numbers, 2**22, quoted words, None, "
    "True, False, inf, nan, lists, tuples, dicts and sets"
)


class NotAValueError(ParameterError):
    """A text that is not in the language; an option may take it as a word."""


def build(text: str) -> Any:
    """The learner that a text names; a class alone, without brackets, has its defaults.

    Parameters
    ----------
    text : str
        As :func:`spell` writes it, or by hand: ``Bagging(LinearSVC(C=10), n_models=5)``. Names may say their
        module, ``objective.ElasticNet(0.1, 0.2)``; after ``loss=`` and ``penalty=`` they need not.

    Returns
    -------
    an estimator, a transformer or a value object

    Raises
    ------
    ParameterError
        For everything else, with its place and what is allowed.

    Examples
    --------
    >>> build("LinearClassifier(loss=SquaredHinge(), penalty=ElasticNet(l1=0.1, l2=0.2))").penalty
    ElasticNet(l1=0.1, l2=0.2)
    """
    made = value_of(text)
    if not _is_public(made):
        raise ParameterError(f"{_cut(text)} is a value, not a learner. Name one, such as LinearSVC(C=10).")
    return made


def value_of(text: str, parameter: str = "") -> Any:
    """The value that a text means for a parameter; NotAValueError if it is not in the language."""
    if not isinstance(text, str):
        raise ParameterError(f"a learner is spelled as text, but a {type(text).__name__} came.")
    text = text.strip()
    _scan(text)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        where = "" if error.offset is None else f" at character {error.offset}"
        raise NotAValueError(
            f"{_cut(text)} cannot be read{where}: {error.msg}. Allowed are {ALLOWED}."
        ) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise NotAValueError(f"{_cut(text)} cannot be read. Allowed are {ALLOWED}.") from error
    return _Reader(text).value(tree.body, parameter)


def _is_public(made: Any) -> bool:
    return type(made).__module__.startswith("lineal.")


def _scan(text: str) -> None:
    """Refuses texts that would be deep, before they are parsed."""
    if len(text) > _MAX_CHARACTERS:
        raise ParameterError(f"the text has {len(text)} characters; {_MAX_CHARACTERS} are allowed.")
    depth = operators = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            word = token.string
            if token.type == tokenize.OP:
                if word not in _SEPARATORS + _OPERATORS:
                    _refuse(text, token.start[1], word)
                depth += (word in "([{") - (word in ")]}")
                operators = operators + 1 if word in _OPERATORS else 0
            elif token.type == tokenize.NAME and keyword.iskeyword(word) and word not in _LITERALS:
                _refuse(text, token.start[1], word)
            if depth > _MAX_BRACKETS or operators > _MAX_OPERATORS:
                raise NotAValueError(
                    f"{_cut(text)} is too deep: {_MAX_BRACKETS} brackets inside each other and "
                    f"{_MAX_OPERATORS} operators in a row are allowed."
                )
    except (tokenize.TokenError, SyntaxError) as error:
        raise NotAValueError(
            f"{_cut(text)} is not complete: {error.args[0]}. Allowed are {ALLOWED}."
        ) from error


class _Reader:
    """Reads the nodes of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, node: ast.expr, parameter: str = "") -> Any:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() as constant):
                return constant
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                number = self._number(operand)
                return -number if isinstance(node.op, ast.USub) else number
            case ast.BinOp(op=ast.Pow()):
                return self._power(node)
            case ast.List() | ast.Tuple() | ast.Set():
                return self._collection(node, parameter)
            case ast.Dict(keys=keys, values=values):
                return self._dict(node, keys, values, parameter)
            case ast.Name(id=name) if name in _CONSTANTS:
                return _CONSTANTS[name]
            case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
                return set()
            case ast.Call(func=function):
                return self._made(node, self._named(function, parameter))
            case ast.Name() | ast.Attribute():
                return self._made(ast.Call(node, [], []), self._named(node, parameter))
        return self._refuse(node)

    def _number(self, node: ast.expr) -> Any:
        value = self.value(node)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(node)
        return value

    def _power(self, node: ast.BinOp) -> Any:
        base, exponent = self._number(node.left), self._number(node.right)
        if not (abs(base) <= _LARGEST_BASE and abs(exponent) <= _LARGEST_EXPONENT):
            self._refuse(node)
        try:
            power = base**exponent
        except (ZeroDivisionError, OverflowError):
            self._refuse(node)
        return self._refuse(node) if isinstance(power, complex) else power

    def _collection(self, node: ast.List | ast.Tuple | ast.Set, parameter: str) -> Any:
        values = [self.value(one, parameter) for one in node.elts]
        if isinstance(node, ast.List):
            return values
        try:
            return tuple(values) if isinstance(node, ast.Tuple) else set(values)
        except TypeError:  # of a list in a set
            return self._refuse(node)

    def _dict(
        self, node: ast.expr, keys: list[ast.expr | None], values: list[ast.expr], parameter: str
    ) -> dict[Any, Any]:
        if None in keys:  # of **
            self._refuse(node)
        found = [self.value(key) for key in keys if key is not None]
        try:
            return dict(zip(found, (self.value(one, parameter) for one in values), strict=True))
        except TypeError:
            return self._refuse(node)

    def _named(self, node: ast.expr, parameter: str) -> type:
        parts: list[str] = []
        inner = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            self._refuse(node)
        name = ".".join([inner.id, *reversed(parts)])
        kind = public_class(name, parameter)
        if kind is None:
            known = all_names()
            raise NotAValueError(
                f"there is no {_cut(name)} to call, at character {node.col_offset + 1} of {_cut(self._text)}."
                f"{nearest(name, known)} There are {', '.join(known)}."
            )
        return kind

    def _made(self, node: ast.Call, kind: type) -> Any:
        known, places = parameters(kind), positional(kind)
        name = kind.__name__
        if len(node.args) > len(places):
            some = f"takes {len(places)} arguments without a name ({', '.join(places)})" if places else ""
            raise ParameterError(
                f"{name} {some or 'takes arguments by name only'}, but {len(node.args)} came in "
                f"{_cut(self._text)}. It has {', '.join(known) or 'no options'}."
            )
        arguments = {place: self.value(one, place) for place, one in zip(places, node.args, strict=False)}
        for one in node.keywords:
            if one.arg is None or one.arg in arguments:
                self._refuse(one.value, "" if one.arg is None else f"{one.arg} is given twice. ")
            if one.arg not in known:
                raise ParameterError(
                    f"{name} has no option {one.arg!r}.{nearest(one.arg, known)} "
                    f"It has {', '.join(known) or 'none'}."
                )
            arguments[one.arg] = self.value(one.value, one.arg)
        lacking = [one for one, default in known.items() if default is REQUIRED and one not in arguments]
        if lacking:
            raise ParameterError(f"{name} needs {', '.join(lacking)}, as in {name}({lacking[0]}=...).")
        try:
            return kind(**arguments)
        except LinealError:
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ParameterError(f"{name} cannot be made of these arguments: {error}.") from error

    def _refuse(self, node: ast.expr, why: str = "") -> NoReturn:
        shown = ast.get_source_segment(self._text, node) or type(node).__name__
        _refuse(self._text, node.col_offset, shown, why)


def _refuse(text: str, place: int, shown: str, why: str = "") -> NoReturn:
    raise NotAValueError(
        f"{_cut(shown)} at character {place + 1} of {_cut(text)} is not allowed. {why}Allowed are {ALLOWED}."
    )


def _cut(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
