"""The target: the repository worked on, its base, its gate and its scope."""

import re

from pydantic import Field

from domain.choice import Opened, Policy
from domain.hired import Hired
from domain.sandbox import OPEN, Sandbox
from domain.value import Value

_URL = re.compile(r"^[a-z][a-z0-9+.-]*://|^[\w.-]+@[\w.-]+:(?!/?\d+/)", re.IGNORECASE)


def is_url(repo: str) -> bool:
    return bool(_URL.match(repo))


class Target(Value):
    """A repository, and what is to be done with it. The operator's words, nothing derived."""

    repo: str = Field(title="Repository", description="A path, or a git URL.")
    base: str = Field(
        default="HEAD", title="Base", description="Branch, tag or commit to start from."
    )
    branch: str | None = Field(
        default=None,
        title="Only what a branch touched",
        description="Limit the scope to files changed since the merge base with this branch.",
    )
    paths: tuple[str, ...] = Field(
        default=(), title="Paths", description="Globs in the way of .gitignore; empty: everything."
    )
    verify: tuple[str, ...] = Field(
        default=(), title="Verify", description="Commands that prove a commit; empty: detected."
    )
    setup: tuple[str, ...] = Field(
        default=(),
        title="Setup",
        description="Commands that prepare the environment; empty: detected.",
    )
    environment: str = Field(
        default="", title="Environment", description="Path of an environment that exists."
    )
    allow: tuple[Opened, ...] = Field(
        default=(), title="Allow", description="Protected classes that commits may touch."
    )
    include_generated: bool = Field(
        default=False,
        title="Generated files too",
        description="Without it, generated, vendored and minified files are skipped and counted.",
    )
    sandbox: Policy = Field(
        default="auto",
        title="Sandbox",
        description="auto: held back where that works; required: refused where it does not; landlock: the weaker way; off: with your rights.",
    )
    offline: bool = Field(
        default=False,
        title="No network for the set-up",
        description="What it needs is in a cache or a folder; needs a sandbox.",
    )
    gate_minutes: float = Field(
        default=30.0,
        gt=0,
        title="Minutes a gate run may take",
        description="One that takes longer is ended, and its commits do not land.",
    )
    share: str = Field(
        default="",
        title="Shared with",
        description="A remote that gets what lands, so that another machine can go on: its name, as origin, or a git URL. none: only here, which is the default but for a work pool of a git URL.",
    )


class Workspace(Value):
    """Where a run works. The same value however often it is attached: no tree id inside it."""

    target: Target
    axis: str
    """The axis' slug, as in the branch `swathe/<axis>`."""
    run: str
    """Id of the run: `20261130-162135-3f9a`."""
    git_dir: str
    """The target's common git directory."""
    home: str
    """Our folder for this target under `$SWATHE_HOME/targets`: store.git, agent, gate, envs, runs."""
    base: str
    """Object id of the base commit."""
    sandbox: Sandbox = OPEN
    """What holds back the commands of this run."""
    hired: Hired | None = None
    """The model that works; None: the deterministic executor."""
    seat: str = ""
    """Which of the executors' clones is worked in: those who work at the same time have one each."""

    @property
    def executor(self) -> str:
        """As trailers and reports name it."""
        return self.hired.executor if self.hired else "codemod"

    @property
    def branch(self) -> str:
        return f"refs/heads/swathe/{self.axis}"

    @property
    def state_ref(self) -> str:
        return f"refs/swathe/{self.axis}/state"


def hire(workspace: Workspace, hired: Hired | None) -> Workspace:
    """The workspace with a model at work in it, if one was asked for."""
    return workspace.model_copy(update={"hired": hired}) if hired else workspace
