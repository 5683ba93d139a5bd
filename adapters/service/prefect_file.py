"""Reading a prefect file strictly: where each key stands, what it names, and that it holds no secret."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from adapters.redacting import redactor
from adapters.repository.secrets import Added, shown
from domain.deployment import Path as Place
from domain.deployment import PrefectFile, Trouble, checked, explained
from domain.pool import HOME, target_of
from domain.redaction import names_a_secret
from domain.target import is_url
from domain.value import Refused, Value

BLOCK = re.compile(r"\{\{\s*prefect\.blocks\.secret\.([a-z0-9-]+)\s*\}\}")
"""A Secret block by reference: the worker reads it when it starts a run, and nobody else."""

_ENVIRONMENT = re.compile(r"\{\{\s*\$(\w+)\s*\}\}")
_ANY = re.compile(r"\{\{.*?\}\}")
_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")

LINE = "line"
"""The path of a trouble that is of a line, and of no key."""


class Problem(Value):
    """What is wrong in a file, and where."""

    file: str
    line: int
    said: str

    @property
    def told(self) -> str:
        return f"{self.file}:{self.line}: {self.said}"


class Read(Value):
    """A file, as far as it could be understood."""

    file: str
    text: str = ""
    content: PrefectFile | None = None
    lines: dict[Place, int] = {}
    problems: tuple[Problem, ...] = ()

    def problem(self, trouble: Trouble) -> Problem:
        """With the line of what it is about, or of the nearest thing around it."""
        path = trouble.path
        if path[:1] == (LINE,):
            return Problem(file=self.file, line=int(path[1]), said=trouble.said)
        while path and path not in self.lines:
            path = path[:-1]
        return Problem(file=self.file, line=self.lines.get(path, 1), said=trouble.said)

    def told(self, *troubles: Trouble) -> "Read":
        found = tuple(self.problem(trouble) for trouble in troubles)
        return self.model_copy(update={"problems": (*self.problems, *found)})


def read(file: Path) -> Read:
    """What stands in `file`, with everything that is wrong with its words."""
    name = str(file)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(
            f"cannot read the prefect file {name!r} ({error}). Name one, as in deployments/sample.yaml."
        ) from None
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        plain = cast("object", loader.construct_document(root) if root else {})  # pyright: ignore[reportUnknownMemberType]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return Read(
            file=name,
            problems=(
                Problem(file=name, line=mark.line + 1 if mark else 1, said=f"no YAML: {error}"),
            ),
        )
    lines: dict[Place, int] = {}
    doubled = [*_walk(root, (), lines)] if root else []
    seen = Read(file=name, text=text, lines=lines).told(*doubled, *_leaks(name, text))
    return _understood(seen, plain)


def _understood(seen: Read, plain: object) -> Read:
    resolved, troubles = _resolved(plain, ())
    seen = seen.told(*troubles)
    try:
        content = PrefectFile.model_validate(resolved)
    except ValidationError as error:
        return seen.told(
            *(
                explained(problem["loc"], problem["type"], problem["msg"])
                for problem in error.errors()
            )
        )
    seen = seen.told(*checked(content), *_references(content), *_repository(content))
    return seen.model_copy(update={"content": content})


def _walk(node: yaml.Node, path: Place, lines: dict[Place, int]) -> Iterator[Trouble]:
    """Note the line of every key and item. YAML takes the last of two equal keys without a word: they are told."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(cast("list[yaml.Node]", node.value)):
            yield from _walk(item, (*path, number), lines)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            word = str(key.value)
            here = (*path, word)
            if word in seen:
                lines[here] = key.start_mark.line + 1
                yield Trouble(
                    path=here, said=f"a second {word!r}. YAML takes the last one: keep one."
                )
            seen.add(word)
            lines.setdefault(here, key.start_mark.line + 1)
            yield from _walk(value, here, lines)


def _resolved(plain: object, path: Place) -> tuple[object, list[Trouble]]:
    """With `{{ $NAME }}` replaced, as `prefect deploy` does, but nothing else."""
    if isinstance(plain, dict):
        made: dict[object, object] = {}
        troubles: list[Trouble] = []
        for name, value in cast("dict[object, object]", plain).items():
            made[name], more = _resolved(value, (*path, str(name)))
            troubles += more
        return made, troubles
    if isinstance(plain, list):
        pairs = [
            _resolved(item, (*path, number))
            for number, item in enumerate(cast("list[object]", plain))
        ]
        return [item for item, _ in pairs], [one for _, more in pairs for one in more]
    if isinstance(plain, str):
        return _filled(plain, path)
    return plain, []


def _filled(text: str, path: Place) -> tuple[str, list[Trouble]]:
    troubles: list[Trouble] = []
    for name in _ENVIRONMENT.findall(text):
        if name not in os.environ:
            troubles.append(
                Trouble(
                    path=path,
                    said=f"${name} is not set here, where the file is deployed. Set it, or write the value.",
                )
            )
        elif names_a_secret(name):
            troubles.append(
                Trouble(
                    path=path,
                    said=f"${name} would be kept in clear in Prefect's database. {_INSTEAD}",
                )
            )
    return _ENVIRONMENT.sub(lambda found: os.environ.get(found[1], ""), text), troubles


_INSTEAD = (
    "Name a Secret block, as in {{ prefect.blocks.secret.anthropic-api-key }}, "
    "or leave it to the environment of the worker."
)


def _leaks(name: str, text: str) -> Iterator[Trouble]:
    """Secrets in clear, by their looks and by the operator's own environment. The value is never told."""
    rows = text.splitlines()
    found = {
        leak.line: leak.kind
        for leak in shown(
            [Added(commit="", path=name, number=n, text=row) for n, row in enumerate(rows, 1)]
        )
    }
    for number, row in enumerate(rows, 1):
        if _WITH_PASSWORD.search(row):
            found.setdefault(number, "a password in an address")
        elif redactor().finds(row):
            found.setdefault(number, "a secret of your environment")
    for number, kind in sorted(found.items()):
        yield Trouble(path=(LINE, number), said=f"a secret in clear ({kind}). {_INSTEAD}")


def _references(content: PrefectFile) -> Iterator[Trouble]:
    """References stand where the worker resolves them; a variable that is named as a secret holds nothing else."""
    pool: Place = ("definitions", "work_pools", content.pool, "job_variables")
    yield from _in_variables(content.spec.job_variables, pool)
    for number, one in enumerate(content.deployments):
        here: Place = ("deployments", number)
        yield from _in_variables(one.work_pool.job_variables, (*here, "work_pool", "job_variables"))
        rest = one.model_dump(mode="json", exclude={"work_pool"})
        for path, text in _texts(rest, here):
            if _ANY.search(text):
                yield Trouble(
                    path=path, said=f"{text!r} is filled in by nobody: only `job_variables` are."
                )


def _in_variables(variables: dict[str, Any], path: Place) -> Iterator[Trouble]:
    for where, text in _texts(variables, path):
        for found in _ANY.findall(text):
            if not BLOCK.fullmatch(found):
                yield Trouble(
                    path=where, said=f"{found!r} is no reference that a worker fills in. {_INSTEAD}"
                )
        if (
            where[-2:-1] == ("env",)
            and names_a_secret(str(where[-1]))
            and not BLOCK.fullmatch(text.strip())
        ):
            yield Trouble(
                path=where,
                said=f"{where[-1]!r} is the name of a secret, and this is its value in clear. {_INSTEAD}",
            )


def _texts(plain: object, path: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(plain, dict):
        for name, value in cast("dict[object, object]", plain).items():
            yield from _texts(value, (*path, str(name)))
    elif isinstance(plain, list | tuple):
        for number, value in enumerate(cast("list[object]", plain)):
            yield from _texts(value, (*path, number))
    elif isinstance(plain, str):
        yield path, plain


def _repository(content: PrefectFile) -> Iterator[Trouble]:
    """The repository can be meant, and is the same one wherever a worker is started."""
    place: Place = ("definitions", "work_pools", content.pool, "job_variables")
    repo = content.spec.job_variables.get("repo")
    if not isinstance(repo, str) or not repo.strip():
        yield Trouble(
            path=place,
            said="no `repo`: the path or the git URL of the repository that this pool is of.",
        )
        return
    if not is_url(repo) and not Path(repo).expanduser().is_absolute():
        yield Trouble(
            path=(*place, "repo"),
            said=f"{repo!r} is a relative path, and a worker has another folder. Write it whole, or as {{{{ $PWD }}}}/{repo}.",
        )
    home = content.spec.job_variables.get(HOME)
    if home is not None and not Path(str(home)).expanduser().is_absolute():
        yield Trouble(
            path=(*place, HOME),
            said=f"{home!r} is a relative path, and a worker has another folder. Write it whole.",
        )
    try:
        target_of(content.spec.job_variables)
    except Refused as refusal:
        yield Trouble(path=place, said=str(refusal))
