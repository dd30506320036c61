#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# core/cli and core/commands call no function of a lower folder but those of docs/layer_calls.txt. A call that is not listed and a line that
# is out of date are found.
set -u
root=$1 place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/docs" "$place/store" "$place/lib/base" "$place/lib/net" "$place/predictors" "$place/core/cli"
printf '/** orch_named() */\nstruct orch_one;\nint orch_one(void);\n#define ORCH(x) orch_macro(x)\n' >"$place/store/a.h"
printf 'int orch_two(int of);\n' >"$place/lib/net/b.h" && printf 'int orch_base(void);\n' >"$place/lib/base/c.h"
printf '/* orch_one() */ struct orch_one *x; int f(void) { return orch_base() + orch_macro("orch_two"); }\n' >"$place/core/cli/d.c"
echo '# none' >"$place/docs/layer_calls.txt"
python3 "$root/tests/layer_calls.py" "$place" 2 || { echo "a call is seen where there is none"; exit 1; }
python3 "$root/tests/layer_calls.py" "$place" 3 >/dev/null 2>&1 && { echo "missing headers are not noticed"; exit 1; }
echo 'int g(void) { return orch_two(1); }' >>"$place/core/cli/d.c"
python3 "$root/tests/layer_calls.py" "$place" 2 >"$place/said" 2>&1 && { echo "a call is not found"; exit 1; }
grep -q "^core/cli/d.c: 'orch_two' is of lib/net/b.h" "$place/said" || { cat "$place/said"; exit 1; }
echo 'orch_two: it counts' >"$place/docs/layer_calls.txt"
python3 "$root/tests/layer_calls.py" "$place" 2 || { echo "a listed call fails"; exit 1; }
echo 'orch_one: it was called once' >>"$place/docs/layer_calls.txt"
python3 "$root/tests/layer_calls.py" "$place" 2 >/dev/null 2>&1 && { echo "a line that is out of date is not found"; exit 1; }
python3 "$root/tests/layer_calls.py" "$root" 500
