"""Answers as text: ``10*(k0+k1)``, ``mean(k0, k1)``, ``k2/norm(k2)``, ``1,2,3``, ``0``.

The text is parsed, never executed: only the nodes named here mean anything, and everything else is
refused with its place. A value is a number, a vector or a matrix (rows of vectors).
"""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from attnlab.errors import UserError, did_you_mean
from attnlab.geometry.instance import LARGEST, Instance
from attnlab.geometry.shapes import Vector

Value = float | np.ndarray
"""A number, a vector or a matrix."""

LONGEST = 300
LARGE_NUMBER = 1e6
"""What S stands for."""
TYPOGRAPHY = str.maketrans("−–·×∗\n\t", "--***  ")  # as pasted from a document
ALLOWED = "Allowed: numbers, [..], + - * /, parentheses, mean, sum, norm, dot and the names"
KINDS = ("a number", "a vector", "a matrix")


def names_of(instance: Instance) -> dict[str, Value]:
    """Give what an answer may speak of: k0 …, v0 …, K, V and the large number S."""
    names: dict[str, Value] = {"K": instance.keys, "V": instance.values, "S": LARGE_NUMBER}
    for i in range(instance.n_tokens):
        names[f"k{i}"], names[f"v{i}"] = instance.keys[i], instance.values[i]
    return names


def evaluate(text: str, names: Mapping[str, Value], *, what: str = "answer") -> Value:
    """Work out an expression; what is not in the grammar is a user's mistake."""
    answer = _Answer(text, names, what)
    try:
        with np.errstate(all="ignore"):
            value = answer.value(answer.tree)
    except RecursionError:
        raise answer.error(0, "too deeply nested") from None
    if not (np.abs(value) <= LARGEST).all():
        raise UserError(f"the {what} {text!r} is too large or not a number at all: {value}.")
    return value


def vector_of(text: str, names: Mapping[str, Value], *, width: int, what: str) -> Vector:
    """Read one vector."""
    row: np.ndarray = as_rows(evaluate(text, names, what=what), rows=1, width=width, what=what)[0]
    return row


def split_scale(text: str, names: Mapping[str, Value]) -> tuple[float, str]:
    """Take ``10*(k0+k1)`` apart into 10 and ``(k0+k1)``; else the scale is 1."""
    head, star, rest = _typed(text).partition("*")
    try:
        scale = evaluate(head, names) if star else 1.0
        if np.ndim(scale) or not np.allclose(
            np.multiply(scale, evaluate(rest, names)), evaluate(text, names)
        ):
            return 1.0, text
    except UserError:
        return 1.0, text
    return float(scale), rest.strip()


def is_constant(text: str) -> bool:
    """Say whether an expression that can be worked out consists of numbers alone."""
    tree = ast.parse(_typed(text), mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names <= FUNCTIONS.keys()


def as_factor(text: str) -> str:
    """Put parentheses around an expression where they are needed to multiply it."""
    body = ast.parse(_typed(text), mode="eval").body
    is_sum = isinstance(body, ast.BinOp) and isinstance(body.op, ast.Add | ast.Sub)
    has_none_yet = body.col_offset == 0  # else it begins after a parenthesis
    needs = is_sum or isinstance(body, ast.UnaryOp | ast.Tuple)
    return f"({_typed(text)})" if needs and has_none_yet else _typed(text)


def _typed(text: str) -> str:
    """Write with the characters of a keyboard."""
    return text.translate(TYPOGRAPHY).strip()


def as_rows(
    value: Value, *, rows: int, width: int, what: str = "answer"
) -> Float[np.ndarray, "R D"]:
    """Take a value as ``rows`` vectors; 0 stands for vectors of zeros."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0 and array == 0:
        return np.zeros((rows, width))
    if array.ndim == 1 and rows == 1:
        array = array[None]
    if array.shape != (rows, width):
        wanted = f"a vector of {width}" if rows == 1 else f"a matrix of {rows} rows of {width}"
        raise UserError(f"the {what} is {describe(value)}, but must be {wanted} numbers.")
    return array


def describe(value: Value) -> str:
    """Say what kind of value it is."""
    array = np.asarray(value)
    size = f" of {' × '.join(map(str, array.shape))}" if array.ndim else f", {value:g}"
    return KINDS[array.ndim] + size


class _Answer:
    """One text with its names, so that an error can point into it."""

    def __init__(self, text: str, names: Mapping[str, Value], what: str) -> None:
        self.text, self.names, self.what = _typed(text), names, what
        if not self.text or len(self.text) > LONGEST:
            raise UserError(
                f"{_article(self.what)} has 1 to {LONGEST} characters, this one {len(self.text)}."
                " Give an expression such as 10*(k0+k1)."
            )
        for column, character in enumerate(self.text):
            if not (character.isascii() and character.isprintable()):
                raise self.error(column, f"the character {character!r} means nothing here")
        self.tree = self._parsed()

    def _parsed(self) -> ast.expr:
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.parse(self.text, mode="eval").body
        except SyntaxError as problem:
            raise self.error(max((problem.offset or 1) - 1, 0), "no expression") from None
        except (RecursionError, MemoryError):
            raise self.error(0, "too deeply nested") from None

    def error(self, column: int, problem: str) -> UserError:
        """Point at a column, counted from 1."""
        named = ", ".join(name for name in self.names if not name[1:] or name[1:] == "0")
        last = max((int(name[1:]) for name in self.names if name[1:].isdigit()), default=0)
        return UserError(
            f"{self.what} {self.text!r}, column {column + 1}: {problem}. {ALLOWED} {named}"
            f" (… up to k{last}, v{last})."
        )

    def value(self, node: ast.expr) -> Value:
        """Work out a node, or point at it."""
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._number(node, number)
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name):
                hint = did_you_mean(name, self.names)
                raise self.error(node.col_offset, f"{name!r} is not known.{hint}".rstrip("."))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
                return -self.value(inner) if isinstance(sign, ast.USub) else self.value(inner)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return self._combined(node, type(op), self.value(left), self.value(right))
            case ast.List(elts=items) | ast.Tuple(elts=items) if items:
                return self._stacked(node, [self.value(item) for item in items])
            case ast.Call(func=ast.Name(id=name), args=items, keywords=[]) if name in FUNCTIONS:
                return self._called(node, name, [self.value(item) for item in items])
        raise self.error(node.col_offset, f"{ast.unparse(node)!r} is not in the grammar")

    def _number(self, node: ast.expr, number: float) -> float:
        if not abs(number) <= LARGEST:
            raise self.error(node.col_offset, f"a number beyond {LARGEST:g}")
        return float(number)

    def _combined(self, node: ast.BinOp, op: type, left: Value, right: Value) -> Value:
        shapes = np.shape(left), np.shape(right)
        sign, both = OPERATORS[op][0], f"{describe(left)} and {describe(right)}"
        if op in (ast.Add, ast.Sub) and shapes[0] != shapes[1]:
            raise self.error(node.col_offset, f"{both} do not go together with {sign!r}")
        if op is ast.Mult and all(shapes):
            raise self.error(node.col_offset, f"{both} are not multiplied: write dot(x, y)")
        if op is ast.Div and (shapes[1] or right == 0):
            raise self.error(node.col_offset, f"{describe(right)} cannot divide")
        result: Value = OPERATORS[op][1](left, right)
        return result

    def _stacked(self, node: ast.expr, items: list[Value]) -> Value:
        if len({np.shape(item) for item in items}) > 1 or np.ndim(items[0]) > 1:
            raise self.error(node.col_offset, "a list holds numbers, or vectors of one length")
        return np.array(items, dtype=float)

    def _called(self, node: ast.expr, name: str, items: list[Value]) -> Value:
        allowed, function = FUNCTIONS[name]
        if not items or len({np.shape(item) for item in items}) > 1 or not allowed(items):
            given = ", ".join(describe(item) for item in items) or "nothing"
            raise self.error(node.col_offset, f"{name} cannot take {given}")
        result: Value = function(items)
        return result


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _vectors(count: int) -> Callable[[list[Value]], bool]:
    return lambda items: len(items) == count and np.ndim(items[0]) == 1


def _several(items: list[Value]) -> bool:
    """Several values of one shape, or the rows of one list or matrix."""
    return len(items) > 1 or np.ndim(items[0]) > 0


def _total(items: list[Value]) -> Value:
    total: Value = np.asarray(items[0] if len(items) == 1 else items).sum(axis=0)
    return total


def _mean(items: list[Value]) -> Value:
    return _total(items) / (len(items) if len(items) > 1 else len(np.atleast_1d(items[0])))


OPERATORS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
}
FUNCTIONS: dict[str, tuple[Callable[[list[Value]], bool], Callable[[list[Any]], Any]]] = {
    "mean": (_several, _mean),
    "sum": (_several, _total),
    "norm": (_vectors(1), lambda items: float(np.linalg.norm(items[0]))),
    "dot": (_vectors(2), lambda items: float(items[0] @ items[1])),
}
