#!/usr/bin/env bash
# tests/for.sh [FILE...]: the command that runs the tests of what a change touches; without FILE, of what differs from the last commit.
# tests/for.sh --check BUILD: every source file has tests, and every label of this table is one of BUILD's.
cd "$(dirname "$0")/.." || exit 2

# the beginning of a path, and the labels of its tests; the longest beginning counts. {} is the folder that follows it.
table() {
    cat <<'T'
core/cli            terminal core docs
core/commands       terminal run store
core/feature        core terminal
core/host/crash     host plugins
core/host           host run facts plugins fault
core/inputs         inputs watch
core/plan           run inputs recipe
core/plugin         plugins host
core/recipe         recipe
core/record         run inputs facts fault
core/render         report render
core/report         report
core/results        terminal run
core/rows           learn predict
core/schedule       run slots fault
core/stats          statistics stats
core/workspace      store run
features/           {}
features/artifacts  report
features/cancel     run slurm
features/charts     report
features/completion terminal
features/config     recipe terminal
features/doctor     store setup fault
features/export     report
features/feature_table  core
features/labels     terminal
features/record     python record
features/orch       terminal
features/CMake      core
features/scaling    report scaling
include             plugins host
lib/                {}
lib/cairo           report
lib/data            loader datasets
lib/devices         devices predict
lib/hw              hw facts slots
lib/steptime        predictors predict
lib/tar             share pack
lib/vcs             vcs share inputs
lib/watch           watch inputs
lib/yaml            yaml recipe
lib/zip             terminal pack
plugins             experiments plugins
plugins/common/boxes    boxes reference
plugins/common/comm     workers comm
plugins/common/torch    torch experiments
plugins/allreduce   workers
plugins/asyncsgd    workers
plugins/scaling     workers
plugins/replay      experiments replay actor agent env gorila
predictors          predictors learn predict
predictors/learn    predictors learn reference
predictors/paleo    predictors paleo reference
predictors/search   predictors search
recipes             recipe report
store               store fault
store/exchange      share exchange
share/hardware      hardware predict paleo
share/measured      predict
share/python        python facts
share/web           web
bench               docs
build.sh            setup
cmake               setup
conda               setup
docs                docs
packaging           setup
pyproject.toml      setup
README.md           docs
tests/              {}
T
}

labels_of() { # FILE
    local best='' found='' begin labels rest
    while read -r begin labels; do
        case $1 in "$begin"*) [ ${#begin} -lt ${#best} ] || best=$begin found=$labels ;; esac
    done < <(table)
    rest=${1#"$best"}
    case $rest in */*) rest=${rest%%/*} ;; *) rest='' ;; esac
    echo "${found//'{}'/$rest}"
}

if [ "${1:-}" = --check ]; then
    known=" $(ctest --test-dir "$2" --print-labels | sed -n 's/^  //p' | tr '\n' ' ')"
    status=0
    while read -r file; do
        folder=${file%/*} labels=$(labels_of "$file")
        [ -n "$labels" ] || { echo "$folder has no tests: add a row to tests/for.sh" && status=1; }
        found=no
        for label in $labels; do
            case $known in *" $label "*) found=yes ;; esac
        done
        [ $found = yes ] || { echo "$folder: no test has a label of '$labels'" && status=1; }
    done < <(git ls-files core features lib plugins predictors store | grep '/.*[.][ch]$' | awk '{ folder = $0; sub("/[^/]*$", "", folder) } !seen[folder]++')
    exit $status
fi

[ $# -gt 0 ] || mapfile -t changed < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
labels=$(for file in "$@" "${changed[@]}"; do labels_of "${file#./}"; done | tr ' ' '\n' | sed '/^$/d' | sort -u | paste -sd '|')
echo "ctest --test-dir build -j 2 --output-on-failure -L quick${labels:+ && ctest --test-dir build -j 2 --output-on-failure -L '^($labels)\$'}"
