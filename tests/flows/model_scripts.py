"""What a scripted model says in the flows' tests: turns by phase and pass."""

from stub_script import Call, Turn, turns


def changing(path: str, text: str, message: str) -> Turn:
    return Turn(
        calls=(
            Call("write", {"path": path, "text": text}),
            Call("bash", {"command": f"git add -A && git commit -qm '{message}'"}),
        )
    )


def finish(**more: object) -> Turn:
    return Turn(calls=(Call("finish_pass", {"axis_complete": True, "note": "done", **more}),))


def sites(*found: dict[str, object]) -> Turn:
    return Turn(calls=(Call("submit_sites", {"sites": list(found)}),))


def opinion(verdict: str, **found: object) -> Turn:
    return Turn(
        calls=(Call("submit_verdict", {"verdict": verdict, "findings": [found] if found else []}),)
    )


def by_phase(work, rescan):
    """A script for each phase; for work, one for each pass."""

    def script(seen):
        said = rescan if "PHASE: rescan" in seen.user else work[pass_of(seen)]
        return turns(said)(seen)

    return script


def pass_of(seen) -> int:
    first = str(seen.body)
    return next(number for number in (3, 2, 1) if f"Pass {number}." in first) - 1
