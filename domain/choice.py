"""What may be chosen where an answer is one word. Plain types: the command line reads them before any library."""

from typing import Literal

Grain = Literal["finding", "file", "rule"]
"""What one commit settles."""
Opened = Literal["tests", "ci", "deps", "config"]
"""Protected files that a commit may touch."""
Policy = Literal["auto", "required", "landlock", "off"]
"""`auto`: bubblewrap; without it a model is refused, and a deterministic executor works in the open, said
loudly. `required`: bubblewrap or nothing. `landlock`: the weaker backend, its gaps accepted. `off`: none."""
