# A part that is missing is named with the way to get it where the program is installed: below a prefix, in a Python environment, in a clone. The
# Debian packages have tests/deb_install.sh, and all texts a unit test.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# no other text of the program sends its user to a script that only a clone has
cat >named.py <<'P'
import os, re, sys
count = 0
found = []
for folder in ("core", "features", "lib", "plugins", "predictors", "store"):
    for place, _, names in os.walk(os.path.join(sys.argv[1], folder)):
        for name in names:
            if not name.endswith((".c", ".h", ".cpp", ".cu", ".py")) or name in ("program_parts.c", "cmd_plugin_build.c", "pixels_missing.c"):
                continue
            count += 1
            with open(os.path.join(place, name), encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
            if "./build.sh" in text or "build orch again" in text:
                found.append(os.path.join(place, name))
print("\n".join(found))
sys.exit(bool(found) or count < 500)
P
ok python3 named.py "$SOURCE"
ok cmake --install "$BUILD" --prefix "$SCRATCH/it"
plugins=$SCRATCH/it/lib/orch/plugins
rm -rf "$plugins"/allreduce.so "$plugins"/common/orch-torch.* "$plugins"/common/orch-opencv.so "$plugins"/common/orch-smpi-worker
cat >n.recipe <<'R'
format: 1
recipe: n
experiments:
  sim: { plugin: simcluster, with: { bytes: 1KB, bandwidth: 10, latency: 10, workers: 2 } }
  train: { plugin: train, with: { dataset: synthetic, image_size: 32, per_class: 8, epochs: 1, net: lenet5 } }
R
printf 'format: 1\nrecipe: m\nexperiments:\n  m: { plugin: allreduce }\n' >m.recipe
# hints_are FOLDER OPENCV SIMGRID MPI HOST: what the program of the installation in FOLDER says
hints_are() {
    local orch=$1/bin/orch
    rm -rf .orch
    _run "$orch" doctor
    has 'orch plugin build train'
    has "$2"
    _run env -u ORCH_TORCH "$orch" run n.recipe
    says 'orch plugin build train'
    says "$3"
    fails 4 "$orch" check m.recipe
    says "'allreduce' comes with orch and needs MPI: $4"
    mv "$1/libexec/orch/orch-host" away
    _run "$orch" doctor
    has "$5"
    mv away "$1/libexec/orch/orch-host"
}
hints_are "$SCRATCH/it" "in a clone of orch, './build.sh build'" "in a clone of orch, './build.sh simgrid'" "in a clone of orch, './build.sh build'" "in a clone of orch, './build.sh build'"
mv "$SCRATCH/it" "$SCRATCH/orch_run"
hints_are "$SCRATCH/orch_run" 'the wheel has none' 'the wheel has none' 'the wheel has none' 'pip install --force-reinstall'
# a clone
mkdir -p tree/plugins
cp "$BUILD/orch" tree/
_run tree/orch doctor
has './build.sh build'
has './build.sh torch'
has 'apt-get install libopencv-dnn-dev, then ./build.sh build'
