"""Writes down, for the operator, which settings the name server has: `make crds` runs it.

The operator never imports the name server: their images are apart. So it reads this file.
"""

import json
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from signpost_namesrv.settings import CATALOGUE, Setting

TARGET = Path("operator/signpost_operator/data/namesrv-settings.json")


def entry(setting: Setting) -> dict[str, Any]:
    """What the operator needs to know of a setting."""
    field = setting.model.model_fields[setting.attribute]
    kind: Any = field.annotation
    found: dict[str, Any] = {"why": setting.about.why, "expects": setting.expects}
    if setting.about.unit:
        found["unit"] = setting.about.unit
    if setting.about.also:
        found["also"] = list(setting.about.also)
    if not setting.about.effect:
        found["effect"] = False
    if setting.secret:
        found["secret"] = True
    if kind is bool:
        found |= {"type": "boolean"}
    elif get_origin(kind) is Literal:
        found |= {"type": "string", "enum": list(get_args(kind))}
    elif kind is int:
        found |= {"type": "integer"}
        for word, limit in (("minimum", "ge"), ("maximum", "le")):
            values = [getattr(item, limit) for item in field.metadata if hasattr(item, limit)]
            if values:
                found[word] = values[-1]
    else:
        found |= {"type": "string"}
    return found


def catalogue() -> str:
    """The whole file."""
    found = {key: entry(setting) for key, setting in sorted(CATALOGUE.items())}
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(TARGET.write_text(catalogue()) and 0)
