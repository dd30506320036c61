#!/usr/bin/env bash
# The time of 'orch plan' is proportional to the number of experiments, also when each refers to the previous one.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_SLOTS=off
mkdir exp
cat >exp/step.plugin <<'Y'
plugin: step
command: [sh, -c, "cat /dev/null >w"]
parameters:
  from: { type: path, default: "" }
  x: { type: int, default: 0 }
artifacts:
  w: w
Y
recipe() { # recipe FILE COUNT chain|flat
    python3 - "$@" <<'P'
import sys
path, count, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(path, "w") as f:
    f.write("format: 1\nrecipe: many\nexperiments:\n")
    for i in range(count):
        more = ', from: "${e%d.w}"' % (i - 1) if kind == "chain" and i else ""
        f.write("  e%d: { plugin: exp/step.plugin, with: { x: %d%s } }\n" % (i, i, more))
P
}
seconds() { # the processor time of a command, the least of three
    python3 -c '
import resource, subprocess, sys
least = None
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    least = spent if least is None else min(least, spent)
print(least)' "$@"
}
git add -A
git commit -qm x
ok orch init
# what a plan of one experiment takes is subtracted; the time is that of the processor, so a loaded machine does not matter
recipe one.recipe 1 flat
one=$(seconds orch plan one.recipe)
for kind in flat chain; do
    for count in 247 990; do recipe "$kind$count.recipe" $count $kind; done
    ok orch plan $kind"990.recipe"
    small=$(seconds orch plan $kind"247.recipe")
    large=$(seconds orch plan $kind"990.recipe")
    echo "$kind: 1 experiment $one s, 247 experiments $small s, 990 experiments $large s"
    python3 -c "raise SystemExit(($large - $one) / max($small - $one, 0.02) > 7)" || _fail "$kind: four times the experiments take $large s instead of $small s"
done
