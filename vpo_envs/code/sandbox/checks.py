"""Check code of a data set, rewritten so that each of its assert statements is a test of its own."""

from __future__ import annotations

import ast

from vpo_envs.code.sandbox.limits import Check


def make_check(setup: str, source: str, most: int = 16) -> Check:
    """A check from code that defines `check(candidate)`, whose first `most` assert statements become tests.

    Assert i passes if it was evaluated at least once and was true each time; an exception in it makes it false. After a
    false one the check goes on. An exception elsewhere ends the check: then asserts that were not reached fail, and so
    do those in loops and helper functions, whose evaluations may not be complete. Asserts beyond the first `most` are
    left out. `setup` defines helpers; a name that it does not define and that is the program's entry point stands for
    the candidate.

    Raises:
        ValueError: the code does not parse, has no assert statement, or no `check` that uses its parameter.
    """
    trees = []
    for name, code in (("setup", setup), ("check code", source)):
        try:
            trees.append(ast.parse(code))
            compile(trees[-1], f"<{name}>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"the {name} does not parse: {error}") from error
    tree = trees[1]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if not functions:
        raise ValueError("the check code does not define check(candidate) at its top level")
    parameters = {node.arg for node in ast.walk(functions[-1].args) if isinstance(node, ast.arg)}
    is_used = any(isinstance(node, ast.Name) and node.id in parameters for node in ast.walk(functions[-1]))
    rewrite = _Reports(most)
    rewritten = ast.fix_missing_locations(rewrite.visit(tree))
    if not rewrite.found:
        raise ValueError("the check code has no assert statement")
    if not is_used:
        raise ValueError("check never uses its parameter, so that every program would pass it")
    return Check(setup, ast.unparse(rewritten), min(rewrite.found, most))


_TEMPLATE = """
try:
    __truth__ = bool(...)
except Exception:
    __truth__ = False
__report__({number}, __truth__, {once})
"""


class _Reports(ast.NodeTransformer):
    """Turns `assert x` into `__truth__ = bool(x)` and a report of it, and of whether it stands where it runs once."""

    def __init__(self, most: int) -> None:
        self.most, self.found, self.repeated, self.functions = most, 0, 0, 0

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt] | ast.stmt:
        number, self.found = self.found, self.found + 1
        if number >= self.most:
            return ast.copy_location(ast.Pass(), node)
        once = self.repeated == 0 and self.functions <= 1
        attempt, report = ast.parse(_TEMPLATE.format(number=number, once=once)).body
        for call in ast.walk(attempt):
            if isinstance(call, ast.Call):  # bool(...)
                call.args = [node.test]
                break
        return [attempt, report]

    def _again(self, node: ast.AST) -> ast.AST:
        self.repeated += 1
        self.generic_visit(node)
        self.repeated -= 1
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        inside_check = self.functions == 0 and node.name == "check"
        self.functions += 1 if inside_check else 2
        self.generic_visit(node)
        self.functions -= 1 if inside_check else 2
        return node

    visit_For = visit_AsyncFor = visit_While = _again
    visit_FunctionDef = visit_AsyncFunctionDef = _function
