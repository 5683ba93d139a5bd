"""Mirrors: a target given by URL, fetched into a bare repository of ours."""

from pathlib import Path

import pytest
from repos import Campaign, Repo, fired

from adapters.repository.mirrors import mirror, mirror_name
from adapters.repository.opening import open_target, uncommitted
from domain.target import Target
from domain.value import Refused


@pytest.fixture(name="url")
def _url(target):
    return f"file://{target.folder}"


def opened(url, **more):
    return open_target(Target(repo=url, **more), "ruff-up", "r1")


def test_a_url_is_opened_on_the_head_of_its_mirror(target, url, home):
    workspace = opened(url)

    assert workspace.base == target.head
    assert Path(workspace.git_dir).parent == home / "mirrors"
    assert uncommitted(workspace) == 0
    assert list(target.refs) == ["refs/heads/main"]


def test_a_bare_repository_may_be_given_as_a_url(target, tmp_path):
    """F8: what its refusal advises."""
    target.git("clone", "-q", "--bare", str(target.folder), str(tmp_path / "bare.git"))

    assert opened(f"file://{tmp_path}/bare.git").base == target.head


def test_branches_and_tags_of_the_url_are_bases(target, url):
    target.git("tag", "v1")
    first = target.head
    target.git("checkout", "-q", "-b", "trunk")
    second = target.commit({"a.py": "2\n"})

    assert opened(url, base="trunk").base == second
    assert opened(url, base="main").base == first
    assert opened(url, base="v1").base == first
    with pytest.raises(Refused, match="no commit 'nope'"):
        opened(url, base="nope")


def test_a_mirror_follows_its_url(target, url):
    opened(url)
    head = target.commit({"a.py": "2\n"})

    assert opened(url).base == head


def test_offline_the_mirror_is_taken_as_it_is(target, url):
    asked = Target(repo=url)
    with pytest.raises(Refused, match="was not fetched yet"):
        open_target(asked, "ruff-up", "r1", offline=True)
    first = opened(url).base
    target.commit({"a.py": "2\n"})

    assert open_target(asked, "ruff-up", "r1", offline=True).base == first


def test_what_landed_in_a_mirror_survives_the_next_fetch(target, url):
    campaign = Campaign(url)
    tip = campaign.land({"a.py": "2\n"}).tip
    campaign.end()
    target.commit({"b.py": "2\n"})

    again = Campaign(url, run="r2")

    assert again.recover().tip == tip
    again.end()


@pytest.mark.parametrize("url", ["file:///nowhere/at/all", "https://user:s3cret@127.0.0.1:1/x.git"])
def test_a_url_that_cannot_be_fetched_is_refused_without_its_credentials(url):
    with pytest.raises(Refused, match="could not be fetched") as refusal:
        opened(url)

    assert "s3cret" not in str(refusal.value)


def test_an_empty_url_repository_is_refused(tmp_path):
    Repo(tmp_path / "empty")

    with pytest.raises(Refused, match="has no commit yet"):
        opened(f"file://{tmp_path}/empty")


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c 'touch {0}/fired'",
        "ext://sh -c 'touch {0}/fired'",
        "--upload-pack=touch {0}/fired",
    ],
)
def test_a_url_that_starts_a_program_is_refused(tmp_path, url):
    """G13, G14."""
    with pytest.raises(Refused):
        opened(url.format(tmp_path))

    assert not (tmp_path / "fired").exists()


def test_hooks_of_a_mirror_do_not_run(target, url, tmp_path):
    folder = mirror(url)
    Repo(tmp_path / "x").plant(folder, tmp_path / "canary")
    target.commit({"a.py": "2\n"})

    mirror(url)

    assert [name for name in fired(tmp_path / "canary") if name.startswith("hook")] == []


def test_the_operators_credential_helper_is_asked(tmp_path, monkeypatch):
    """Our options switch all helpers off; the one the operator chose for this URL is put back."""
    helper = tmp_path / "helper.sh"
    helper.write_text(f"#!/bin/sh\necho $1 >> {tmp_path}/asked\n")
    helper.chmod(0o755)
    config = tmp_path / "config"
    config.write_text(f'[credential "http://127.0.0.1"]\n\thelper =\n\thelper = {helper}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    from adapters.repository.git import Place  # noqa: PLC0415
    from adapters.repository.remotes import credentials  # noqa: PLC0415

    Repo(tmp_path / "x")
    place = Place(git_dir=tmp_path / "x/.git", extra={"GIT_CONFIG_GLOBAL": str(config)})

    assert credentials(place, "http://127.0.0.1/a.git") == (f"credential.helper={helper}",)
    assert credentials(place, "http://example.com/a.git") == ()


def test_a_helper_may_ask_for_the_token_in_the_environment_and_no_other_command_sees_it(
    tmp_path, monkeypatch
):
    """What the image of the Dockerfile does."""
    from adapters.repository.git import Place, ask  # noqa: PLC0415
    from adapters.repository.remotes import talk  # noqa: PLC0415

    monkeypatch.setenv("SWATHE_GIT_TOKEN", "hunter2hunter2")
    Repo(tmp_path / "x")
    place = Place(git_dir=tmp_path / "x/.git")
    asking = ("-c", "alias.say=!printenv SWATHE_GIT_TOKEN", "say")

    assert talk(place, "http://127.0.0.1/a.git", *asking)[:2] == (0, "hunter2hunter2\n")
    assert ask(place, *asking)[:2] == (1, b"")


def test_a_mirrors_name_is_plain_and_tells_urls_apart():
    assert mirror_name("https://u:p@example.com/a/b c.git").startswith("b-c-")
    assert mirror_name("git@example.com:a/b.git") != mirror_name("git@example.com:c/b.git")
    assert mirror_name("https://example.com/").startswith("example.com-")
    assert not set(mirror_name("https://u:p@h/\n$(x)")) & set("\n$()/:@")


def test_a_folder_is_no_url(target):
    assert opened(str(target.folder)).git_dir == str(target.folder / ".git")
