"""CI files: the jobs that test, and what they would run.

Left aside are jobs that hand something out, that need a service or a container, or another system
than Linux, and steps that need a secret: there is neither here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from domain.script_lines import Kind, for_tests, placed, taken
from domain.tables import Contents, Table, as_list, as_table, as_text, table, yaml_table
from domain.value import Value

GITHUB = re.compile(r"\.github/workflows/[^/]+\.ya?ml$")
OTHERS = (".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml")
MOST_FILES = 30

DELIVERS = re.compile(r"deploy|publish|release|upload|nightly|benchmark", re.IGNORECASE)
TESTS = re.compile(r"test|check|ci\b|build|unit", re.IGNORECASE)
ELSEWHERE = re.compile(r"windows|macos", re.IGNORECASE)
OTHER_SHELLS = re.compile(r"pwsh|powershell|cmd|python", re.IGNORECASE)
CONDITION = re.compile(r"release|refs/|tag|schedule|dispatch|deploy", re.IGNORECASE)
PUSHED = frozenset({"push", "pull_request", "pull_request_target", "merge_group", "workflow_call"})
GITLAB_WORDS = frozenset({"default", "include", "stages", "variables", "workflow", "image", "services", "cache",
                          "before_script", "after_script", "pages", "spec"})  # fmt: skip
CONSTANT = re.compile(r"[^$]*$")


class Step(Value):
    script: str
    folder: str = ""
    variables: dict[str, str] = {}
    barred: str = ""
    """Why nothing of it can be run here."""


class Job(Value):
    place: str
    """`job test of .github/workflows/ci.yml`."""
    steps: tuple[Step, ...]
    barred: str = ""


class Tested(Value):
    """How a job, or a file of another kind, tests."""

    place: str
    commands: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """What tests as well and cannot be run here, with the reason."""
    requirements: tuple[str, ...] = ()
    """What it installs for that, in words of pip."""


def is_workflow(path: str) -> bool:
    return path in OTHERS or GITHUB.match(path) is not None


def in_ci(contents: Contents) -> tuple[Tested, ...]:
    """Every job that tests, best first: one of which nothing is left out, named for tests, in a file named for them."""
    found = [_tested(job) for job in _jobs(contents)]
    mine = [one for one in found if one.commands or one.left_out]
    return tuple(sorted(mine, key=_rank))


def _rank(one: Tested) -> tuple[bool, bool, bool]:
    job = one.place.partition(" of ")[0].removeprefix("job ")
    return not one.commands, not TESTS.search(job), bool(one.left_out)


def _tested(job: Job) -> Tested:
    steps = [(step, taken(step.script)) for step in job.steps]
    left_out = [words for _, said in steps for words in said.left_out]
    commands: list[tuple[Kind, str]] = []
    for step, said in steps:
        why = job.barred or step.barred
        if why:
            left_out += [f"`{command}`: {why}" for kind, command in said.commands if kind == "test"]
        else:
            commands.extend(
                (kind, placed(command, step.folder, step.variables))
                for kind, command in said.commands
            )
    return Tested(
        place=job.place, commands=for_tests(commands), left_out=tuple(dict.fromkeys(left_out))
    )


def _jobs(contents: Contents) -> Iterator[Job]:
    for path in sorted(filter(is_workflow, contents))[:MOST_FILES]:
        read = READERS.get(path, _github)
        yield from read(path, yaml_table(contents[path]))


def _github(path: str, whole: Table) -> Iterator[Job]:
    # YAML 1.1 takes the key `on` for a truth.
    events = whole.get("on", whole.get("True"))
    names = {as_text(one) for one in as_list(events)} | as_table(events).keys()
    barred = "" if names & PUSHED else "the workflow is not run for a push"
    for key, value in table(whole, "jobs").items():
        job = as_table(value)
        name = f"{key} {as_text(job.get('name'))}"
        reason = barred or _why_not(name, system=job.get("runs-on"), services=job.get("services"),
                                    container=job.get("container"), condition=job.get("if"))  # fmt: skip
        folder = table(job, "defaults", "run").get("working-directory")
        steps = [
            _github_step(as_table(step), folder)
            for step in as_list(job.get("steps"))
            if as_text(as_table(step).get("run"))
        ]
        yield Job(place=f"job {key} of {path}", steps=tuple(steps), barred=reason)


def _github_step(step: Table, folder: object) -> Step:
    made = _step(
        step.get("run"), folder=step.get("working-directory", folder), variables=step.get("env")
    )
    barred = made.barred
    if step.get("if") is not None:
        barred = barred or f"it depends on {step['if']}"
    if OTHER_SHELLS.match(as_text(step.get("shell"))):
        barred = barred or f"it is written for {step['shell']}"
    if DELIVERS.search(as_text(step.get("name"))):
        barred = barred or "its step hands something out"
    return made.model_copy(update={"barred": barred})


def _gitlab(path: str, whole: Table) -> Iterator[Job]:
    common = bool(whole.get("services")) or bool(table(whole, "default").get("services"))
    for key, value in whole.items():
        job = as_table(value)
        if key in GITLAB_WORDS or key.startswith(".") or "script" not in job:
            continue
        name = f"{key} {as_text(job.get('stage'))} {as_text(table(job, 'environment').get('name'))}"
        when = as_text(job.get("when"))
        barred = _why_not(name, services=job.get("services") or common)
        if when in {"manual", "delayed"} or "tags" in as_list(job.get("only")):
            barred = barred or "it is not run for a push"
        yield Job(place=f"job {key} of {path}", steps=_script(job.get("script")), barred=barred)


def _circle(path: str, whole: Table) -> Iterator[Job]:
    for key, value in table(whole, "jobs").items():
        job = as_table(value)
        images = as_list(job.get("docker"))
        barred = _why_not(key, services=images[1:], system="macos" if "macos" in job else "")
        steps = [as_table(step).get("run") for step in as_list(job.get("steps"))]
        yield Job(
            place=f"job {key} of {path}",
            steps=tuple(_circle_step(step) for step in steps if step),
            barred=barred,
        )


def _circle_step(run: object) -> Step:
    step = as_table(run)
    if not step:
        return _step(run)
    return _step(
        step.get("command"), folder=step.get("working_directory"), variables=step.get("environment")
    )


def _travis(path: str, whole: Table) -> Iterator[Job]:
    barred = _why_not("", services=whole.get("services"), system=whole.get("os"))
    yield Job(place=f"script of {path}", steps=_script(whole.get("script")), barred=barred)


def _azure(path: str, whole: Table) -> Iterator[Job]:
    stages = [as_table(stage) for stage in as_list(whole.get("stages"))] or [whole]
    jobs = [as_table(job) for stage in stages for job in as_list(stage.get("jobs"))] or [whole]
    for number, job in enumerate(jobs, start=1):
        name = as_text(job.get("job")) or as_text(job.get("deployment")) or str(number)
        barred = _why_not(
            f"{name} {'deploy' if 'deployment' in job else ''}",
            services=job.get("services"),
            container=job.get("container"),
            system=table(job, "pool").get("vmImage"),
        )
        steps = [as_table(step) for step in as_list(job.get("steps"))]
        yield Job(
            place=f"job {name} of {path}",
            steps=tuple(
                _step(
                    step.get("script", step.get("bash")),
                    folder=step.get("workingDirectory"),
                    variables=step.get("env"),
                )
                for step in steps
                if "script" in step or "bash" in step
            ),
            barred=barred,
        )


READERS: dict[str, Callable[[str, Table], Iterable[Job]]] = dict(
    zip(OTHERS, (_gitlab, _circle, _travis, _azure), strict=True)
)


def _script(value: object) -> tuple[Step, ...]:
    lines = [as_text(line) for item in as_list(value) for line in as_list(item)]
    return (_step("\n".join(lines)),)


def _step(script: object, *, folder: object = None, variables: object = None) -> Step:
    constants = {name: str(value) for name, value in as_table(variables).items()}
    needed = [name for name, value in constants.items() if not CONSTANT.match(value)]
    place = as_text(folder)
    barred = f"{needed[0]} is not known here" if needed else ""
    if place and not _is_inside(place):
        barred = barred or f"its folder {place} is not known here"
    return Step(script=as_text(script), folder=place, variables=constants, barred=barred)


def _is_inside(folder: str) -> bool:
    path = PurePosixPath(folder)
    return not (path.is_absolute() or ".." in path.parts or "$" in folder)


def _why_not(
    name: str,
    *,
    system: object = None,
    services: object = None,
    container: object = None,
    condition: object = None,
) -> str:
    if DELIVERS.search(name):
        return "its job hands something out, or is no test"
    if services:
        names = ", ".join(as_table(services) or map(_named, as_list(services)))
        return f"its job needs services ({names})"
    if container:
        return "its job runs in a container"
    systems: Sequence[str] = [as_text(one) for one in as_list(system)]
    if systems and all(ELSEWHERE.search(one) for one in systems):
        return f"its job runs on {', '.join(systems)}"
    if condition is not None and CONDITION.search(str(condition)):
        return f"its job depends on {condition}"
    return ""


def _named(service: object) -> str:
    return as_text(service) or ", ".join(map(str, as_table(service).values())) or "?"
