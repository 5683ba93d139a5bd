"""`swathe plan REPO`: the chunks of a review."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.processes import shell
from adapters.repository.git import Place, git
from cli import review_plan, shortcut
from cli.verbs import app

REFUSED = 2


@pytest.fixture(name="repo")
def _repo(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    place = Place(git_dir=repo / ".git", work_tree=repo)
    repo.mkdir()
    for path, text in {"a/x.py": "x = 1\n" * 50, "b/y.go": "y\n" * 90, "logo.png": "-"}.items():
        (repo / path).parent.mkdir(exist_ok=True)
        (repo / path).write_text(text)
    git(Place(git_dir=repo / ".git"), "init", "-q", str(repo))
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "all")
    return repo


def test_the_chunks_are_shown_with_what_is_skipped_and_why(swathe, repo):
    ran = swathe("plan", str(repo), "--max-review-chunk-tokens", "100")

    assert ran.code == 0
    assert "2 chunks of at most 100 tokens" in ran.out
    assert "estimated" in ran.out
    assert "skipped: 1 file: binary" in ran.out
    assert "Nothing has been changed" in ran.out


def test_the_plan_in_json_is_one_line_and_has_every_part(swathe, repo):
    out = swathe("plan", str(repo), "--json").out

    assert out.count("\n") == 1
    plan = json.loads(out)
    shown = {part["path"]: part["bytes"] for chunk in plan["chunks"] for part in chunk["parts"]}
    assert shown == {"a/x.py": 300, "b/y.go": 180}
    assert plan["skipped"] == {"binary": 1}


def test_a_sample_says_how_far_it_can_be_trusted(swathe, repo):
    plan = json.loads(swathe("plan", str(repo), "--sample", "--json").out)

    assert plan["counted"] is False
    # 50 lines of five tokens and 90 of two, where the extension says 70 and 49.
    assert plan["sampled"]["tokens"] == pytest.approx(380, rel=0.2)
    assert "by a sample, within" in swathe("plan", str(repo), "--sample").out
    refused = swathe("plan", str(repo), "--sample", "--exact")
    assert (refused.code, "Leave --sample out" in refused.err) == (REFUSED, True)


def test_an_exact_plan_is_counted_and_says_so(swathe, repo):
    ran = swathe("plan", str(repo), "--exact")

    assert ran.code == 0
    assert "tokens, counted" in ran.out
    assert json.loads(swathe("plan", str(repo), "--exact", "--json").out)["counted"] is True
    assert json.loads(swathe("plan", str(repo), "--json").out)["counted"] is False


def test_the_words_that_are_no_shortcut_say_the_same(swathe, repo):
    short = swathe("plan", str(repo), "--max-review-chunk-tokens", "100")
    long = swathe("plan", "--max-review-chunk-tokens=100", str(repo))

    assert short == long


WORDS = st.lists(
    st.sampled_from(
        [
            ["repo"],
            ["--json"],
            ["--include-generated"],
            ["--exact"],
            ["--sample"],
            ["--paths", "src/**"],
            ["--paths", "!src"],
            ["--base", "main"],
            ["--max-review-chunk-tokens", "500"],
            ["--reviewer-window-tokens", "2000"],
            ["--reviewer-window-percent", "20"],
            ["--axis", "ruff:UP"],
            ["--verify", "true"],
            ["--json=yes"],
            ["--help"],
            ["--"],
            ["--base"],
            ["--max-review-chunk-tokens", "x"],
        ]
    ),
    max_size=6,
).map(lambda found: [word for words in found for word in words])


@given(WORDS)
def test_the_shortcut_asks_for_what_the_parser_would(words):
    asked = shortcut.plan_in(["plan", *words])
    if asked is None:
        return

    heard: list[dict[str, object]] = []
    shown = review_plan.show
    review_plan.show = lambda repo, **more: heard.append({"repo": repo, **more})
    try:
        with pytest.raises(SystemExit) as left:
            app(["plan", *words], prog_name="swathe")
    finally:
        review_plan.show = shown
    assert left.value.code == 0
    defaults = {**review_plan.show.__kwdefaults__, "of_an_axis": []}
    given = {**defaults, **asked}
    assert {**heard[0], "paths": list(heard[0]["paths"])} == {
        **given,
        "paths": list(given["paths"]),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--verify", "true"], "--verify is of the plan of an axis"),
        (["--branch", "main"], "--branch is of the plan of an axis"),
        (["--max-review-chunk-tokens", "0"], "--max-review-chunk-tokens is 0"),
        (["--reviewer-window-tokens", "0"], "--reviewer-window-tokens is 0"),
        (["--paths", "nothing/**"], "matches --paths 'nothing/**'"),
        (["--paths", "../x"], "leads out of the repository"),
    ],
)
def test_what_cannot_be_meant_is_refused(swathe, repo, words, said):
    ran = swathe("plan", str(repo), *words)

    assert ran.code == REFUSED
    assert said in ran.err


def test_a_refusal_is_json_where_json_was_asked_for(swathe, repo):
    ran = swathe("plan", str(repo), "--paths", "nothing/**", "--json")

    assert ran.code == REFUSED
    assert json.loads(ran.out)["ending"] == "refused"


def test_a_window_makes_the_chunks_smaller(swathe, repo):
    ran = swathe("plan", str(repo), "--reviewer-window-tokens", "200")

    assert "chunks of at most 90 tokens" in ran.out


def test_the_plan_waits_for_no_library(repo):
    script = (
        "import sys, cli.main\n"
        f"sys.argv = ['swathe', 'plan', {str(repo)!r}]\n"
        "try:\n    cli.main.main()\n"
        "finally:\n"
        "    assert not {'prefect', 'pydantic', 'git', 'typer', 'rich', 'pathspec'} & sys.modules.keys()\n"
    )

    ran = shell.run(
        [sys.executable, "-c", script],
        cwd=Path.cwd(),
        env=dict(os.environ),
        timeout_seconds=60,
        contain=False,
        apart=True,
    )

    assert ran.exit_code == 0, ran.errors
