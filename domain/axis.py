"""The axis: one determined improvement; how it is typed, named as a branch, and shown."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from hashlib import sha256
from typing import assert_never

from domain.axis_kinds import (
    SELECTORS,
    AstGrep,
    Axis,
    Catalogue,
    CatalogueEntry,
    Commands,
    Engine,
    Ruff,
    Sentence,
)
from domain.value import Refused

__all__ = [
    "AstGrep",
    "Axis",
    "Catalogue",
    "CatalogueEntry",
    "Commands",
    "Engine",
    "Ruff",
    "Sentence",
    "for_codemod",
    "parse_axis",
    "slug",
    "title",
]

SLUG_LENGTH = 60
DIGEST_LENGTH = 8
TITLE_LENGTH = 80
KINDS = "ruff:SELECTORS, ast-grep:RULE.yml, 'cmd:FIND => EDIT'"


def parse_axis(text: str, catalogue: Mapping[str, CatalogueEntry], *, unsafe: bool = False) -> Axis:
    """The axis that somebody typed. `unsafe` opens ruff's unsafe fixes."""
    text = text.strip()
    if not text.isprintable():
        raise Refused(
            f"the axis {text!r} has characters that cannot be printed. Type it on one line."
        )
    scheme, colon, rest = text.partition(":")
    match scheme if colon else "":
        case "ruff":
            return Ruff(select=_selectors(rest), unsafe=unsafe)
        case "ast-grep":
            return AstGrep(rule=_rule(rest))
        case "cmd":
            return _commands(rest)
        case _:
            pass
    if text in catalogue:
        return _from_catalogue(catalogue[text], unsafe=unsafe)
    if any(c.isspace() for c in text) and not text.startswith("-"):
        return Sentence(text=" ".join(text.split()))
    raise Refused(_unknown(text, catalogue))


def for_codemod(axis: Axis, catalogue: Mapping[str, CatalogueEntry]) -> Engine:
    """The engine of `axis`, for the executor that has no model behind it."""
    match axis:
        case Catalogue(name=name):
            if name not in catalogue:
                raise Refused(_unknown(name, catalogue))
            return catalogue[name].engine
        case Sentence(text=text):
            raise Refused(
                f"the axis {text!r} is a sentence, and the codemod executor only applies rules. "
                f"Choose a model executor, or an axis with a rule: {_known(catalogue)}, {KINDS}."
            )
        case _:
            return axis


def slug(axis: Axis) -> str:
    """The axis as a part of a branch name: short, stable, nothing git or a shell acts on."""
    match axis:
        case Catalogue(name=name):
            return _shaped(name, name)
        case Ruff(select=select, unsafe=unsafe):
            said = f"ruff-{select.replace(',', '-')}{'-unsafe' if unsafe else ''}"
            return _shaped(said, said.lower())
        case AstGrep(rule=rule):
            return _shaped(f"ast-grep-{_rule_name(rule)}", rule)
        case Commands(find=find, edit=edit):
            return _shaped(f"cmd-{find}", f"{find} => {edit}")
        case Sentence(text=text):
            return _shaped(text, text)
        case _:
            assert_never(axis)


def title(axis: Axis) -> str:
    """The axis on one line, for people."""
    match axis:
        case Catalogue(name=name):
            return name
        case Ruff(select=select, unsafe=unsafe):
            return f"{_shortened(f'ruff:{select}')}{' (unsafe fixes too)' if unsafe else ''}"
        case AstGrep(rule=rule):
            return _shortened(f"ast-grep:{_rule_name(rule)}")
        case Commands(find=find, edit=edit):
            return _shortened(f"cmd:{find} => {edit}")
        case Sentence(text=text):
            return _shortened(text)
        case _:
            assert_never(axis)


def _from_catalogue(entry: CatalogueEntry, *, unsafe: bool) -> Axis:
    if not unsafe:
        return Catalogue(name=entry.name)
    if not isinstance(entry.engine, Ruff):
        raise Refused(
            f"--unsafe opens ruff's unsafe fixes, and the axis {entry.name!r} is no ruff axis. "
            f"Leave --unsafe out."
        )
    return entry.engine.model_copy(update={"unsafe": True})


def _selectors(text: str) -> str:
    select = ",".join(dict.fromkeys(part.strip().upper() for part in text.split(",")))
    if not re.fullmatch(SELECTORS, select):
        raise Refused(
            f"{text!r} is no list of ruff selectors. A selector is letters, then digits: "
            f"ruff:UP, ruff:C4,SIM, ruff:RET505. `ruff rule --all` lists them."
        )
    return select


def _rule(text: str) -> str:
    if not text or text.startswith("-") or not text.endswith((".yml", ".yaml")):
        raise Refused(
            f"{text!r} is no rule file of ast-grep. Name a YAML file, as in ast-grep:rules/no-print.yml."
        )
    return text


def _commands(text: str) -> Commands:
    parts = [part.strip() for part in text.split(" => ")]
    if len(parts) != 2 or not all(parts):  # noqa: PLR2004 -- find and edit
        raise Refused(
            f"'cmd:{text}' has {len(parts) - 1} ' => ' and needs one, between the command that "
            f"lists the sites and the one that edits a site: 'cmd:./find.sh => ./edit.sh'."
        )
    return Commands(find=parts[0], edit=parts[1])


def _unknown(text: str, catalogue: Mapping[str, CatalogueEntry]) -> str:
    close = get_close_matches(text, catalogue, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"no axis {text!r}.{hint} Known: {_known(catalogue)}. Or one of {KINDS}; or state it as a "
        f"sentence, as in 'split every file over 600 lines'."
    )


def _known(catalogue: Mapping[str, CatalogueEntry]) -> str:
    return ", ".join(sorted(catalogue)) or "(the catalogue is empty)"


def _rule_name(rule: str) -> str:
    """The rule's own id if this is its YAML, else the name of its file."""
    if found := re.search(r"^id:[ \t]*['\"]?([^\s'\"#]+)", rule, re.MULTILINE):
        return found[1]
    last = (rule.strip().splitlines() or [""])[-1].replace("\\", "/").rsplit("/", 1)[-1]
    return re.sub(r"\.ya?ml$", "", last)


def _shaped(said: str, exact: str) -> str:
    """`said` in the characters of a slug; with a digest of `exact` where that loses something."""
    text = re.sub(r"[^a-z0-9._-]+", "-", said.lower())
    text = re.sub(r"[.-]{2,}", "-", text).strip("._-")
    if text == exact and len(text) <= SLUG_LENGTH and not text.endswith(".lock"):
        return text
    digest = sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]
    head = text[: SLUG_LENGTH - DIGEST_LENGTH - 1].rstrip("._-")
    return f"{head}-{digest}" if head else digest


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"
