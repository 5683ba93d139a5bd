"""What is mounted for whom, and which backend a run uses, or why it is refused."""

import pytest

from domain.sandbox import (
    PORTS,
    Mount,
    Profile,
    SandboxReport,
    agent,
    choose,
    gate,
    ports_in,
    setup,
)
from domain.value import Refused

WORKS = SandboxReport(backend="bubblewrap", works=True, program="/usr/bin/bwrap", version="0.11.0")
BROKEN = SandboxReport(
    backend="bubblewrap", works=False, why="there is no `bwrap`", advice="Install it."
)
WEAKER = SandboxReport(
    backend="landlock", works=True, version="ABI 7", gaps=("one gap", "another gap")
)


def places(profile, *, writable):
    return [mount.place for mount in profile.in_order if mount.writable is writable]


def test_the_agent_writes_to_its_clone_and_to_nothing_else():
    profile = agent("/home/u/agent", readonly=["/home/u/envs/a", "/home/u/store/objects"])

    assert places(profile, writable=True) == ["/home/u/agent"]
    assert places(profile, writable=False) == ["/home/u/envs/a", "/home/u/store/objects"]
    assert (profile.network, profile.temporary) == (False, "")


def test_the_gate_cannot_write_to_git_nor_to_its_environment():
    profile = gate("/s/gate", "/s/scratch", readonly=["/s/envs/a", "/s/envs/a"])

    assert places(profile, writable=True) == ["/s/gate", "/s/scratch"]
    assert places(profile, writable=False) == ["/s/gate/.git", "/s/envs/a"]
    assert (profile.network, profile.temporary) == (False, "/s/scratch/temporary")


@pytest.mark.parametrize("offline", [True, False])
def test_the_set_up_has_the_network_unless_it_is_offline(offline):
    profile = setup("/s/gate", "/s/envs/a", offline=offline)

    assert places(profile, writable=True) == ["/s/gate", "/s/envs/a"]
    assert places(profile, writable=False) == ["/s/gate/.git"]
    assert profile.network is not offline


def test_the_set_up_may_keep_what_it_downloads():
    profile = setup("/s/gate", "/s/envs/a", cache="/s/envs/cache")

    assert places(profile, writable=True) == ["/s/gate", "/s/envs/a", "/s/envs/cache"]


def test_outer_mounts_come_first_and_at_one_place_the_read_only_one_counts():
    mounts = (
        Mount(path="/a/b/c", writable=True),
        Mount(path="/a/b"),
        Mount(path="/x", at="/a/b", writable=True),
        Mount(path="/a"),
    )

    in_order = Profile(kind="gate", mounts=mounts).in_order

    assert [(mount.place, mount.writable) for mount in in_order] == [
        *(("/a", False), ("/a/b", True), ("/a/b", False), ("/a/b/c", True))
    ]


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/s/agent", "/s/gate"),
        ("/s/agent/src/a.py", "/s/gate/src/a.py"),
        ("/s/agents", "/s/agents"),
        ("/elsewhere", "/elsewhere"),
    ],
)
def test_a_path_is_seen_where_it_is_mounted(path, seen):
    assert agent("/s/agent", at="/s/gate").sees(path) == seen


@pytest.mark.parametrize("model", [True, False])
@pytest.mark.parametrize("policy", ["auto", "required"])
def test_a_sandbox_that_works_is_used_without_a_word(policy, model):
    choice = choose(policy, WORKS, model=model)

    assert (choice.backend, choice.said, choice.trailer) == ("bubblewrap", "", "")


def test_a_model_without_a_sandbox_is_refused_with_what_to_do():
    """S3."""
    with pytest.raises(Refused) as refused:
        choose("auto", BROKEN, model=True)

    said = str(refused.value)
    assert said.startswith("sandbox: ")
    assert "there is no `bwrap`" in said
    assert said.endswith("Install it.")


@pytest.mark.parametrize("policy", ["off", "landlock"])
def test_a_program_that_needs_the_whole_sandbox_is_refused_with_less(policy):
    with pytest.raises(Refused, match=f"--sandbox {policy}"):
        choose(policy, WORKS, model=True, whole=True)
    assert choose("auto", WORKS, model=True, whole=True).backend == "bubblewrap"
    with pytest.raises(Refused, match="Install it"):
        choose("auto", BROKEN, model=True, whole=True)


def test_a_deterministic_executor_without_a_sandbox_works_and_says_so():
    """S3."""
    choice = choose("auto", BROKEN, model=False)

    assert (choice.backend, choice.trailer) == ("none", "off")
    assert "no sandbox: there is no `bwrap`" in choice.said
    assert "Install it." in choice.said


@pytest.mark.parametrize("policy", ["required", "landlock"])
@pytest.mark.parametrize("model", [True, False])
def test_what_was_asked_for_is_not_replaced_by_less(policy, model):
    with pytest.raises(Refused, match="sandbox"):
        choose(policy, BROKEN, model=model)


@pytest.mark.parametrize("model", [True, False])
def test_the_weaker_backend_is_used_when_asked_for_and_names_its_gaps(model):
    choice = choose("landlock", WEAKER, model=model)

    assert (choice.backend, choice.trailer) == ("landlock", "landlock")
    assert "one gap; another gap" in choice.said


@pytest.mark.parametrize("report", [WORKS, BROKEN])
@pytest.mark.parametrize("model", [True, False])
def test_off_is_off_and_is_said(report, model):
    choice = choose("off", report, model=model)

    assert (choice.backend, choice.trailer) == ("none", "off")
    assert "--sandbox auto" in choice.said


def test_a_report_in_words():
    assert WORKS.words == "bubblewrap 0.11.0 /usr/bin/bwrap"
    assert WEAKER.words == "landlock ABI 7"
    assert BROKEN.words == "bubblewrap does not work here: there is no `bwrap`"


def test_what_a_read_only_folder_shows_already_is_not_mounted_again():
    mounts = (
        Mount(path="/env"),
        Mount(path="/env/bin/python"),
        Mount(path="/env/build", writable=True),
        Mount(path="/env/build/.git"),
        Mount(path="/env"),
        Mount(path="/other", at="/env/src"),
    )

    shown = [mount.place for mount in Profile(kind="gate", mounts=mounts).in_order]

    assert shown == ["/env", "/env/build", "/env/src", "/env/build/.git"]


@pytest.mark.parametrize(
    ("words", "ports"),
    [
        (["https://pypi.example/simple"], ()),
        (["http://me:secret@10.0.0.1:3141/root/pypi"], (3141,)),
        (
            ["https://a.example:8443/simple https://b.example:8444", "x=http://c.example:8443"],
            (8443, 8444),
        ),
        (
            [
                "http://proxy.example:3128",
                "/a:80",
                "12:30",
                "http://e.example:99999/",
                "http://[::1]:81",
            ],
            (3128, 81),
        ),
    ],
)
def test_the_ports_of_indexes_and_proxies_are_read_from_their_addresses(words, ports):
    assert ports_in(words) == ports


def test_a_set_up_reaches_the_usual_ports_and_those_of_the_operators_indexes():
    assert setup("/gate", "/env", ports=[3141, 443]).ports == (*PORTS, 3141)
    assert setup("/gate", "/env", ports=[3141], offline=True).ports == ()


def test_a_set_up_without_network_needs_a_sandbox():
    """Without one nothing takes the network from it."""
    assert choose("auto", WORKS, model=False, offline=True).backend == "bubblewrap"
    with pytest.raises(Refused, match=r"^sandbox: .*no `bwrap`"):
        choose("auto", BROKEN, model=False, offline=True)
    with pytest.raises(Refused, match="--offline needs one"):
        choose("off", WORKS, model=False, offline=True)
