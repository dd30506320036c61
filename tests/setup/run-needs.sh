# './build.sh run' installs what the plugins of the recipe need (plugins/NAME/needs); MPI, SimGrid and the engines of
# ONNX files only when a trial that would run needs them.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# neither is there, whatever this machine has
sed 's/command -v \(mpicc\|mpirun\|smpicc\)/command -v none-\1/g; s#/usr/bin/python3#python3#g' "$SOURCE/build.sh" >build.sh
chmod +x build.sh
mkdir stub build plugins
for name in "$SOURCE"/plugins/*/needs; do
    name=$(dirname "$name")
    mkdir "plugins/${name##*/}"
    cp "$name/needs" "plugins/${name##*/}"
done
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do case " libopenmpi-dev openmpi-bin libsimgrid-dev libtorch-dev libopencv-dnn-dev libonnxruntime-dev " in *" $name "*) ;; *) [[ $name = [-\$]* ]] || echo "installed $name" ;; esac; done
S
stub apt-get <<<'#!/bin/sh
echo "$*" >>asked; exit "$APT"'
stub cmake <<'S'
#!/bin/sh
case "$*" in *' -P '*) [ -e asked ] && echo '-- found: LibTorch 2.0.0 of a stub' ;; esac
touch build/build.ninja build/CMakeCache.txt
S
# has pip, and no module
stub python3 <<'S'
#!/bin/sh
case "$*" in '-m pip --version') exit 0 ;; *find_spec*) exit 1 ;; esac
exec "$PYTHON" "$@"
S
stub apt-cache <<<'#!/bin/sh
exit "$CACHE"'
stub ninja <<<'#!/bin/sh'
stub id <<<'#!/bin/sh
echo 0'
# plans as orch does on a machine without mpirun and srun, and runs nothing
printf '#!/bin/sh\n[ "$2" = --dry-run ] && PATH=/none exec "%s/orch" "$@"\necho "runs: $*"\n' "$BUILD" >build/orch
chmod +x build/orch
export PYTHON=$(command -v python3) CACHE=100
unset ORCH_ONNXRUNTIME
PATH=$PWD/stub:$PATH
export APT=0 ORCH_BUILD_DIR=build
cat >r.recipe <<'R'
format: 1
recipe: r
profile: small
profiles:
  small: { experiments: { late: { skip: "not here" } } }
  large: { experiments: { nap: { with: { seconds: 0 } } } }
problems:
  p1: [nap]
  p2: [link]
experiments:
  nap: { plugin: sleep } # not plugin: train
  link: { plugin: allreduce }
  late:
    plugin: simcluster
    with: { workers: 2 }
R
asks() { # asks 'PACKAGES THAT ARE INSTALLED' ARG...
    local wanted=$1
    shift
    rm -f asked
    ok ./build.sh run "$@"
    has "runs: run $*"
    local got
    got=$(cat asked 2>/dev/null | tr ' ' '\n' | grep '^lib\(openmpi\|simgrid\|torch\|opencv-dnn\|onnxruntime\)-dev' | sort -u | tr '\n' ' ')
    same "${got% }" "$wanted" "what was installed for 'run $*'"
}
asks libopenmpi-dev r.recipe
asks '' r.recipe p1
asks libopenmpi-dev r.recipe p2 --yes -j 2
# a trial that only refers to one that needs MPI, and one that needs what no package brings
printf 'format: 1\nrecipe: s\nexperiments:\n  link: { plugin: allreduce }\n  late: { plugin: simcluster, with: { workers: 2, bandwidth: "${link.largest_bandwidth}" } }\n  gpu: { plugin: onnxrun, resources: { gpus: 64 }, with: { onnx: x.onnx } }\n' >s.recipe
asks 'libopenmpi-dev libsimgrid-dev' s.recipe
asks 'libopenmpi-dev libsimgrid-dev' r.recipe -p large
asks libsimgrid-dev r.recipe --profile large late
# where nothing can be planned: what the text names
asks 'libopenmpi-dev libsimgrid-dev' r.recipe --set nap.unknown=1
# LibTorch for what trains, however the plugin is written
printf 'format: 1\nrecipe: t\nexperiments:\n  a: { plugin: "semisup" }\n' >t.recipe
asks libtorch-dev t.recipe
# engines: OpenCV is installed; ONNX Runtime where Debian has it, else how to get it is said
printf 'not read' >x.onnx
printf 'format: 1\nrecipe: o\nexperiments:\n  a: { plugin: onnxrun, with: { onnx: x.onnx } }\n  b: { plugin: sleep }\n' >o.recipe
asks '' o.recipe b
says_not onnxruntime
asks libopencv-dnn-dev o.recipe a
says 'python3 -m pip install onnxruntime'
CACHE=0
asks 'libonnxruntime-dev libopencv-dnn-dev' o.recipe a
says_not 'pip install'
CACHE=100
# what cannot be installed is said, and the rest runs
APT=100
asks libopenmpi-dev r.recipe
says 'could not install libopenmpi-dev openmpi-bin'
says 'what needs MPI is skipped'
# every need is one that build.sh knows
same "$(cat "$SOURCE"/plugins/*/needs | sort -u | tr '\n' ' ')" 'mpi onnxruntime opencv simgrid torch '
