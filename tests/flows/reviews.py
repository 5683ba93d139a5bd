"""Reviews of a target made for one test, and a scripted reviewer that reads what it is given, as a model does."""

import re
from collections.abc import Callable
from typing import Any

from harness import Repo
from stub_script import Call, Seen, Turn

from domain.report import Report
from domain.review_options import ReviewOptions
from domain.target import Target

INDEX = ".git/swathe-chunk.md"
CLAUDE, GPT = {"family": "claude"}, {"family": "gpt"}
BOTH = (CLAUDE, GPT)
HOLDS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
"""A gate of text files."""


def options(repo: Repo, **asked: Any) -> ReviewOptions:
    """A request for a review. Words of the target, of its settings and of the run are told apart by their names."""
    target: dict[str, Any] = {
        "repo": str(repo.folder),
        "verify": repo.verify,
        "environment": repo.environment,
        "sandbox": repo.sandbox,
    }
    target |= {name: value for name, value in asked.items() if name in Target.model_fields}
    rest = {name: value for name, value in asked.items() if name not in Target.model_fields}
    known = {name: rest.pop(name) for name in [*rest] if name not in ReviewOptions.model_fields}
    return ReviewOptions.model_validate({**rest, "settings": known, "target": target})


def review(repo: Repo, **asked: Any) -> Report:
    from cli import engine  # noqa: PLC0415 -- the home of the test is set by now

    return engine.run_review(options(repo, **asked))


def reviewed(asked: ReviewOptions) -> None:
    """In a child."""
    from cli import engine  # noqa: PLC0415

    engine.run_review(asked)


def verdict(*blockers: dict[str, Any], files: tuple[str, ...] = (), **more: Any) -> Turn:
    said = {"approved": not blockers, "blockers": list(blockers), "files_reviewed": list(files)}
    return Turn(calls=(Call("submit_review", {**said, **more}),))


def read(*paths: str) -> Turn:
    return Turn(calls=(Call("read", {"paths": list(paths)}),))


def bug(path: str, line: int = 1, **more: Any) -> dict[str, Any]:
    return {"path": path, "line": line, "why": "a BUG is planted here", **more}


def bash(command: str) -> Turn:
    return Turn(calls=(Call("bash", {"command": command}),))


def mended(path: str, words: str = "right") -> Turn:
    """A commit that takes the bug out of a file."""
    return bash(f"sed -i 's/BUG.*/{words}/' {path} && git commit -qam 'Mend {path}'")


def fixed(*refused: dict[str, Any]) -> Turn:
    return Turn(calls=(Call("submit_fix", {"refused": list(refused)}),))


def listed(seen: Seen) -> list[str]:
    """The files of the chunk, as the index names them."""
    return re.findall(r"^\s*\d*\s*- (\S+?)(?::\d+-\d*)? \(about", seen.results[-1], re.MULTILINE)


def found(seen: Seen) -> list[dict[str, Any]]:
    """Every BUG in what was read last."""
    path, blockers = "", list[dict[str, Any]]()
    for row in seen.results[-1].splitlines():
        numbered = re.match(r"\s*(\d+)\t(.*)", row)
        if not numbered:
            path = row or path
        elif "BUG" in numbered[2]:
            blockers.append(bug(path, int(numbered[1])))
    return blockers


def phase(seen: Seen) -> str:
    """What was asked for last, whatever the engine said since."""
    return re.findall(r"PHASE: (\w+)", str(seen.body))[-1]


Fix = Callable[[Seen, list[str], int], Turn]


def fixes_all(seen: Seen, paths: list[str], nth: int) -> Turn:
    """A commit for each file, and the end."""
    left = [path for path in paths if f"Mend {path}" not in str(seen.body)]
    return mended(left[0]) if left else fixed()


def attentive(fix: Fix = fixes_all) -> Callable[[Seen], Turn]:
    """A reviewer that opens every file it is given, reports each BUG, and mends as `fix` says."""

    def script(seen: Seen) -> Turn:
        if phase(seen) == "fix":
            paths = re.findall(r"- ([^:\s]+):\d+ a BUG", str(seen.body))
            return fix(seen, [*dict.fromkeys(paths)], seen.answers - 3)
        if not seen.results:
            return read(INDEX)
        if "- " in seen.results[-1] and INDEX in seen.results[-1].splitlines()[0]:
            return read(*listed(seen))
        blockers = found(seen)
        return verdict(*blockers, files=tuple(dict.fromkeys(one["path"] for one in blockers)))

    return script
