"""A sentence carried through real code by a model that behaves like one (the stub says what it does).

It explores, edits, commits; one edit breaks a test, one is out of scope, and it says that all is done when it is
not. What lands is right to the byte; and the same with rate limits, overloads, cut answers and a kill.
"""

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness import PYTEST, Repo, campaign, exit_code, forked
from model_scripts import finish, pass_of, sites
from stub_script import Call, Fault, Turn, turns

from adapters.processes.sandbox import available
from benchmarks.choices import Choices
from benchmarks.repositories import unpacked
from benchmarks.sdists import archive

pytestmark = [
    pytest.mark.flow,
    pytest.mark.real,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "replace every %-format and every call of str.format by an f-string"
SITES = r"\.format\(|%s"


@dataclass(frozen=True)
class Edit:
    """Texts of one file that are replaced in one commit, wherever they stand."""

    path: str
    texts: dict[str, str]

    @property
    def message(self) -> str:
        return f"Use f-strings in {self.path}: {next(iter(self.texts))[:30]}"

    def turn(self) -> Turn:
        edits = [
            Call("edit", {"path": self.path, "old": old, "new": new, "all": True})
            for old, new in self.texts.items()
        ]
        commit = Call("bash", {"command": f"git commit -qam '{self.message.replace(chr(39), '')}'"})
        return Turn("The next one.", (*edits, commit), thinking="Where is it used?")

    def done(self, text: str) -> str:
        for old, new in self.texts.items():
            assert old in text
            text = text.replace(old, new)
        return text


@dataclass(frozen=True)
class Case:
    """What is there to do in a distribution, and what the model does wrong at first."""

    name: str
    scope: str
    first: tuple[Edit, ...]
    wrong: Edit
    outside: Edit
    second: tuple[Edit, ...]


INFLECTION = "inflection.py"
CASES = [
    Case(
        "inflection",
        INFLECTION,
        first=(
            Edit(INFLECTION, {"r'%s{2,}' % re_sep": "rf'{re_sep}{{2,}}'"}),
            Edit(INFLECTION, {r"r'(?i)\b(%s)\Z' % inflection": r"rf'(?i)\b({inflection})\Z'"}),
        ),
        wrong=Edit(INFLECTION, {'"{}{}".format(number, ordinal(number))': 'f"{number}{ordinal}"'}),
        outside=Edit("docs/conf.py", {"u'inflection'": "f'inflection'"}),
        second=(
            Edit(
                INFLECTION,
                {
                    '"{}{}".format(number, ordinal(number))': 'f"{number}{ordinal(number)}"',
                    'r"(?i)^{sep}|{sep}$".format(sep=re_sep)': 'rf"(?i)^{re_sep}|{re_sep}$"',
                },
            ),
            Edit(
                INFLECTION,
                {
                    'r"(?i)({}){}$".format(singular[0], singular[1:])': 'rf"(?i)({singular[0]}){singular[1:]}$"',
                    'r"(?i)({}){}$".format(plural[0], plural[1:])': 'rf"(?i)({plural[0]}){plural[1:]}$"',
                    'r"{}{}$".format(plural[0].upper(), caseinsensitive(plural[1:]))': 'rf"{plural[0].upper()}{caseinsensitive(plural[1:])}$"',
                    'r"{}{}$".format(plural[0].lower(), caseinsensitive(plural[1:]))': 'rf"{plural[0].lower()}{caseinsensitive(plural[1:])}$"',
                    'r"{}{}$".format(singular[0].upper(),\n                            caseinsensitive(singular[1:]))': 'rf"{singular[0].upper()}{caseinsensitive(singular[1:])}$"',
                    'r"{}{}$".format(singular[0].lower(),\n                            caseinsensitive(singular[1:]))': 'rf"{singular[0].lower()}{caseinsensitive(singular[1:])}$"',
                },
            ),
        ),
    ),
    Case(
        "sqlparse",
        "sqlparse/filters/**",
        first=(
            Edit(
                "sqlparse/filters/others.py",
                {"'_stripws_{cls}'.format(cls=type(tlist).__name__)": "f'_stripws_{type(tlist).__name__}'"},
            ),
            Edit(
                "sqlparse/filters/output.py",
                {"u'{f.varname}{f.count}'.format(f=self)": "f'{self.varname}{self.count}'"},
            ),
        ),
        wrong=Edit(
            "sqlparse/filters/reindent.py",
            {"'_process_{cls}'.format(cls=type(tlist).__name__)": "f'_process_{type(tlist)}'"},
        ),
        outside=Edit(
            "sqlparse/cli.py", {"u'[ERROR] {0}\\n'.format(msg)": "f'[ERROR] {msg}\\n'"}
        ),
        second=(
            *(
                Edit(
                    f"sqlparse/filters/{name}.py",
                    {"'_process_{cls}'.format(cls=type(tlist).__name__)": "f'_process_{type(tlist).__name__}'"},
                )
                for name in ("reindent", "aligned_indent")
            ),
            Edit("sqlparse/filters/right_margin.py", {"'\\n{0}'.format(indent)": "f'\\n{indent}'"}),
        ),
    ),
]  # fmt: skip


def script_of(case: Case):
    look = Turn(calls=(Call("grep", {"pattern": SITES, "glob": f"{case.scope}"}),))

    def found(seen):
        """A fresh look names what the search shows it."""
        rows = [row.split(":", 2) for row in seen.results[-1].splitlines() if row.count(":") > 1]
        return sites(
            *({"path": path, "line": int(line), "what": what.strip()} for path, line, what in rows)
        )

    explore = [
        look,
        Turn(calls=(Call("read", {"paths": [case.wrong.path]}), Call("todo", {"items": ["[>] all of them"]}))),
    ]  # fmt: skip
    lie = finish(note="All of them are replaced, and all tests pass.")
    work = [
        [*explore, *(edit.turn() for edit in (*case.first, case.wrong, case.outside)), lie],
        [*explore, *(edit.turn() for edit in case.second), finish()],
    ]

    def script(seen):
        if "PHASE: rescan" in str(seen.body):
            return turns([look, found])(seen)
        return turns(work[pass_of(seen)])(seen)

    return script


def rough(script, kill):
    """The same, on a bad day: what goes wrong at which answer of the first pass, and how often before it is well."""
    faults = {
        0: [Fault("rate-limit", retry_after=0.1)],
        2: [Fault("overloaded")],
        3: [lambda said: replace(said, ending="cut", after=4)],
        4: [lambda said: replace(said, ending="reset", after=4, meanwhile=kill)],
        6: [lambda said: replace(said, ending="early", after=4), Fault("unavailable")],
    }

    def on_a_bad_day(seen):
        said = script(seen)
        first_pass = "PHASE: work" in str(seen.body) and pass_of(seen) == 0
        wrong = faults.get(seen.answers, []) if first_pass else []
        if seen.attempt >= len(wrong):
            return said
        fault = wrong[seen.attempt]
        return fault if isinstance(fault, Fault) else fault(said)

    return on_a_bad_day


@pytest.fixture(scope="session", name="sdists")
def _sdists() -> dict[str, Path]:
    """Downloaded once for the machine, by pip, from the index that it is set to."""
    return {case.name: archive(case.name, Choices()) for case in CASES}


@pytest.fixture(name="target")
def _target(sdists, tmp_path):
    def target(case: Case, name: str) -> Repo:
        folder = unpacked(sdists[case.name], tmp_path / name)
        repo = Repo(folder, tmp_path / f"{name}-tools", verify=(PYTEST,))
        repo.commit("As it came")
        return repo

    return target


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_lands_in_real_code_is_right_on_a_good_day_and_on_a_bad_one(target, serve, case):
    family = "claude" if case.name == "sqlparse" else "gpt"
    asked = {
        "axis": AXIS, "hired": {"family": family}, "paths": (case.scope,), "sandbox": "required",
        "budget": {"max_usd": 5},
    }  # fmt: skip
    good = target(case, "good")
    provider = serve(script_of(case))

    report = good.run(**asked)

    assert (report.ending, report.passes) == ("complete", 2), report.why
    done = [*case.first, *case.second]
    assert len(good.log()) == len(done)
    for path in {edit.path for edit in done}:
        text = good.git("show", f"main:{path}")
        for edit in done:
            text = edit.done(text) if edit.path == path else text
        assert good.landed(path) == text
    changed = good.git("diff", "--name-only", "main", good.branch).splitlines()
    assert set(changed) == {edit.path for edit in done}
    reasons = {parked.site.partition(":")[0]: parked.reason for parked in report.parked}
    assert reasons.keys() == {case.wrong.path, case.outside.path}
    assert reasons[case.wrong.path] == "red"
    assert reasons[case.outside.path].startswith("scope")
    (red,) = [parked for parked in report.parked if parked.reason == "red"]
    assert red.failures, "it is told which tests it breaks"
    assert report.spend_usd == pytest.approx(provider.bill.usd)

    bad = target(case, "bad")

    def kill():
        (lock,) = bad.home.glob("targets/bad-*/lock")
        os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)

    rough_provider = serve(rough(script_of(case), kill))
    assert exit_code(forked(campaign, bad.options(**asked))) == -signal.SIGKILL
    again = bad.run(**asked)

    assert again.ending == "complete", again.why
    assert bad.git("rev-parse", f"{bad.branch}^{{tree}}") == good.git(
        "rev-parse", f"{good.branch}^{{tree}}"
    )
    assert bad.log("%s") == good.log("%s")
    assert len(rough_provider.bill.rows) == len(provider.bill.rows) + 3, "those that were cut"
    assert again.spend_usd >= rough_provider.bill.usd - 1e-9
    assert bad.state().spend_usd == pytest.approx(again.spend_usd)
