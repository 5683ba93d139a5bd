"""The ground of a campaign: a small repository with bad sites in it, and a gate that keeps a log of its own.

Everything here is plain git and plain files: nothing of Swathe is used, so that it can be judged from here.
"""

import json
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

GIT = shutil.which("git") or "git"
AXIS = "ruff:UP"
MODULES = 7
FIRST_LINE = "def shown(x):"
PLAIN = f'{FIRST_LINE}\n    return "{{}}".format(x)\n'
CROSSED = f'{FIRST_LINE}\n    return str("a"), "{{}}".format(x)\n'
"""The first finding of the line is bad, and the second cannot be put on the line without it: a second pass."""
PAIR = f'{FIRST_LINE}\n    first = str("a")\n\n    y = x\n\n    return first, "{{}}".format(y)\n'
FILES = {f"m{n:02}.py": PLAIN for n in range(1, MODULES + 1)} | {"m05.py": PAIR, "m07.py": CROSSED}
NEEDLES = {"m03.py": '"{}".format', "m07.py": 'str("a")'}
"""What the gate wants to find in a file. Whoever modernizes it is red."""
UNUSED = f"{FIRST_LINE}\n    import os\n\n    return x\n"
REVIEWED = {f"m{n:02}.py": UNUSED for n in range(1, MODULES + 1)} | {
    "m05.py": f"{FIRST_LINE}\n    return x == None\n",
    "m07.py": f"{FIRST_LINE}\n    import os\n\n    return not x in [1]\n",
}
"""For the reviewers of rules: most have a fix, one has none, and one has something for each of the two."""
REVIEWED_NEEDLES = {"m03.py": "import os"}

CHUNK_TOKENS = "60"
"""Two chunks or three."""

GATE = r"""
tools="{tools}"
call=0
[ ! -e "$tools/calls" ] || read -r call < "$tools/calls"
call=$((call + 1))
echo $call > "$tools/calls"
for lock in "{home}"/targets/*/lock; do read -r engine rest < "$lock"; done
[ ! -e "$tools/at-gate" ] || . "$tools/at-gate"
sums=$(sha1sum *)
bad=0
told=""
for file in m*.py; do
  wanted="{first}"
  while IFS="|" read -r where needle; do [ "$where" != "$file" ] || wanted="$needle"; done < "$tools/needles"
  fine=""
  read -r line < "$file"
  if [ "$line" = "{first}" ]; then
    while read -r line; do case "$line" in *"$wanted"*) fine=yes;; esac; done < "$file"
    [ "$wanted" != "{first}" ] || fine=yes
  fi
  failure=""
  [ -n "$fine" ] || {{ bad=1; failure="<failure message='$file is broken'/>"; }}
  told="$told<testcase classname='checks' name='$file'>$failure</testcase>"
done
[ -z "{named}" ] || echo "<testsuite name='checks'>$told</testsuite>" > "$SWATHE_JUNIT/checks.xml"
echo $bad $sums >> "$tools/log"
exit $bad
"""
"""Shell without a process of its own but one: it is run some ten thousand times."""


@dataclass(frozen=True)
class Kind:
    """What a campaign is like."""

    named: bool
    """The gate names its tests; else it says red or green."""
    each: bool
    """Every commit is verified alone; else in batches."""
    flow: Literal["campaign", "review", "sweep", "units"] = "campaign"
    """review: two reviewers look for sites chunk by chunk; sweep: a list, and two jobs at once; units: both."""

    @classmethod
    def drawn(cls, draw: random.Random) -> Self:
        return cls(named=draw.random() < 0.5, each=draw.random() < 0.5)

    @property
    def words(self) -> str:
        gate = "named" if self.named else "red or green"
        how = "each" if self.each else "batches"
        return f"{gate}, {self.flow if self.review else how}{', sweep' if self.flow == 'sweep' else ''}"

    @property
    def review(self) -> bool:
        """Reviewers of rules look for what is wrong."""
        return self.flow in ("review", "units")


@dataclass(frozen=True)
class Ground:
    """A room with a target, a home for Swathe, and the tools of the test."""

    room: Path
    kind: Kind

    @classmethod
    def laid(cls, room: Path, kind: Kind) -> Self:
        """Make it, from the same base commit every time."""
        ground = cls(room, kind)
        for folder in (ground.target, ground.tools, ground.temporary, ground.programs):
            folder.mkdir(parents=True)
        ground.git("init", "-q", "-b", "main")
        for name, text in (REVIEWED if kind.review else FILES).items():
            (ground.target / name).write_text(text)
        ground.git("add", "-A")
        ground.git("commit", "-q", "-m", "The base")
        needles = "".join(f"{name}|{needle}\n" for name, needle in ground.needles.items())
        (ground.tools / "needles").write_text(needles)
        script = GATE.format(
            tools=ground.tools,
            home=ground.home,
            first=FIRST_LINE,
            named="yes" if kind.named else "",
        )
        (ground.tools / "gate.sh").write_text(script)
        return ground

    @property
    def slug(self) -> str:
        return self.kind.flow if self.kind.review else "ruff-up"

    @property
    def branch(self) -> str:
        return f"refs/heads/swathe/{self.slug}"

    @property
    def state(self) -> str:
        return f"refs/swathe/{self.slug}/state"

    @property
    def parked(self) -> str:
        return f"refs/swathe/{self.slug}/parked/"

    @property
    def needles(self) -> dict[str, str]:
        return REVIEWED_NEEDLES if self.kind.review else NEEDLES

    @property
    def disk(self) -> Path:
        """All that the engine writes."""
        return self.room / "disk"

    @property
    def target(self) -> Path:
        return self.disk / "target"

    @property
    def home(self) -> Path:
        return self.disk / "home"

    @property
    def tools(self) -> Path:
        return self.room / "tools"

    @property
    def temporary(self) -> Path:
        return self.disk / "tmp"

    @property
    def programs(self) -> Path:
        """First on the engine's PATH."""
        return self.room / "bin"

    @property
    def words(self) -> list[str]:
        """What is typed to run the campaign. Without a sandbox: the gate's log lies where nobody of Swathe writes."""
        gate = f"sh {self.tools}/gate.sh"
        if self.kind.review:
            how = [
                "--reviewer",
                "rules",
                "--max-review-chunk-tokens",
                CHUNK_TOKENS,
                "--sandbox",
                "off",
            ]
            verb = ["units", "--jobs", "2"] if self.kind.flow == "units" else ["review"]
            return [*verb, str(self.target), "--verify", gate, "--json", *how]
        each = ["--sandbox", "off", *(["--verify-each"] if self.kind.each else [])]
        verb = ["sweep", "--jobs", "2"] if self.kind.flow == "sweep" else ["run"]
        return [*verb, str(self.target), "--axis", AXIS, "--verify", gate, "--json", *each]

    def environment(self, failpoint: str = "") -> dict[str, str]:
        """The whole environment of the engine."""
        path = f"{self.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        env = {
            "PATH": path,
            "HOME": str(self.room),
            "SWATHE_HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return env | ({"SWATHE_FAILPOINT": failpoint} if failpoint else {})

    def ask(
        self, *words: str, stdin: bytes = b"", git_dir: Path | None = None
    ) -> tuple[int, bytes]:
        """A git command of the test's own: its status, and its output with what it complained of."""
        where = ["--git-dir", str(git_dir)] if git_dir else []
        done = subprocess.run(
            [GIT, *where, *words],
            cwd=self.target,
            env=IDENTITY,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout

    def git(self, *words: str, stdin: bytes = b"") -> str:
        status, out = self.ask(*words, stdin=stdin)
        if status:
            raise RuntimeError(f"git {' '.join(words)}: {out.decode(errors='replace')}")
        return out.decode()

    @cached_property
    def base(self) -> str:
        return self.git("rev-parse", "main").strip()

    @cached_property
    def base_tree(self) -> str:
        return self.git("rev-parse", "main^{tree}").strip()

    @property
    def campaign_home(self) -> Path | None:
        """The engine's folder for the target, once there is one."""
        found = sorted(self.home.glob("targets/*"))
        return found[0] if found else None

    def events(self) -> dict[Path, list[dict[str, Any]]]:
        """What each run wrote down, by its file. The files' names tell no order when the clock jumps."""
        home = self.campaign_home
        files = home.glob("runs/*/events.jsonl") if home else ()
        return {
            file: [json.loads(line) for line in file.read_text().splitlines()] for file in files
        }

    def said(self) -> str:
        """The end of what the engine printed last."""
        path = self.tools / "said"
        return path.read_text(errors="replace")[-9000:] if path.exists() else ""


DATE = "2026-01-01T00:00:00Z"
IDENTITY = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Owner",
    "GIT_AUTHOR_EMAIL": "owner@example.com",
    "GIT_AUTHOR_DATE": DATE,
    "GIT_COMMITTER_NAME": "Owner",
    "GIT_COMMITTER_EMAIL": "owner@example.com",
    "GIT_COMMITTER_DATE": DATE,
}
