# './build.sh run' installs what the plugins of the recipe need (plugins/NAME/needs); MPI and SimGrid only when a trial
# that would run needs them.
. "$(dirname "$0")/lib.sh"
# neither is there, whatever this machine has
sed 's/command -v \(mpicc\|mpirun\|smpicc\)/command -v none-\1/g' "$SOURCE/build.sh" >build.sh
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
for name; do case " libopenmpi-dev openmpi-bin libsimgrid-dev libtorch-dev " in *" $name "*) ;; *) [[ $name = [-\$]* ]] || echo "installed $name" ;; esac; done
S
stub apt-get <<<'#!/bin/sh
echo "$*" >>asked; exit "$APT"'
stub cmake <<'S'
#!/bin/sh
case "$*" in *' -P '*) [ -e asked ] && echo '-- found: LibTorch 2.0.0 of a stub' ;; esac
touch build/build.ninja build/CMakeCache.txt
S
stub ninja <<<'#!/bin/sh'
stub id <<<'#!/bin/sh
echo 0'
# plans as orch does, and runs nothing
printf '#!/bin/sh\n[ "$2" = --dry-run ] && exec "%s/orch" "$@"\necho "runs: $*"\n' "$BUILD" >build/orch
chmod +x build/orch
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
    got=$(cat asked 2>/dev/null | tr ' ' '\n' | grep '^lib\(openmpi\|simgrid\|torch\)-dev' | sort -u | tr '\n' ' ')
    same "${got% }" "$wanted" "what was installed for 'run $*'"
}
asks libopenmpi-dev r.recipe
asks '' r.recipe p1
asks libopenmpi-dev r.recipe p2 --yes -j 2
asks 'libopenmpi-dev libsimgrid-dev' r.recipe -p large
asks libsimgrid-dev r.recipe --profile large late
# where nothing can be planned: what the text names
asks 'libopenmpi-dev libsimgrid-dev' r.recipe --set nap.unknown=1
# LibTorch for what trains, however the plugin is written
printf 'format: 1\nrecipe: t\nexperiments:\n  a: { plugin: "semisup" }\n' >t.recipe
asks libtorch-dev t.recipe
# what cannot be installed is said, and the rest runs
APT=100
asks libopenmpi-dev r.recipe
says 'could not install libopenmpi-dev openmpi-bin'
says 'what needs MPI is skipped'
# every need is one that build.sh knows
same "$(cat "$SOURCE"/plugins/*/needs | sort -u | tr '\n' ' ')" 'mpi simgrid torch '
