"""Lines of a script that somebody else runs (a CI job, tox): which of them test, and which can be run here.

Taken are lines that are known to test, what builds for them, and `cd` and `export` on the way; anything else
is not ours to run. What tests and cannot be run is named with the reason.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Literal

from domain.value import Value

PYTHON = r"(?:python -m )?"
TEST = re.compile(
    rf"{PYTHON}(?:pytest|py\.test|unittest|nose2|twisted\.trial|coverage run|stestr run)\b"
    r"|trial\b|nosetests\b|python manage\.py test\b|python -m django test\b"
    r"|(?:npm|pnpm|yarn|bun)(?: run)?(?: -s)? (?:t|tst|tests?(?:[:-][\w:-]+)?)(?=\s|$)"
    r"|(?:npx |pnpm exec |yarn )?(?:jest|vitest|mocha|ava)\b|node (?:--\S+ )*--test\b|deno test\b"
    r"|go test\b|gotestsum\b|cargo (?:test\b|nextest run\b)"
    r"|(?:\./)?mvnw? (?:.* )?(?:test|verify)(?=\s|$)|(?:\./)?gradlew? (?:.* )?(?:test|check)(?=\s|$)"
    r"|(?:make|just|ninja|meson|sbt|lein|stack|cabal|dune|mix|dotnet|swift|dart|flutter|bazel|composer|rake)"
    r" (?:-\S+ )*(?:test|tests|check|runtest)(?=\s|$)"
    r"|ctest\b|(?:bundle exec )?(?:rspec|rake (?:test|spec))\b|(?:\./)?vendor/bin/phpunit\b|phpunit\b"
    r"|zig build test\b|rebar3 (?:eunit|ct)\b|prove\b|bats\b|busted\b"
)
BUILD = re.compile(
    r"(?:\./)?(?:configure|autogen\.sh|bootstrap\.sh)\b|autoreconf\b|cmake\b|meson (?:setup|compile)\b"
    r"|ninja(?: -\S+)*$|make(?: -\S+)*(?: all| build)?$"
    r"|(?:npm|pnpm|yarn) (?:run )?(?:build|compile)(?=\s|$)|npx tsc\b"
    r"|(?:go|cargo) build\b|python setup\.py build_ext\b"
)
PREPARED = re.compile(
    r"^(?:poetry|pdm|pipenv|rye) run |^uv run (?:(?:--(?:extra|group|only-group|with|python|package)[ =]\S+|--?[\w-]+) )*"
)
"""These put a command into an environment of their own; it is run in ours."""

NO_TEST = re.compile(
    r"--(?:collect-only|co|no-run|help|version|list|listTests)\b|-DskipTests|-x test\b|maven\.test\.skip"
)
DELIVERS = re.compile(r"(?:\w+:)?(?:deploy|publish|release|upload)", re.IGNORECASE)
GOALS = re.compile(r"(?:\./)?(?:mvnw?|gradlew?|make|just|npm|pnpm|yarn|rake|sbt)\b")
OWN_ENVIRONMENTS = re.compile(rf"(?:{PYTHON}(?:tox|nox)\b|hatch (?:run|test)\b)")

MOST_CHARACTERS = 20_000
"""Of one script: what is longer is not written by people, and its end is not read."""

EXPRESSION = re.compile(r"\$\{\{.{0,200}?\}\}|<<.{0,200}?>>")
KNOWN_VARIABLES = re.compile(r"\$\((?:nproc|pwd)\)|\$(?:PWD|HOME)\b|\$\{(?:PWD|HOME)\}")
PIECE = re.compile(
    r"""((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|\$\([^()]*\)|(?<=>)&|[^&;|"'\\])+)|(&&|\|\||[;&|])"""
)
ASSIGNMENTS = re.compile(r"(?:\w+=\S* +)*")
STRUCTURE = re.compile(
    r"(?:if|for|while|until|case|function|select)\b|[({]|.*<<|(?:cd|pushd|popd)\b"
)
"""The lines around are run never, more than once, or elsewhere."""

WAY = re.compile(r"cd +[\w./-]+$|export +\w+=[^\s$`]*$|set +[-+][\w ]+$")

UNCLEAR = "the script around it has conditions or loops, or goes to a folder that is not known here"

Kind = Literal["test", "build"]


class Taken(Value):
    """What of a script is to be run, and what is not though it tests."""

    commands: tuple[tuple[Kind, str], ...] = ()
    left_out: tuple[str, ...] = ()
    """Each with its reason."""


def taken(script: str) -> Taken:
    """The tests and builds of a script that ends at its first failure, as one command of each kind."""
    way: list[str] = []
    commands: list[tuple[Kind, str]] = []
    left_out: list[str] = []
    lines = lines_of(script)
    unclear = any(
        STRUCTURE.match(part) and not WAY.match(part) for line in lines for part in _parts(line)
    )
    for line in lines:
        parts = _parts(line)
        tests = [
            part for part in parts if _kind(part) == "test" or OWN_ENVIRONMENTS.match(_bare(part))
        ]
        why = unfit(line) or (UNCLEAR if unclear else "")
        if why:
            left_out += [f"`{line}`: {why}"] if tests else []
            continue
        for part in parts:
            kind = _kind(part)
            if WAY.match(part):
                way.append(part)
            elif kind:
                commands.append((kind, " && ".join((*way, _ours(part)))))
    return Taken(commands=tuple(commands), left_out=tuple(left_out))


def lines_of(script: str) -> list[str]:
    """Its lines without comments, those joined that a backslash continues."""
    joined = re.sub(r" ?\\\n\s*", " ", script[:MOST_CHARACTERS])
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line]


def for_tests(commands: Iterable[tuple[Kind, str]]) -> tuple[str, ...]:
    """The commands up to the last test, each once; none without a test."""
    listed = list(commands)
    last = max((n for n, (kind, _) in enumerate(listed) if kind == "test"), default=-1)
    return tuple(dict.fromkeys(command for _, command in listed[: last + 1]))


def placed(command: str, folder: str, variables: Mapping[str, str]) -> str:
    """The command in a folder below the root, and with variables."""
    way = [f"cd {shlex.quote(folder)}"] if folder not in {"", "."} else []
    way += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    return " && ".join((*way, command))


def unfit(line: str) -> str:
    """Why a line cannot be run here as it stands; an empty word when it can."""
    if found := EXPRESSION.search(line):
        return f"{found[0]} is not known here"
    if OWN_ENVIRONMENTS.match(_bare(line)):
        return "it makes environments of its own, and what it runs there could not be read"
    rest = KNOWN_VARIABLES.sub("", line)
    if found := re.search(r"\$\([^)]*\)?|\$\{?\w+\}?|`[^`]*`", rest):
        return f"{found[0]} is not known here"
    try:
        shlex.split(line)
    except ValueError:
        return "its quotes do not match"
    if any(mark in {"|", "||", "&"} for _, mark in PIECE.findall(line)):
        return "it is more than a plain command"
    return ""


def _parts(line: str) -> list[str]:
    return [part.strip() for part, _ in PIECE.findall(line) if part.strip()]


def _kind(part: str) -> Kind | None:
    bare = _bare(part)
    if TEST.match(bare) and not NO_TEST.search(bare) and not _delivers(bare):
        return "test"
    return "build" if BUILD.match(bare) and not _delivers(bare) else None


def _delivers(bare: str) -> bool:
    """Whether a build tool is given another goal that hands the work out."""
    return bool(GOALS.match(bare)) and any(
        DELIVERS.match(word) for word in bare.split() if not word.startswith("-")
    )


def _bare(part: str) -> str:
    """The command as it is known: without assignments and wrappers, `python` without its version."""
    bare = PREPARED.sub("", part[ASSIGNMENTS.match(part).end() :])  # pyright: ignore[reportOptionalMemberAccess]
    return re.sub(r"^(?:\S*/)?python[\d.]*(?=\s)", "python", bare)


def _ours(part: str) -> str:
    """The command as it is run in our environment."""
    end = ASSIGNMENTS.match(part).end()  # pyright: ignore[reportOptionalMemberAccess]
    return part[:end] + _bare(part)
