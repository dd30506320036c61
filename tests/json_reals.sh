#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What people and programs read as JSON is made with orch_json_finite or orch_json_real: json_real and the 'f' of
# json_pack give NULL for NaN and infinities, and with it NULL for the whole answer.
set -eu
cd "${1:-$(dirname "$0")/..}"
found=$(git ls-files -co --exclude-standard -- 'core/*.c' 'features/*.c' | grep -vE '^core/(host|recipe|workspace|plan|record|schedule)/' |
    xargs grep -nE '(^|[^_a-z])json_real\(|"[^"]*s:f[ ,}?"]' || true)
[ -z "$found" ] || { printf 'use orch_json_finite (lib/base/json.h):\n%s\n' "$found"; exit 1; }
