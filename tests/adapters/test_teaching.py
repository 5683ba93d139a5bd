"""A rule from a model is text: ast-grep says what it does to files of the past, and nothing of it is run."""

import pytest

from adapters import teaching
from adapters.processes.tool import TookTooLong
from adapters.repository.landed import examples, first_parent
from adapters.repository.workspaces import store
from adapters.teaching import rehearsed
from domain.lesson import plain_rule
from domain.report import Landed
from domain.teaching import Example
from domain.value import Refused

RULE = """id: new-for-old
language: python
rule:
  pattern: old($A)
fix: new($A)
"""


def example(**files: tuple[str | bytes, str | bytes]) -> Example:
    def raw(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else text.encode()

    changed = tuple((f"{n}.py", raw(old), raw(new)) for n, (old, new) in files.items())
    return Example(sha="1" * 40, place="a.py:1", files=changed)


ONE = example(a=("x = old(1)\r\n", "x = new(1)\r\n"))


@pytest.mark.parametrize(
    ("rule", "of", "verdict"),
    [
        (RULE, ONE, "same"),
        (RULE, example(a=("x = old(1)\ny = old(2)\n", "x = new(1)\ny = old(2)\n")), "same"),
        (RULE, example(a=("x = old(1)\n", "x = new(1)\n"), b=("old(2)", "new(2)")), "same"),
        (RULE, example(a=(b"# \xe9\nx = old(1)\n", b"# \xe9\nx = new(1)\n")), "same"),
        (RULE, example(a=("x = old(1)\n", "import n\nx = new(1)\n")), "other"),
        (RULE, example(a=("x = old(1)\n", "x = new(1)\n"), b=("y\n", "z\n")), "other"),
        (RULE.replace("new(", "newer("), ONE, "other"),
        (RULE.replace("old(", "older("), ONE, "nothing"),
        (RULE.partition("fix")[0], ONE, "nothing"),
        (RULE.replace("python", "go"), ONE, "nothing"),
        (
            RULE.replace("pattern: old($A)", "kind: call").replace("new($A)", "new(1)"),
            ONE,
            "again",
        ),
    ],
)
def test_what_a_rule_makes_of_a_commit_that_landed(rule, of, verdict):
    assert rehearsed(rule, of).verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "no rule at all",
        "id: x\nlanguage: klingon\nrule: {pattern: x}",
        "/etc/passwd",
        "- 1",
        "--help",
    ],
)
def test_what_ast_grep_refuses_is_refused_and_no_file_is_read_in_its_place(text):
    with pytest.raises(Refused, match="does not accept the rule") as refused:
        rehearsed(plain_rule(text), ONE)

    assert "root:" not in str(refused.value)


def nested(depth: int) -> str:
    """A rule whose relations ast-grep tries with each other: seven times as long for each one more."""
    lines = ["id: x", "language: python", "rule:", "  any:", "    - pattern: old($A)", "    -"]
    for level in range(depth):
        space = "  " * (level + 3)
        kinds = ("module", "expression_statement", "assignment", "parenthesized_expression")
        lines += [f"{space}any: [{', '.join(f'{{kind: {kind}}}' for kind in kinds)}]"]
        lines += [f"{space}has:", f"{space}  stopBy: end"]
    lines += [f"{'  ' * (depth + 3)}kind: lambda", "fix: new($A)", ""]
    return "\n".join(lines)


DEEP = f"deep = {'(' * 60}1{')' * 60}\n"


def test_a_rule_that_matches_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr(teaching, "MOST_REHEARSING_SECONDS", 0.5)
    one = example(a=(f"{DEEP}x = old(1)\n", f"{DEEP}x = new(1)\n"))

    with pytest.raises(TookTooLong):
        rehearsed(nested(12), one)


def test_a_rule_with_relations_is_none_that_matches_for_ever():
    one = example(a=(f"{DEEP}x = old(1)\n", f"{DEEP}x = new(1)\n"))

    assert rehearsed(nested(2), one).verdict == "same"


def test_a_rule_is_never_run_by_a_shell(tmp_path):
    """T95."""
    hook = tmp_path / "hook"
    text = f"id: x\nlanguage: python\nrule:\n  pattern: old($A)\nfix: '$(touch {hook})`touch {hook}`'\n"

    assert rehearsed(text, ONE).verdict == "other"
    assert not hook.exists()


def test_examples_are_commits_that_change_the_text_of_files_and_nothing_else(target, campaign):
    shas = [
        target.commit({"a.py": "one\n"}, "text"),
        target.commit({"new.py": "new\n"}, "a new file"),
        target.commit({"a.py": "o\0ne\n"}, "binary"),
        target.commit({"pkg/b.py": "b = 2\n", "a.py": "two\n"}, "back to text, and two files"),
        target.commit({"pkg/b.py": "b = 3\n", "new.py": "newer\n"}, "two files"),
    ]
    (target.folder / "new.py").chmod(0o755)
    shas.append(target.commit({"new.py": "newest\n"}, "text and mode"))
    place = store(campaign.workspace)
    commits = [Landed(sha=sha, site=f"{sha}:1", subject="s", verified="alone") for sha in shas]

    found = examples(place, commits)

    assert [one.sha for one in found] == [shas[0], shas[4]]
    assert found[1].files == (
        ("new.py", b"new\n", b"newer\n"),
        ("pkg/b.py", b"b = 2\n", b"b = 3\n"),
    )
    assert first_parent(place, shas[4]) == shas[3]
