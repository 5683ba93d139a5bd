"""nox: what its test session would run, read from the source of `noxfile.py`, which is not run.

As with tox, its commands are run in the environment that we prepare, after what it would install.
"""

import ast
import shlex
from collections.abc import Iterator, Sequence

from domain.script_lines import Kind, for_tests, taken
from domain.tables import Contents
from domain.workflows import Tested

FILE = "noxfile.py"
RUN = frozenset({"run", "run_always"})
UNKNOWN = "${{"
"""Begins a word that is no constant, as an expression does in CI."""


def in_nox(contents: Contents) -> Tested | None:
    """The first session with a test: those that nox runs by default, in the order of the file."""
    try:
        module = ast.parse(contents.get(FILE, b""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    default = _default(module)
    sessions = [
        (name, session) for name, session in _sessions(module) if not default or name in default
    ]
    found = [_tested(name, session) for name, session in sessions]
    best = [one for one in found if one.commands] or [one for one in found if one.left_out]
    return next(iter(best), None)


def _tested(name: str, session: ast.FunctionDef) -> Tested:
    commands: list[tuple[Kind, str]] = []
    left_out: list[str] = []
    requirements: list[str] = []
    for method, words in _calls(session):
        if method == "install":
            requirements += [word for word in words if not word.startswith(UNKNOWN)]
        elif method in RUN:
            said = taken(" ".join(map(_quoted, words)))
            commands += said.commands
            left_out += said.left_out
    return Tested(
        place=f"session {name} of {FILE}",
        commands=for_tests(commands),
        left_out=tuple(left_out),
        requirements=tuple(requirements),
    )


def _sessions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in module.body:
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(call).rpartition(".")[2] == "session":
                keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                named = [_constant(word.value) for word in keywords if word.arg == "name"]
                yield next(iter(named), "") or node.name, node


def _default(module: ast.Module) -> frozenset[str]:
    """Of `nox.options.sessions = [...]`; nothing when it is not written so."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "nox.options.sessions":
            return frozenset(_words([ast.Starred(node.value)]))
    return frozenset()


def _calls(session: ast.FunctionDef) -> Iterator[tuple[str, list[str]]]:
    """Its `session.run(...)` and the like, in their order."""
    own = session.args.args[0].arg
    calls = [node for node in ast.walk(session) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        function = call.func
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) == own:
            yield function.attr, _words(call.args)


def _words(arguments: Sequence[ast.expr]) -> list[str]:
    """Constant words; what a person adds on the command line (`session.posargs`) is nothing."""
    words: list[str] = []
    for argument in arguments:
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        if isinstance(inner, ast.BoolOp):  # session.posargs or ["tests"]
            inner = inner.values[-1]
        if isinstance(inner, ast.List | ast.Tuple):
            words += _words(inner.elts)
        elif not ast.unparse(inner).endswith(".posargs"):
            words.append(_constant(inner) or f"{UNKNOWN} {ast.unparse(inner)} }}}}")
    return words


def _quoted(word: str) -> str:
    return word if word.startswith(UNKNOWN) else shlex.quote(word)


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
