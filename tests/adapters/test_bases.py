"""T67: a run that is gone on with stays on the base it set out from; a new one takes the base there is."""

import pytest

from adapters import beginning
from adapters.repository.bases import keep_base, on_its_base
from adapters.repository.opening import open_target
from domain.target import Target
from domain.value import Refused


def opened(target, run="r1"):
    return open_target(Target(repo=str(target.folder), sandbox="off"), "ruff-up", run)


def begun(target):
    """A run that set out, and whose base moved on after it had died."""
    workspace = opened(target)
    beginning.attach(workspace)
    beginning.lock.release(beginning.lock_path(workspace))
    return workspace.base, target.commit({"a.py": "moved on\n"})


def test_a_run_that_is_gone_on_with_stays_on_its_base(target):
    first, now = begun(target)

    again = on_its_base(opened(target))

    assert opened(target).base == now
    assert again == opened(target).model_copy(update={"base": first})


def test_a_new_run_takes_the_base_there_is(target):
    _, now = begun(target)

    assert on_its_base(opened(target, run="r2")).base == now


def test_to_begin_again_does_not_move_the_base(target):
    first, _ = begun(target)

    keep_base(opened(target))

    assert on_its_base(opened(target)).base == first


def test_a_base_that_is_gone_is_told_with_what_there_is(target):
    first, now = begun(target)
    now = target.git("commit-tree", "-m", "anew", f"{now}^{{tree}}")
    target.git("reset", "-q", "--hard", now)
    target.git("reflog", "expire", "--expire=now", "--all")
    target.git("gc", "-q", "--prune=now")

    with pytest.raises(Refused, match=f"{first[:12]}, which is not in .*{now[:12]}.*new run"):
        on_its_base(opened(target))

    assert on_its_base(opened(target, run="r2")).base == now
