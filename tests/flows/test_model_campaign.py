"""A campaign whose axis is a sentence, carried by a scripted model: real SDKs, real gate, real Prefect."""

import pytest
from stub_provider import Provider
from stub_script import Call, Turn, turns

from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = {"keep.txt": "one\n", "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"}


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


@pytest.fixture(name="serve")
def _serve(tmp_path, monkeypatch):
    """A provider that plays the script; the environment says where it is."""
    opened = []

    def serve(script):
        provider = Provider(script, tmp_path)
        opened.append(provider)
        for name, value in provider.__enter__().environment().items():
            monkeypatch.setenv(name, value)
        return provider

    yield serve
    for provider in opened:
        provider.__exit__()


def by_phase(work, rescan):
    """A script for each phase; for work, one for each pass."""

    def script(seen):
        said = rescan if "PHASE: rescan" in seen.user else work[_pass_of(seen)]
        return turns(said)(seen)

    return script


def _text(request) -> str:
    return request.raw.decode()


def _pass_of(seen) -> int:
    first = str(seen.body)
    return next(number for number in (3, 2, 1) if f"Pass {number}." in first) - 1


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_a_sentence_is_carried_through_and_nothing_the_model_claims_is_believed(
    make, serve, family
):
    """M7, V5, C-clauses: what lands is decided by admission and gate, and the end by a fresh look of another family."""
    looks = [sites({"path": "c.txt", "line": 1, "what": "counts from one"}), sites()]
    asked = []

    def rescan(seen):
        asked.append(seen.family)
        return looks[len(asked) - 1]

    provider = serve(
        by_phase(
            [
                [
                    changing("a.txt", "zero\n", "Count a from zero"),
                    changing("b.txt", "broken\n", "Count b from zero"),
                    changing("checks/test_a.py", "", "Empty a test"),
                    finish(note="landed 13"),
                ],
                [changing("c.txt", "zero\n", "Count c from zero"), finish()],
            ],
            [rescan],
        )
    )
    repo = make(0, {**FILES, "checks/test_a.py": "def test_a(): pass\n"})
    repo.gate(CHECKS)

    report = repo.run(axis=AXIS, hired={"family": family}, sandbox="required")

    assert (report.ending, report.passes) == ("complete", 2), report.why
    assert repo.log("%s") == ["Count a from zero", "Count c from zero"]
    assert sorted(parked.reason.split(":")[0] for parked in report.parked) == [
        "protected tests",
        "red",
    ]
    assert repo.landed("b.txt") == "one"
    assert asked == ["gpt" if family == "claude" else "claude"] * 2
    assert 0 < report.spend_usd == pytest.approx(repo.state().spend_usd)
    second = next(body for body in map(_text, provider.requests) if "Pass 2." in body)
    for told in (
        "Count a from zero",
        "Count b from zero",
        "protected tests",
        "c.txt:1 counts from one",
    ):
        assert told in second
    body = repo.git("log", "-1", "--format=%B", repo.branch)
    assert f"Swathe-Executor: {family}" in body
    assert "Swathe-Cost-USD: 0." in body


def test_without_a_key_or_without_a_model_nothing_is_begun(make, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    repo = make(0, FILES)
    repo.gate(CHECKS)

    done, _ = repo.typed("--axis", AXIS, "--executor", "claude", "--sandbox", "required")
    alone, _ = repo.typed("--axis", AXIS)

    assert done.exit_code == alone.exit_code == 2
    assert "ANTHROPIC_API_KEY is not set" in done.errors
    assert "Choose a model executor" in alone.errors
    assert repo.refs.keys() == {"refs/heads/main"}


def test_the_budget_ends_a_run_with_what_has_landed(make, serve):
    """R2, M5: the provider's bill is within the cap and a call, and our ledger no lower."""
    provider = serve(
        turns(
            [
                changing("a.txt", "zero\n", "Count a from zero"),
                *[
                    changing("b.txt", f"{'x' * 4000}{number}\n", f"Try {number}")
                    for number in range(60)
                ],
            ]
        )
    )
    repo = make(0, FILES)
    repo.gate(CHECKS)

    report = repo.run(
        axis=AXIS, hired={"family": "claude"}, sandbox="required", budget={"max_usd": 0.3}
    )

    assert report.ending == "budget", report.why
    assert "Count a from zero" in repo.log("%s")
    assert report.spend_usd >= provider.bill.usd
