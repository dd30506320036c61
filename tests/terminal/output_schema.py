# SPDX-License-Identifier: GPL-3.0-or-later
"""output_schema.py FOLDER: each N.json there, which 'orch WORDS --json' of N.words printed, fits the schema of its command; a
changed one does not; and every command has a schema, or is listed as one without."""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema


def orch(*words):
    return subprocess.run(["orch", *words], capture_output=True, text=True, check=True).stdout


def main():
    names = [m.group(1) for line in orch("help", "-a").splitlines() if (m := re.match(r"^  ([a-z][a-z-]*(?: [a-z-]+)?)  +\S", line))]
    share = json.loads((pathlib.Path(sys.argv[2]) / "share/schemas/output.json").read_text())
    unknown = set(share["$defs"]) ^ set(names) - set(share["x-no-schema"]) - {"error"}
    assert unknown <= {"error"}, unknown
    wrong, seen = [], set()
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        words = path.with_suffix(".words").read_text().strip()
        name = max((n for n in names if (words + " ").startswith(n + " ")), key=len)
        schema = json.loads(orch("config", "--schema", *name.split()))
        jsonschema.Draft202012Validator.check_schema(schema)
        judge, it = jsonschema.Draft202012Validator(schema), json.loads(path.read_text())
        wrong += [f"orch {words}: {e.json_path}: {e.message[:200]}" for e in judge.iter_errors(it)]
        if not isinstance(it, dict) or judge.is_valid(dict(it, schema_version=2)):
            wrong.append(f"orch {words}: it has no version, or fits another one, too")
        seen.add(name)
    assert len(seen) > 50, len(seen)
    sys.exit("\n".join(wrong) or None)


main()
