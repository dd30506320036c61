#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# With --json stdout is one JSON document, whatever happens: the answer, or the error with message, hint and code as
# /api/v1 has it. An error after the answer stays text on stderr. The status is that of the same command without --json.
. "$(dirname "$0")/../cli/lib.sh"

# error CODE STATUS COMMAND...: stdout is that error, and stderr says it to people
error() {
    local code=$1 expected=$2
    shift 2
    fails "$expected" "$@"
    same "$code" "$(python3 -c '
import json, sys
e = json.loads(sys.argv[1])["error"]
assert set(e) == {"message", "hint", "code"} and e["message"] and "hint:" not in e["message"], e
assert e["message"].split("\n")[0] in sys.argv[2], sys.argv[2]
print(e["code"])' "$out" "$err")" "$*"
}

error store 3 orch show @last --json
error usage 2 orch ls --json --limit many
error usage 2 orch ls --nope --json
error usage 2 orch nosuch --json
error usage 2 orch show --json
error not_found 2 orch plan none.recipe --json
error io 3 orch -C nowhere ls --json
printf 'format: 1\nrecipe: r\nexperiments: { a: { program: "./a.sh", sweeep: { x: [1] } } }\n' >r.recipe
error recipe 2 orch check r.recipe --json
error recipe 2 orch run r.recipe --json
error recipe 2 orch config r.recipe --json
error no_plugin 4 orch plugin show nosuch --json

# an option's value and the words after '--' are no request for JSON
fails 2 orch ls --nope -- --json
same '' "$out"

# a trial that fails: the answer was printed, and stdout stays one document
printf '#!/bin/sh\nexit 3\n' >a.sh
chmod +x a.sh
sed -i 's/, sweeep: .*$/ } }/' r.recipe
fails 1 orch run r.recipe --json
python3 -c 'import json, sys; d = json.loads(sys.argv[1]); assert "error" not in d and d["schema_version"] == 1' "$out"
error not_found 2 orch show nosuchrun --json
fails 2 orch show nosuchrun
same '' "$out"
says "orch: "
