#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Types README's first command in this clone and judges what it leaves behind: no trial is left or skipped, except for a
# GPU; no part of the report is missing; the output shows no error. tests/systems.sh calls it on a machine where nothing
# was ever installed. Exit status: 0 all is there, 1 not.
set -u
cd "$(dirname "$0")/.." || exit 1
command=$(grep -om 1 '\./build\.sh run recipes/[a-z0-9]*\.recipe' README.md) || { echo 'main_job.sh: README has no ./build.sh run'; exit 1; }
recipe=${command##* }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "\$ $command"
$command 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || { echo "main_job.sh: '$command' ended with status $status"; exit 1; }
if grep -nE '^E: |could not install|Traceback|^(orch|build\.sh|CMake Error)[: ]|^FAILED|^failed: |^\[.*  (failed|crashed|timeout|lost|protocol-error)  ' "$log"; then
    echo 'main_job.sh: the output shows these errors'
    exit 1
fi
for what in plan report; do ./orch $what "$recipe" --json >"$log.$what" || exit 1; done
python3 - "$log.plan" "$log.report" <<'P'
import json, sys
plan, report = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
faults = [f"trial {t['trial']} is {t['state']}: {t['reason']}" for t in plan["trials"] if t["state"] != "done" and t["lacks"] != "gpu"]
for section in report["sections"]:
    # what the profile leaves out is "skipped", what the student writes is "student"
    if section["state"] in ("missing", "stale", "partial"):
        faults.append(f"{section['question']} {section['title']}: {section['state']}")
print(f"main_job.sh: {len(plan['trials'])} trials, {len(report['sections'])} sections", *faults, sep="\n  ")
sys.exit(bool(faults))
P
status=$?
rm -f "$log.plan" "$log.report"
exit $status
