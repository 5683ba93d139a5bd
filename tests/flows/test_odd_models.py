"""Models that do odd things over the wire and in their clone: what is right lands, and nothing else happens."""

import pytest
from harness import WAIT, campaign, exit_code, forked, wait_for
from model_scripts import by_phase, changing, finish, opinion, sites
from stub_script import Call, Turn, turns

from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = {"keep.txt": "one\n", "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"}
MEGA = 1 << 20


def bash(command: str) -> Turn:
    return Turn(calls=(Call("bash", {"command": command}),))


@pytest.fixture(name="worked")
def _worked(make, serve):
    """A run of a model that says `said` in its one pass; of what is named, a fresh look finds nothing."""

    def worked(*said: Turn, family: str = "claude", **asked: object):
        provider = serve(by_phase([[*said, finish()], [finish()], [finish()]], [sites()]))
        repo = make(0, FILES)
        repo.gate(CHECKS)
        report = repo.run(axis=AXIS, hired={"family": family}, sandbox="required", **asked)
        return repo, report, provider

    return worked


ODD = {
    "ten megabytes of words": Turn(
        "so " * (10 * MEGA // 3), chunk=MEGA, calls=(Call("glob", {"pattern": "*"}),)
    ),
    "a tool with a name of another alphabet": Turn(
        calls=(Call("édit\N{DUCK}", {"path": "a.txt"}),)
    ),
    "a tool with a name that is a path": Turn(calls=(Call("../../bash", {"command": "true"}),)),
    "a tool with a name of a page": Turn(calls=(Call("x" * 5000, {}),)),
    "a tool without a name": Turn(calls=(Call("", {}),)),
    "half a character in its words": Turn("\ud83d", calls=(Call("glob", {"pattern": "*"}),)),
    "half a character in a path": Turn(calls=(Call("read", '{"paths": ["\\ud83d.txt"]}'),)),
    "half a character in a command": Turn(calls=(Call("bash", '{"command": "echo \\ud83d"}'),)),
    "half a character in a file": Turn(
        calls=(Call("write", '{"path": "d.txt", "text": "\\ud83d"}'),)
    ),
    "arguments that are a list": Turn(calls=(Call("bash", "[1, 2]"),)),
    "arguments that are nested for ever": Turn(calls=(Call("bash", "[" * 20_000),)),
    "a number of a thousand digits": Turn(
        calls=(Call("read", f'{{"paths": ["a.txt"], "first": {"9" * 5000}}}'),)
    ),
    "a file of ten megabytes": Turn(
        chunk=MEGA, calls=(Call("write", {"path": "d.bin", "text": "x" * (10 * MEGA)}),)
    ),
    "a flood on the terminal": bash("head -c 50000000 /dev/zero | tr '\\0' y"),
    "a hundred calls at once": Turn(
        calls=tuple(Call("bash", {"command": f"echo {n}"}) for n in range(100))
    ),
}


@pytest.mark.parametrize("family", ["claude", "gpt"])
@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_whatever_it_sends_the_work_goes_on(worked, odd, family):
    repo, report, provider = worked(
        odd,
        bash("rm -f d.txt d.bin"),
        changing("a.txt", "zero\n", "Count a from zero"),
        family=family,
    )

    assert report.ending == "complete", (report.ending, report.why, report.notes)
    assert repo.log("%s") == ["Count a from zero"]
    assert report.spend_usd >= 0
    for request in provider.requests:
        assert len(request.raw) < 25 * MEGA


def identity(name: str, date: str) -> str:
    return (
        f"GIT_AUTHOR_NAME={name} GIT_AUTHOR_EMAIL={name}@evil GIT_COMMITTER_NAME={name} "
        f"GIT_COMMITTER_EMAIL={name}@evil GIT_AUTHOR_DATE='{date}' GIT_COMMITTER_DATE='{date}'"
    )


@pytest.mark.parametrize(
    "date", ["@0 +0000", "@4102444800 +1400", "@1 -1200", "2001-02-03T04:05:06 +0530"]
)
def test_an_author_and_a_date_that_a_model_makes_up_are_not_in_what_lands(worked, date):
    repo, report, _ = worked(
        bash(
            f"echo zero > a.txt && {identity('mallory', date)} git commit -qam 'Count a from zero'"
        )
    )

    assert report.ending == "complete", report.why
    (who,) = repo.log("%an %ae %cn %ce %ad %cd")
    assert "mallory" not in who
    assert not any(year in who for year in ("1969", "1970", "2001", "2100")), who


GIT = {
    "a merge": (
        (
            "git checkout -qb side && echo zero > a.txt && git commit -qam 'Count a from zero' && "
            "git checkout -q - && echo zero > b.txt && git commit -qam 'Count b from zero' && "
            "git merge -q --no-edit side"
        ),
        {"a.txt": "one", "b.txt": "zero"},  # the merge is parked, and said to be one
    ),
    "a commit and its revert": (
        (
            "echo zero > a.txt && git commit -qam 'Count a from zero' && git revert --no-edit HEAD && "
            "echo zero > b.txt && git commit -qam 'Count b from zero'"
        ),
        {"a.txt": "one", "b.txt": "zero"},
    ),
    "a bad commit and its revert": (
        (
            "echo broken > a.txt && git commit -qam 'Break a' && git revert --no-edit HEAD && "
            "echo zero > b.txt && git commit -qam 'Count b from zero'"
        ),
        {"a.txt": "one", "b.txt": "zero"},
    ),
    "a bad commit, mended by the next": (
        "echo broken > a.txt && git commit -qam 'Break a' && echo zero > a.txt && git commit -qam 'Mend a'",
        {"a.txt": "zero"},
    ),
    "no branch at all": (
        "git checkout -q --detach && echo zero > a.txt && git commit -qam 'Count a from zero'",
        {"a.txt": "zero"},
    ),
    "a branch of the operator's name": (
        "git checkout -qb main && echo zero > a.txt && git commit -qam 'Count a from zero'",
        {"a.txt": "zero"},
    ),
    "a rebase left half done": (
        (
            "echo zero > a.txt && git commit -qam 'Count a from zero' && git checkout -qb side HEAD^ && "
            "echo two > a.txt && git commit -qam 'Count a from two' && git rebase - ; git status | head -3"
        ),
        {"a.txt": "zero"},
    ),
}


@pytest.mark.parametrize(("command", "landed"), GIT.values(), ids=list(GIT))
def test_whatever_it_does_with_git_what_lands_is_a_line_of_good_commits(worked, command, landed):
    repo, report, _ = worked(bash(command), bash("git status --short"), finish())

    assert report.ending in {"complete", "exhausted"}, (report.ending, report.why, report.notes)
    assert {path: repo.landed(path) for path in landed} == landed, (report.notes, report.parked)
    assert all(len(row.split()) <= 1 for row in repo.log("%P")), "no merge lands"
    assert repo.refs["refs/heads/main"] == repo.git("rev-parse", "main")
    assert len([ref for ref in repo.refs if ref.startswith("refs/heads/")]) == 2


def test_commits_that_a_model_leaves_on_other_branches_are_told_to_it(worked):
    repo, report, provider = worked(
        bash(
            "for n in x y z; do git checkout -qb $n && echo zero > $n.txt && git add -A && "
            'git commit -qm "Add $n" && git checkout -q -; done'
        ),
        changing("a.txt", "zero\n", "Count a from zero"),
        finish(),
        bash("git cherry-pick x y && git branch -D x y"),
    )

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Count a from zero", "Add x", "Add y"]
    told = [request.raw.decode() for request in provider.requests]
    assert "these branches hold more:\\nx\\ny\\nz\\n" in told[3]
    assert "these branches hold more" not in told[2]
    assert "hold more:\\nz" not in told[4], "it is objected once"


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_bytes_that_are_no_text_reach_every_role(make, serve, family):
    """In a file's name, in its content, and in the axis: briefs, diffs and examples are made of them."""

    def script(seen):
        first = str(seen.body)
        if "PHASE: confirm" in first:
            return turns([opinion("holds")])(seen)
        if "PHASE: rescan" in first:
            return turns([sites()])(seen)
        work = [
            bash(
                "for f in *.txt; do case $f in keep*) ;; *) printf 'zero \\351\\n' > \"$f\";; esac; done; git commit -qam 'Count from zero'"
            ),
            finish(axis_complete="Pass 2." in first),
        ]
        return turns(work[1:] if "Pass 2." in first else work)(seen)

    serve(script)
    repo = make(0, FILES)
    (repo.folder / "caf\udce9.txt").write_bytes(b"one \xe9\n")
    repo.commit("More")
    repo.gate(CHECKS)

    report = repo.run(axis=AXIS, hired={"family": family}, sandbox="required", confirm="each")

    assert report.ending == "complete", (report.why, report.notes)
    assert len(report.landed) == 1


def test_of_two_runs_at_once_one_works_and_the_other_pays_nothing(make, serve):
    provider = serve(by_phase([[changing("a.txt", "zero\n", "Count a"), finish()]], [sites()]))
    repo = make(0, FILES)
    repo.gate(CHECKS.replace('grep -q "^one$"', WAIT + 'grep -q "^one$"', 1))
    first = forked(campaign, repo.options(axis=AXIS, hired={"family": "claude"}))
    wait_for(repo.tools / "inside")

    second = repo.run(axis=AXIS, hired={"family": "gpt"})

    asked = len(provider.requests)
    (repo.tools / "go").touch()
    assert exit_code(first) == 0
    assert (second.ending, asked) == ("busy", 0)
    assert {request.family for request in provider.requests[:2]} == {"claude"}
    assert repo.log("%s") == ["Count a"]


def test_what_it_writes_without_end_is_cut_in_what_is_kept_of_it(make, serve):
    page = "so \x1b[31m[bold]" * (MEGA // 8)
    named = [{"path": "a.txt", "line": n + 1, "what": page[:2000]} for n in range(500)]
    looks = [sites(*named, {"path": page[:5000], "line": 1, "what": page}), sites()]
    asked: list[str] = []

    def rescan(seen):
        asked.append(seen.family)
        return looks[min(len(asked), 2) - 1]

    ask = Turn(calls=(Call("ask", {"question": page, "assumption": page}),))
    end = finish(needs_human=page, sites_remaining=[page] * 9, note=page)
    provider = serve(
        by_phase(
            [
                [ask, changing("a.txt", "zero\n", "Count a from zero"), end],
                [changing("b.txt", "zero\n", "Count b from zero"), finish()],
            ],
            [rescan],
        )
    )
    repo = make(0, FILES)
    repo.gate(CHECKS)

    report = repo.run(axis=AXIS, hired={"family": "claude"}, sandbox="required")

    assert report.ending == "complete", report.why
    assert len(repo.state().model_dump_json()) < MEGA
    assert len(report.model_dump_json()) < MEGA
    second = next(r for r in provider.requests if b"Pass 2." in r.raw)
    assert len(second.raw) < MEGA
