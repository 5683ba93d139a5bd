"""tox: what its default environment would run, read from its settings.

tox itself is not run: for every interpreter it lists it makes an environment of its own, which takes
minutes and a network, and its reports lie where nobody finds them. What it would run is run in the
environment that we prepare, after what it would install.
"""

import configparser
import os
import re
import shlex
from collections.abc import Iterator, Mapping

from domain.script_lines import Kind, for_tests, lines_of, placed, taken
from domain.tables import Contents, Table, as_list, as_table, as_text, table, toml
from domain.workflows import Tested

Sections = Mapping[str, Mapping[str, str]]

BRACES = re.compile(r"\{([^{}]*)\}")
FACTORS = re.compile(r"([!\w.{},-]+):\s+(?=\S)")
CONSTANTS = {
    "posargs": "",
    "envpython": "python",
    "toxinidir": ".",
    "tox_root": ".",
    "/": os.sep,
    ":": os.pathsep,
    "packages": "",
}
NAMES = ("test", "tests", "unit", "py", "py3")
MOST_ROUNDS = 10
MOST_CHARACTERS = 20_000
MOST_OF_ONE = 2_000


def in_tox(contents: Contents) -> Tested | None:
    """The first environment with a test: the common settings, then those that it lists, then those named for tests."""
    for file, sections in _files(contents):
        listed = re.split(r"[\s,]+", sections.get("tox", {}).get("envlist", ""))
        first: Tested | None = None
        for name in ("testenv", *(f"testenv:{name}" for name in (*listed, *NAMES))):
            if name in sections:
                found = _tested(f"[{name}] of {file}", name, sections)
                if found.commands:
                    return found
                first = first or (found if found.left_out else None)
        if first:
            return first
    return None


def _tested(place: str, name: str, sections: Sections) -> Tested:
    own = {**sections.get("testenv", {}), **sections[name]}
    folder = " ".join(_lines(own.get("changedir") or own.get("change_dir") or "", sections))
    commands: list[tuple[Kind, str]] = []
    left_out: list[str] = []
    for line in _lines(own.get("commands", ""), sections):
        if line.startswith("-"):  # its exit code is ignored: it proves nothing
            continue
        said = taken(BRACES.sub("x", line))
        unknown = BRACES.search(line) or BRACES.search(folder)
        if unknown and said.commands:
            left_out.append(f"`{line}`: {unknown[0]} is not known here")
        elif not unknown:
            commands.extend((kind, placed(command, folder, {})) for kind, command in said.commands)
            left_out += said.left_out
    requirements = list(_lines(own.get("deps", ""), sections))
    requirements += [f".[{name}]" for name in re.split(r"[\s,]+", own.get("extras", "")) if name]
    return Tested(
        place=place,
        commands=for_tests(commands),
        left_out=tuple(left_out),
        requirements=tuple(requirements),
    )


def _lines(text: str, sections: Sections) -> Iterator[str]:
    """Its lines, with what is known put in, and without those for some environments alone."""
    text = text[:MOST_CHARACTERS]
    for _ in range(MOST_ROUNDS):
        # Values may name values, and themselves: what grows beyond what people write is cut.
        known = BRACES.sub(lambda braces: _known(braces, sections), text)[:MOST_CHARACTERS]
        if known == text:
            break
        text = known
    for line in lines_of(text):
        factors = FACTORS.match(line)
        if factors is None:
            yield line
        elif all(factor.startswith("!") for factor in factors[1].split(",")):
            yield line[factors.end() :]


def _known(braces: re.Match[str], sections: Sections) -> str:
    word = braces[1]
    if reference := re.fullmatch(r"\[([^\]]+)\](\w+)", word):
        return sections.get(reference[1], {}).get(reference[2], braces[0])[:MOST_OF_ONE]
    name, colon, rest = word.partition(":")
    if name == "env" and ":" in rest:
        return rest.partition(":")[2]
    if name == "posargs" and colon:
        return rest
    return CONSTANTS.get(word, braces[0])


def _files(contents: Contents) -> Iterator[tuple[str, Sections]]:
    if "tox.ini" in contents:
        yield "tox.ini", _ini(contents["tox.ini"].decode(errors="replace"))
    if "setup.cfg" in contents:
        sections = dict(_ini(contents["setup.cfg"].decode(errors="replace")))
        if "tox:tox" in sections:
            yield "setup.cfg", {**sections, "tox": sections["tox:tox"]}
    inside = table(toml(contents.get("pyproject.toml", b"")), "tool", "tox")
    if legacy := as_text(inside.get("legacy_tox_ini")):
        yield "pyproject.toml", _ini(legacy)
    elif inside:
        yield "pyproject.toml", _from_toml(inside)
    if "tox.toml" in contents:
        yield "tox.toml", _from_toml(toml(contents["tox.toml"]))


def _ini(text: str) -> Sections:
    parser = configparser.ConfigParser(interpolation=None, strict=False, default_section="")
    try:
        parser.read_string(text.replace("{envbindir}/", "").replace("{envbindir}{/}", ""))
    except configparser.Error:
        return {}
    found = {name: dict(parser[name]) for name in parser.sections()}
    for section in found.values():
        section["envlist"] = section.get("envlist") or section.get("env_list") or ""
    return found


def _from_toml(whole: Table) -> Sections:
    names = [as_text(name) for name in as_list(whole.get("env_list"))]
    base = {"testenv": _section(table(whole, "env_run_base"))}
    own = {
        f"testenv:{name}": _section(as_table(value)) for name, value in table(whole, "env").items()
    }
    return {"tox": {"envlist": " ".join(names)}, **base, **own}


def _section(settings: Table) -> dict[str, str]:
    """As it would stand in tox.ini."""
    found: dict[str, str] = {}
    if "commands" in settings:
        lines = [" ".join(map(_word, as_list(words))) for words in as_list(settings["commands"])]
        found["commands"] = "\n".join(lines)
    for name in ("deps", "extras"):
        if name in settings:
            found[name] = "\n".join(filter(None, map(as_text, as_list(settings[name]))))
    return found


def _word(word: object) -> str:
    if isinstance(word, str):
        return word if BRACES.search(word) else shlex.quote(word)
    put = as_table(word)
    if put.get("replace") == "posargs":
        return " ".join(map(_word, as_list(put.get("default"))))
    return "{replace}"
