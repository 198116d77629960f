"""Finding the program in a response, completing it, and telling whether two programs are the same."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Hashable
from functools import lru_cache
from textwrap import dedent, indent
from typing import Any

MAX_PROGRAM = 1 << 16
"""Longest program (characters) that is parsed; a longer one is compared as text."""
# Possessive quantifiers, so that a long line costs no more than its length.
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)[^`]*+")
_PYTHON = ("python", "python3", "py")


def find_program(text: str) -> str | None:
    """The program in a text, or None: the text itself if it is one, else what stands in its last fenced block.

    A text is a program if it parses and does something (`is_program`). A block begins with a line ``` or ```python and
    ends with a line ```; a block of Python goes before one without a language, other languages do not count, nor does a
    block that is blank or has no end.
    """
    if is_program(text):
        return text
    blocks = [(language, block) for language, block in _fenced_blocks(text) if block.strip()]
    for accepted in (_PYTHON, ("",)):
        if found := [block for language, block in blocks if language in accepted]:
            return found[-1]
    return None


def _fenced_blocks(text: str) -> list[tuple[str, str]]:
    """(language, content) of each complete block. A line that names a language begins a new one even within one."""
    blocks: list[tuple[str, str]] = []
    mark, language, margin = "", "", 0
    lines: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence and not fence[1].startswith(mark):  # within a block, a shorter fence is content
            fence = None
        if fence and mark and not fence[2]:
            blocks.append((language, "\n".join(lines)))
            mark = ""
        elif fence:
            mark, language, margin, lines = fence[1], fence[2].lower(), len(line) - len(line.lstrip(" \t")), []
        elif mark:
            lines.append(line[margin:] if not line[:margin].strip() else line)
    return blocks


def fenced(program: str) -> str:
    """A block that `find_program` finds, whatever stands in the program."""
    longest = max((len(run) for run in re.findall("`+", program)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}python\n{program}\n{mark}"


def is_program(text: str) -> bool:
    """Whether a text is Python that does something. What parses by chance is prose: `Yes`, `42`, `Answer: none`."""
    tree = _parse_indented(text)
    return tree is not None and any(map(_does_something, tree.body))


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    return not isinstance(statement, ast.AnnAssign) or statement.value is not None


def same_program_key(program: str) -> Hashable:
    """Equal for programs that differ only in comments and white space; for text that does not parse, in white space."""
    tree = _parse_indented(program)
    try:
        return " ".join(program.split()) if tree is None else _flat(tree)
    except ValueError:  # a number of too many digits to be written out
        return program


def _flat(tree: ast.Module) -> tuple[Any, ...]:
    """The kinds, lists and values of a syntax tree in order. Says as much as `ast.dump`, in a quarter of its time."""
    flat: list[Any] = []
    left: list[Any] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.AST):
            flat.append(type(node))
            left += [getattr(node, field, None) for field in node._fields]
        elif isinstance(node, list):
            flat.append(len(node))
            left += node
        else:
            flat.append(repr(node))
    return tuple(flat)


def complete_program(program: str, prelude: str, entry_point: str | None) -> str:
    """What is run: the program after its prelude, which is empty or ends with a line feed.

    The prelude may be the beginning of the function `entry_point`. A program that does not define that function, or
    returns outside of any, is then the rest of its body, indented or not.
    """
    tree = _parse_indented(program)
    if _defines(_parse(prelude), entry_point) and (not _defines(tree, entry_point) or _returns(tree)):
        return prelude + _as_body(program, prelude)
    flat = dedent(program) if _starts_indented(program) else program
    return flat if _imports_future(tree) else prelude + flat


def _as_body(program: str, prelude: str) -> str:
    """The rest of a function, indented. Its first line alone may have lost its indentation."""
    if _starts_indented(program):
        return program
    indented = indent(program, "    ")
    return indented if _parse(prelude + indented) is not None else f"    {program}"


def _starts_indented(program: str) -> bool:
    return program.lstrip("\n")[:1] in (" ", "\t")


def _parse_indented(text: str) -> ast.Module | None:
    """The syntax tree of a text that may be indented as a whole, comments aside."""
    tree = _parse(text)
    if tree is None and _starts_indented(text) and (block := _parse(f"if 1:\n{text}")) is not None:
        first, *others = block.body
        if isinstance(first, ast.If) and not first.orelse:
            return ast.Module([*first.body, *others], [])
    return tree


def _defines(tree: ast.Module | None, name: str | None) -> bool:
    """Whether there is a function, a variable or an import of this name, wherever it stands."""
    if tree is None or name is None:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) == name:
            return True
    return False


def _returns(tree: ast.Module | None) -> bool:
    """Whether there is a `return` outside of any function."""
    left: list[ast.AST] = [] if tree is None else [*tree.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += ast.iter_child_nodes(node)
    return False


def _imports_future(tree: ast.Module | None) -> bool:
    """Whether there is an import that nothing may stand before."""
    statements = [] if tree is None else tree.body
    return any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in statements)


@lru_cache(maxsize=8)  # an answer is looked at several times in a row
def _parse(program: str) -> ast.Module | None:
    """The syntax tree; None if there is none, or only one that is too long or too deep."""
    if len(program) > MAX_PROGRAM:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of doubtful code, such as "\d"
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # ValueError: null bytes, half a surrogate pair
        return None
