"""The tools: exact, bounded, and all or none."""

import os

import pytest
from pydantic_ai.messages import ToolCallPart

from adapters.models.commands import Commands
from adapters.models.conversation import Conversation
from adapters.models.desk import Bench, Desk
from adapters.models.files import Files
from adapters.models.showing import nearest
from adapters.models.toolbox import ENDINGS, TOOLS, definitions, schema
from domain.sandbox import OPEN


@pytest.fixture(name="conversation")
def _conversation(tmp_path):
    made = Conversation.open(tmp_path / "talk.jsonl", {})
    made.begin("k", "work", "PHASE: work")
    return made


@pytest.fixture(name="use")
def _use(clone, conversation):
    """Call one tool; whether it worked, and what it said."""
    bench = Bench(Files(clone.folder), Commands(clone.folder, OPEN), gate=lambda: "red: test_a")
    numbers = iter(range(1000))

    def use(name, **arguments):
        part = ToolCallPart(name, arguments, tool_call_id=f"c{next(numbers)}")
        [result] = Desk(bench, conversation, "work").work([part]).results
        return result.ok, result.text

    return use


def patch(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def test_a_file_is_shown_with_its_lines_and_where_to_go_on(use, clone):
    (clone.folder / "long.py").write_text("".join(f"line {n}\n" for n in range(1, 1001)))

    assert use("read", paths=["a.py"]) == (True, "a.py\n     1\tprint('bye')\n     2\t")
    _, said = use("read", paths=["long.py"], line=10, lines=3)
    assert said.splitlines()[1:] == [
        "    10\tline 10",
        "    11\tline 11",
        "    12\tline 12",
        "(989 more lines; go on with line 13)",
    ]


def test_many_files_share_what_can_be_shown(use, clone):
    for name in ("one.txt", "two.txt"):
        (clone.folder / name).write_text("word " * 30_000 + "\n" + "x\n" * 30_000)
    ok, said = use("read", paths=["one.txt", "nope.py", "two.txt"], lines=2000)

    assert ok
    assert len(said) < 62_000
    assert "150,000 characters" in said
    assert "there is no file 'nope.py'" in said


def test_only_lines_that_were_shown_whole_count_as_read(use, clone, conversation):
    (clone.folder / "wide.txt").write_text("a\nb\n" + "word " * 1_000 + "\nc\n")
    (clone.folder / "tall.txt").write_text("".join(f"{'x' * 90} {n}\n" for n in range(2_000)))

    use("read", paths=["wide.txt"])
    _, said = use("read", paths=["tall.txt"], lines=2000)

    (wide, tall) = conversation.kept("k")
    assert wide.notes == ("wide.txt:1-2", "wide.txt:3-3@1-2000", "wide.txt:4-5$")
    [stretch] = tall.notes
    last = int(stretch.rpartition("-")[2])
    assert 400 < last < 2_000
    assert said.splitlines()[-2].strip().startswith(f"{last}\t")
    assert said.splitlines()[-1] == f"({2_001 - last:,} more lines; go on with line {last + 1})"


def test_the_gate_is_asked_and_answers_in_words(use):
    assert use("run_gate") == (True, "red: test_a")


def test_an_edit_keeps_every_other_byte(use, clone):
    path = clone.folder / "dos.py"
    path.write_bytes(b"a = 1\r\nb = 2\r\n# \xe9\r\n")

    assert use("edit", path="dos.py", old="a = 1\nb", new="a = 3\nb") == (True, "changed dos.py")
    assert path.read_bytes() == b"a = 3\r\nb = 2\r\n# \xe9\r\n"


def test_a_patch_keeps_line_endings_and_modes(use, clone):
    path = clone.folder / "dos.sh"
    path.write_bytes(b"a\r\nb\r\n")
    path.chmod(0o755)

    ok, said = use("apply_patch", patch=patch("*** Update File: dos.sh", " a", "-b", "+c"))

    assert (ok, said) == (True, "update dos.sh")
    assert path.read_bytes() == b"a\r\nc\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_patch_that_fails_at_one_file_changes_none(use, clone):
    os.link(clone.folder / "b.py", clone.folder / "other-name.py")
    before = (clone.folder / "a.py").stat().st_mode
    ok, said = use(
        "apply_patch",
        patch=patch(
            "*** Add File: new.py",
            "+x",
            "*** Update File: a.py",
            "-print('bye')",
            "+print('hello')",
            "*** Update File: b.py",
            "-x = 1",
            "+x = 2",
        ),
    )

    assert not ok
    assert "hard links" in said
    assert said.endswith("Nothing was changed.")
    assert (clone.folder / "a.py").read_text() == "print('bye')\n"
    assert (clone.folder / "a.py").stat().st_mode == before
    assert not (clone.folder / "new.py").exists()
    assert (clone.folder / "b.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("*** Delete File: ../outside",),
        ("*** Update File: link.py", "-x", "+y"),
        ("*** Delete File: .git/HEAD",),
        ("*** Add File: /etc/x", "+y"),
    ],
)
def test_a_patch_reaches_nothing_outside(use, clone, tmp_path, lines):
    outside = tmp_path / "outside"
    outside.write_text("x\n")
    (clone.folder / "link.py").symlink_to(outside)

    ok, said = use("apply_patch", patch=patch(*lines))

    assert not ok, said
    assert outside.read_text() == "x\n"
    assert (clone.folder / ".git" / "HEAD").exists()


def test_the_todo_list_is_counted(use):
    assert use("todo", items=["[x] a.py", "[>] b.py", "[ ] c.py"]) == (True, "3 entries, 2 to do")


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("def secnod():\n    pass", "     3\tdef second():"),
        ("", ""),
        ("nothing like it at all", ""),
    ],
)
def test_the_nearest_text_is_shown(wanted, shown):
    found = nearest("import os\n\ndef second():\n    return 1\n", wanted)
    assert shown in found
    assert bool(found) is bool(shown)


def test_every_tool_is_described_and_nothing_is_said_twice():
    made = definitions()
    assert [tool.name for tool in made] == [*TOOLS, *ENDINGS]
    assert all(tool.description for tool in made)
    assert not any(tool.strict for tool in made)
    assert "title" not in str([schema(takes) for takes in (*TOOLS.values(), *ENDINGS.values())])
