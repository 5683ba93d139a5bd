"""Signing: how a commit of an executor's is told in ours: cleaned text, our trailers."""

from domain.commit import Commit
from domain.message import clean, compose
from domain.sandbox import TRAILERS
from domain.target import Workspace
from domain.value import Value


class Signature(Value):
    """What the trailers of a commit say of its run."""

    axis: str
    executor: str
    usd: float = 0.0
    """What one commit cost: its share of the pass, and its reading."""
    rule: str = ""
    """The name of the taught rule that made it."""


def subject_of(commit: Commit) -> str:
    return clean(f"{commit.subject}\n{commit.body}")[0]


def _name(word: str) -> str:
    """`confirmed_by` as `Swathe-Confirmed-By`."""
    return "-".join(["Swathe", *(part.capitalize() for part in word.split("_"))])


def signed(workspace: Workspace, commit: Commit, signature: Signature, **more: str) -> str:
    """The whole message. `more` are trailers of the single case, as in `gate` for `Swathe-Gate`, `confirmed_by` for `Swathe-Confirmed-By`."""
    others = len(commit.sites) - 1
    trailers = {
        "Swathe-Axis": signature.axis,
        "Swathe-Site": commit.place + (f" and {others} more" if others > 0 else ""),
        "Swathe-Run": workspace.run,
        "Swathe-Executor": signature.executor,
        "Swathe-Rule": signature.rule,
        **{_name(name): value for name, value in more.items()},
        "Swathe-Sandbox": TRAILERS[workspace.sandbox.backend],
        "Swathe-Cost-USD": f"{signature.usd:.4f}".rstrip("0").rstrip("."),
    }
    return compose(*clean(f"{commit.subject}\n{commit.body}"), trailers)
