"""New secrets are found in what a chain adds, and nothing else is (cases.md, S6; trap T99)."""

import base64
from urllib.parse import quote

import pytest
from credentials import HONEST, SECRETS

OWN = "kV9x-2mQ7/pL4z+Rt8W"
"""A value of the operator's. Nothing but the name of its variable says that it is secret."""


def at(number, path):
    """A place of its own for each text, so that one chain holds them all."""
    return f"{number}/{path}"


def test_each_kind_is_found_with_its_place_and_without_its_value(campaign):
    """S6."""
    edits = {
        kind: (at(n, path), f"\n{text}\n") for n, (kind, (path, text)) in enumerate(SECRETS.items())
    }

    chain = campaign.chain(*({path: text} for path, text in edits.values()))

    missed = [kind for kind, commit in zip(edits, chain.commits, strict=True) if not commit.leaks]
    assert missed == []
    for (path, text), commit in zip(edits.values(), chain.commits, strict=True):
        assert {(leak.path, leak.line) for leak in commit.leaks} == {(path, 2)}
        values = [word for word in text.replace('"', " ").split() if len(word) > 10]
        assert not any(value in leak.to_json() for value in values for leak in commit.leaks)


def test_honest_lines_are_admitted(campaign):
    """S6, T99."""
    edits = [{at(n, path): f"{text}\n"} for n, (path, text) in enumerate(HONEST.values())]

    chain = campaign.chain(*edits)

    assert {
        kind: commit.leaks for kind, commit in zip(HONEST, chain.commits, strict=True)
    } == dict.fromkeys(HONEST, ())


def secret(kind):
    return SECRETS[kind][1]


def test_what_the_repository_holds_already_is_not_new(target, open_campaign):
    """S6: a line that is moved, written anew, renamed or copied; the token was the repository's before."""
    key, token = secret("Stripe"), secret("GitHub")
    target.commit({"old.js": f"a\n{key}\nb\n", "b.py": f"{token}\n"})
    campaign = open_campaign(target)

    chain = campaign.chain(
        {"old.js": f"{key}\na\nb\n"},
        {"old.js": f"    {key.replace(' = ', '=')};  // formatted\n"},
        {"old.js": None, "new.js": f"{key}\n"},
        {"copy.py": f"if True:\n    {token}\n"},
    )

    assert [commit.leaks for commit in chain.commits] == [(), (), (), ()]


def test_a_second_secret_beside_one_that_is_there_is_new(target, open_campaign):
    target.commit({"a.py": f"{secret('GitHub')}\n"})
    campaign = open_campaign(target)

    (commit,) = campaign.chain({"a.py": f"{secret('GitHub')}\n{secret('Anthropic')}\n"}).commits

    assert [leak.told for leak in commit.leaks] == ["new secret (Anthropic API Key): a.py:2"]


def test_a_secret_that_goes_is_no_secret_that_comes(target, open_campaign):
    target.commit({"a.py": f"x = 1\n{secret('GitHub')}\n", "id.pem": secret("private key")})
    campaign = open_campaign(target)

    chain = campaign.chain({"a.py": "x = 1\n"}, {"id.pem": None})

    assert [commit.leaks for commit in chain.commits] == [(), ()]


def test_a_key_whose_header_stands_in_the_repository_is_new_all_the_same(target, open_campaign):
    target.commit({"pem.py": 'HEADER = "-----BEGIN RSA PRIVATE KEY-----"\n'})
    campaign = open_campaign(target)

    (commit,) = campaign.chain({"id.pem": secret("private key")}).commits

    assert [leak.kind for leak in commit.leaks] == ["Private Key"]


FORMS = {
    "plain": OWN,
    "quoted for an address": quote(OWN, safe=""),
    "base64": base64.b64encode(OWN.encode()).decode(),
    "base64 behind one byte": base64.b64encode(f"u{OWN}".encode()).decode(),
    "base64 behind two bytes": base64.b64encode(f"us{OWN}:x".encode()).decode(),
    "hexadecimal": OWN.encode().hex(),
    "on two lines": f"{OWN[:9]}\n{OWN[9:]}",
    "on many lines": "\n".join(OWN),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_operators_own_values_are_found_in_every_form(campaign, monkeypatch, form):
    monkeypatch.setenv("BACKUP_TOKEN", OWN)
    monkeypatch.setenv("EDITOR_NAME", "an ordinary value")

    one, two = campaign.chain(
        {"a.txt": f"before\n{FORMS[form]}\nafter\n"}, {"a.txt": "an ordinary value\n"}
    ).commits

    assert {leak.kind for leak in one.leaks} == {"your BACKUP_TOKEN"}
    assert one.leaks[0].line == 2
    assert two.leaks == ()


def test_a_split_value_is_found_beside_a_plain_one_of_another_commit(campaign, monkeypatch):
    monkeypatch.setenv("BACKUP_TOKEN", OWN)

    chain = campaign.chain(
        {"a.txt": f"{OWN}\n"},
        {"b.txt": f"{OWN[:9]}\n{OWN[9:]}\n"},
        {"c.txt": f"{OWN[:9]}\n"},
        {"d.txt": f"{OWN[9:]}\n"},
    )

    assert [bool(commit.leaks) for commit in chain.commits] == [True, True, False, False]


def test_a_password_that_is_a_word_refuses_no_commit(campaign, monkeypatch):
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")

    (commit,) = campaign.chain({"a.py": 'import postgres\nNAME = "postgres"\n'}).commits

    assert commit.leaks == ()


def test_messages_and_names_of_files_are_looked_at(campaign, monkeypatch):
    monkeypatch.setenv("BACKUP_TOKEN", OWN.replace("/", "_"))
    value = OWN.replace("/", "_")

    (named,) = campaign.chain({f"{value}.txt": "x\n"}).commits
    (said,) = campaign.chain({"a.py": "x\n"}, message=f"Fix it\n\nwith {value}\n").commits
    (honest,) = campaign.chain({"a.py": "x\n"}, message="Fix the token of the session\n").commits

    assert [leak.told for leak in (*named.leaks, *said.leaks)] == [
        "new secret (your BACKUP_TOKEN): the message or a file's name"
    ] * 2
    assert honest.leaks == ()


def test_a_secret_deep_in_a_long_line_is_found(campaign):
    (commit,) = campaign.chain({"a.js": "x;" * 40_000 + secret("Stripe") + ";y" * 40_000}).commits

    assert [leak.kind for leak in commit.leaks] == ["Stripe Access Key"]


def test_lines_that_look_like_a_patch_are_counted_right(target, open_campaign):
    target.commit({"a.diff": "one\n-- a\n"})
    campaign = open_campaign(target)

    (commit,) = campaign.chain(
        {"a.diff": f"one\n++ b/c.py\n@@ -1 +77 @@\ndiff --git a b\n{secret('Google')}\n"}
    ).commits

    assert [(leak.path, leak.line) for leak in commit.leaks] == [("a.diff", 5)]


def test_a_commit_with_a_secret_is_recorded_and_never_brought_into_the_target(campaign, target):
    good, bad = campaign.chain({"a.py": "x = 1\n"}, {"pkg/b.py": f"{secret('GitHub')}\n"}).commits
    chain = campaign.chain({"a.py": "x = 1\n"}, {"pkg/b.py": f"{secret('GitHub')}\n"})
    reason = bad.leaks[0].told

    settled = campaign.settle(chain, [good], refused={bad.sha: reason})

    (parked,) = settled.parked
    assert (parked.reason, parked.ref, parked.sha) == (reason, "", "")
    assert not any("parked" in ref for ref in target.refs)
    objects = target.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    assert not any(
        secret("GitHub").encode() in target.raw("cat-file", "-p", name) for name in objects.split()
    )
