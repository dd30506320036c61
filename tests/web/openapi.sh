#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: timeout=120
# '/api/v1/openapi.json' is OpenAPI, describes each address, and an error of the interface has the form that it says.
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
judge_by openapi_spec_validator jsonschema
ok orch try -- echo loss=1
orch serve --port 0 >serve.out 2>&1 &
server=$!
trap 'was=$?; kill $server 2>/dev/null; cleanup $was' EXIT
until_true grep -q http serve.out
address=$(grep -om1 'http://[^ /]*' serve.out)
cat >judge.py <<'P'
import json, sys, urllib.error, urllib.request
import jsonschema, openapi_spec_validator
base = sys.argv[1]
spec = json.load(urllib.request.urlopen(base + "/api/v1/openapi.json"))
openapi_spec_validator.validate(spec)
schema = spec["components"]["responses"]["Error"]["content"]["application/json"]["schema"]
try:
    urllib.request.urlopen(base + "/api/v1/runs/nosuchrun")
    raise SystemExit("there is such a run")
except urllib.error.HTTPError as e:
    jsonschema.validate(json.load(e), schema)
plain = [p for p, o in spec["paths"].items() if "get" in o and "{" not in p and "live" not in p]
for path in plain:
    needed = any(p["required"] for p in spec["paths"][path]["get"]["parameters"])
    try:
        status = urllib.request.urlopen(base + path).status
    except urllib.error.HTTPError as e:
        status = e.code
        jsonschema.validate(json.load(e), schema)
    assert status == 200 or needed or path.endswith("group"), (path, status)
assert len(plain) > 15, plain
P
ok "$judge" judge.py "$address"
