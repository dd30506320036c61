#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long SimGrid takes to simulate one step of ResNet-50 on 256 workers, by all-reduce: bench/simcluster.sh [BUILD]
set -eu
source=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:-$source/build}")
command -v smpirun >/dev/null || { echo 'skipped: no smpirun on the PATH (libsimgrid-dev)'; exit 0; }
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >speed.recipe <<R
format: 1
recipe: speed
experiments:
  speed:
    plugin: simcluster
    with: { platform: $source/recipes/platforms/infiniband-256.xml, workers: 256, gpu: V100, scaling: weak, batch: 64 }
    sweep: { algorithm: [ring, segmented_ring, rabenseifner, recursive_doubling, reduce_broadcast] }
R
printf 'load %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
"$build/orch" run speed.recipe -q --db speed.db
"$build/orch" export --db speed.db --format json >runs.json
python3 - <<'P'
import json
print(f"{'algorithm':<20}{'simulation s':>14}{'step s':>10}{'exposed s':>12}{'images/s':>10}")
for run in json.load(open("runs.json")):
    print(f"{run['param.algorithm']:<20}{run['wall_s']:>14.1f}{run['result.step_time']:>10.4f}"
          f"{run['result.exposed_communication_time']:>12.5f}{run['result.throughput']:>10.0f}")
P
