"""Where no test command is found, a model that was hired writes the gate, and the engine owns it."""

import json

import pytest
from stub_provider import Provider
from stub_script import Call, Turn, turns

from adapters.processes.sandbox import available
from domain.gate_script import GateScript

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
FILES = {
    "a.txt": "one\n",
    "b.txt": "one\n",
    "look.sh": 'grep -q "^[a-z]*$" a.txt b.txt && ! grep -rq broken --include=*.txt .\n',
}
RIGHT = ("sh look.sh",)


def change(path: str, text: str) -> Turn:
    return Turn(
        calls=(
            Call("write", {"path": path, "text": text}),
            Call("bash", {"command": f"git commit -qam 'Count {path} from zero'"}),
        )
    )


def gate(*commands: str) -> Turn:
    return Turn(calls=(Call("submit_gate", {"commands": list(commands)}),))


FINISH = Turn(calls=(Call("finish_pass", {"axis_complete": True, "note": "done"}),))
WORK = [change("a.txt", "zero\n"), change("b.txt", "broken\n"), FINISH]
TRIES = Turn(calls=(Call("bash", {"command": "make; touch tried; sh look.sh"}),))


@pytest.fixture(name="answering")
def _answering(serve):
    """A provider whose model writes these gates, one when it is asked after another."""

    def answering(*gates: Turn) -> Provider:
        asked: list[str] = []

        def script(seen):
            first = str(seen.body)
            if "PHASE: rescan" in first:
                return Turn(calls=(Call("submit_sites", {"sites": []}),))
            if "PHASE: gate" not in first:
                return turns(WORK)(seen)
            if seen.conversation not in asked:
                asked.append(seen.conversation)
            return turns([TRIES, gates[asked.index(seen.conversation)]])(seen)

        return serve(script)

    return answering


@pytest.fixture(name="repo")
def _repo(make):
    repo = make(0, name="untested")
    repo.git("rm", "-qr", ".")
    repo.write(FILES).commit("No test is here")
    repo.verify = ()
    return repo


def asked(family: str = "claude", **more: object) -> dict[str, object]:
    return {"axis": AXIS, "hired": {"family": family}, "sandbox": "required", **more}


def questions(provider) -> list[str]:
    """The first request of each conversation about the gate."""
    said = [request.raw.decode() for request in provider.requests]
    return [text for text in said if "PHASE: gate" in text and "touch tried" not in text]


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_a_gate_that_a_model_wrote_is_judged_run_kept_and_shown(repo, answering, family):
    """T21, T29: what hides a failure is not run, and what stays green when all is broken proves nothing."""
    provider = answering(gate("sh look.sh | tail"), gate("test -f a.txt"), gate(*RIGHT))

    report = repo.run(**asked(family))

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Count a.txt from zero"]
    assert [parked.reason for parked in report.parked] == ["red"]
    assert report.gate == RIGHT
    first, second, third = questions(provider)
    assert "no test command found" in first
    assert "hides how the command before it ended" in second
    assert "gate cannot fail" in third
    script = repo.state().gate
    assert (script.commands, script.sound) == (RIGHT, True)
    (said,) = [note for note in report.notes if note.startswith("the gate was written by ")]
    assert "sh look.sh" in said
    assert script.digest in said
    assert report.spend_usd >= provider.bill.usd

    shown = json.loads(repo.swathe("doctor", str(repo.folder), "--json").output.splitlines()[-1])
    assert shown["gate"]["verify"] == list(RIGHT)
    assert script.by in shown["gate"]["source"]

    again = repo.run(**asked(family))

    assert len(questions(provider)) == 3
    assert again.gate == RIGHT


def test_a_gate_of_a_tool_that_is_not_there_is_unavailable_and_the_run_refused_after_three(
    repo, answering
):
    provider = answering(*(gate(f"no-such-tool-{n} test") for n in range(3)))

    done, report = repo.typed(
        "--axis", AXIS, "--executor", "claude", "--sandbox", "required", "--json"
    )

    assert done.exit_code == 2, done.errors
    assert "no-such-tool-2: not found" in report.why
    assert "--verify" in report.why
    assert "gate unavailable: no-such-tool-0" in questions(provider)[1]
    assert repo.refs.keys() == {"refs/heads/main"}


def test_without_a_model_it_is_refused_with_what_to_do(repo):
    done, report = repo.typed("--axis", "ruff:UP")
    repo.write({"x.py": "import os, sys\nprint('%s' % os)\n"}).commit()
    other, told = repo.typed("--axis", "ruff:F401")

    assert done.exit_code == other.exit_code == 2
    for why in (report.why, told.why):
        assert "no gate: no test command found" in why
        assert "--verify 'make test'; or let a run with --executor claude" in why


def test_a_script_that_somebody_changed_is_not_run(repo, answering):
    """T21."""
    answering(gate(*RIGHT))
    repo.run(**asked())
    (kept,) = repo.home.glob("targets/untested-*/gate-script.json")
    script = GateScript.from_json(kept.read_text())
    kept.write_text(script.model_copy(update={"commands": ("true",)}).to_json())

    done, report = repo.typed(
        "--axis", AXIS, "--executor", "claude", "--sandbox", "required", "--json"
    )

    assert done.exit_code == 2
    assert f"not those of digest {script.digest}" in report.why
