# A Python program's runs with two versions of PyTorch: their times are not pooled in forecasts or in predictors.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
real=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
series=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
environment() { # environment FOLDER VERSION: one that has that version of PyTorch installed
    mkdir -p "$1/bin" "$1/lib/python$series/site-packages/torch-$2.dist-info"
    ln -s "$real" "$1/bin/python3"
    printf 'home = /usr/bin\ninclude-system-site-packages = false\n' >"$1/pyvenv.cfg"
}
environment "$SCRATCH/one" 1.13.1
environment "$SCRATCH/two" 2.5.0
printf '#!/usr/bin/env python3\nprint("score 1")\n' >job.py
chmod +x job.py
cat >job.plugin <<'M'
plugin: job
version: 1.0.0
about: prints a number
command: [./job.py, "${size}"]
parameters:
  size: { type: int, default: 1 }
metrics:
  score: max
M
printf 'format: 1\nrecipe: r\nexperiments:\n  job: { plugin: job, reuse: device, sweep: { size: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } }\n' >r.recipe
printf '.orch\n' >.gitignore
git add -A
git commit -qm all
here=$PATH
use() { PATH=$SCRATCH/$1/bin:$here; }
use one
ok orch run r.recipe -s job.size=1 -q
ok orch plan r.recipe --json
same "$(json trials.0.forecast)" null
[ "$(json trials.1.forecast.tier)" = fitted ] || _fail 'no forecast'
use two
ok orch plan r.recipe --json
same "$(json trials.1.forecast)" null 'forecast by runs of 1.13.1'
ok orch run r.recipe -q
ok orch predictor train --where 'experiment = job' --untuned
says 'left out: 1 runs that used another version of LibTorch or PyTorch'
