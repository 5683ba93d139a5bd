from domain.commit import ABSENT, Change
from domain.pinning import restored


def change(path, old="1", new="2"):
    return Change(
        path=path,
        old_mode="100644" if old else ABSENT,
        new_mode="100644" if new else ABSENT,
        old_blob=old,
        new_blob=new,
    )


def test_protected_files_become_what_they_were_and_added_ones_go():
    changes = (
        change("a.py"),
        change("tests/test_a.py"),
        change("tests/new.py", old=""),
        change("conftest.py", new=""),
        change("src/new.py", old=""),
    )

    assert restored(changes) == {
        "tests/test_a.py": ("100644", "1"),
        "tests/new.py": (ABSENT, ""),
        "conftest.py": ("100644", "1"),
    }


def test_a_change_of_sources_alone_has_no_twin():
    assert restored((change("a.py"), change("src/b.py", old=""))) == {}
