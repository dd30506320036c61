#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, configures, builds, and runs. './build.sh help' lists what it can do.
case ${BASH_VERSION:-}:${SHELLOPTS:-} in :* | *posix*) exec env -u POSIXLY_CORRECT bash "$0" "$@" ;; esac # typed as 'sh build.sh'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
umask o-w # a plugin that anyone may write to is not loaded

BUILD=${ORCH_BUILD_DIR:-build}
PREFIX=${ORCH_PREFIX:-}   # libraries of another place (conda's $CONDA_PREFIX, a module): no apt then

# Debian packages, and for each the pkg-config name or program that shows that it is there when apt is
# not used (by prefix, or on another system).
CORE_PACKAGES='gcc:gcc cmake:cmake ninja-build:ninja pkg-config:pkg-config git:git python3:python3
  libglib2.0-dev:glib-2.0 libjansson-dev:jansson libsqlite3-dev:sqlite3 libgit2-dev:libgit2
  libgsl-dev:gsl libfyaml-dev:libfyaml libcurl4-openssl-dev:libcurl libsoup-3.0-dev:libsoup-3.0
  zlib1g-dev:zlib
  libprotobuf-c-dev:libprotobuf-c protobuf-c-compiler:protoc-c
  libjpeg62-turbo-dev:libjpeg libpng-dev:libpng libc6-dev:gcc make:make libcairo2-dev:cairo-ft'
TEST_PACKAGES='libcmocka-dev:cmocka sqlite3:sqlite3 openssh-client:ssh-keygen gnupg:gpg'
# optional: the topology of the machine, for pinning trials (else it is read from /sys)
TOPOLOGY_PACKAGES='libhwloc-dev:hwloc'
# optional: starting plugins as several processes, and the plugin of the tests that adds over them
MPI_PACKAGES='libopenmpi-dev:ompi-c openmpi-bin:mpirun'
# optional: simulated clusters (plugin simcluster)
SIMGRID_PACKAGES='libsimgrid-dev:smpicc'
# optional: engines that run ONNX files (plugin onnxrun); Debian 12 has no ONNX Runtime
OPENCV_PACKAGES='g++:g++ libopencv-dnn-dev:'
ONNXRUNTIME_PACKAGES='libonnxruntime-dev:'
# optional: a cluster's queue and its accounting on this machine, for the tests of --executor slurm
SLURM_PACKAGES='slurm-wlm:slurmctld munge:munged slurmdbd:slurmdbd mariadb-server-core:mariadbd'
# optional: one PDF of a report (weasyprint) and looking at its pages; checking and running its notebooks
PAPER_PACKAGES='weasyprint:weasyprint poppler-utils:pdftoppm python3-nbformat: python3-nbconvert: python3-ipykernel:'
# optional: a browser, in which the tests walk the pages
BROWSER_PACKAGES='chromium:chromium chromium-driver:chromedriver python3-selenium:'
# optional: the shells whose completion is tested, besides bash
SHELL_PACKAGES='zsh:zsh fish:fish'
# what makes a wheel, and tries it in a virtual environment
WHEEL_PACKAGES='patchelf:patchelf python3-venv:'
# optional: PyTorch itself, against which the tests hold networks, their counts and weights
PYTORCH_PACKAGES='python3-torch: python3-torchvision: python3-onnx:'
TORCH_PACKAGES='g++:g++ libtorch-dev: dataset-fashion-mnist:'
# what packing for Debian itself uses
DEB_PACKAGES='dpkg-dev:dpkg-shlibdeps file:file'
# Debian's LibTorch comes with the reference BLAS, which is slower (docs/measurements.md). This variant shares LibTorch's threads.
BLAS_PACKAGES='libopenblas0-openmp:'

say()  { printf '%s\n' "$*" >&2; }
die()  { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

# No <(COMMAND) below: bash 5.2 now and then says "wait_for: No record of process" when such a command ends early.

# ---- what goes on -------------------------------------------------------------------------------

duration() { if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi; }

# How far a log says that its program is: ninja's count, else its last line
progress() {
    tail -c 4000 "$1" 2>/dev/null | tr '\r' '\n' | awk '
        match($0, /^\[[0-9]+\/[0-9]+\]/) { split(substr($0, 2, RLENGTH - 2), n, "/"); count = n[1] " of " n[2] " steps" }
        NF { sub(/^-- /, ""); last = substr($0, 1, 60) }
        END { print count ? count : last }'
}

# watch LOG WHAT: rewrites a line each second on a terminal; elsewhere writes one every 15 s
watch() {
    local log=$1 what=$2 begin=$SECONDS line
    while sleep $([ -t 2 ] && echo 1 || echo "$EVERY_S") >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        line="$what: $(duration $((SECONDS - begin))), $(progress "$log") (log: $log)"
        if [ -t 2 ]; then printf '\r\033[K%.*s' $((${COLUMNS:-80} - 1)) "$line" >&2; else say "$line"; fi
    done
}
EVERY_S=${ORCH_BUILD_EVERY_S:-15}

# attend LOG WHAT COMMAND...: runs it with its output in LOG, and says meanwhile how far it is
attend() {
    local log=$1 what=$2 begin=$SECONDS status=0
    shift 2
    : >"$log"
    [ -t 2 ] || say "$what (log: $log)"
    watch "$log" "$what" 8>&- &
    watcher=$!
    "$@" >"$log" 2>&1 || status=$?
    stop_watching
    return $status
}
watcher=
stop_watching() {
    [ -n "$watcher" ] || return 0
    kill "$watcher" 2>/dev/null && wait "$watcher" 2>/dev/null || true
    watcher=
    [ ! -t 2 ] || printf '\r\033[K' >&2
}
trap stop_watching EXIT

# One build at a time in a folder: two would write the same files.
lock() {
    mkdir -p "$BUILD" 2>/dev/null && { : >>"$BUILD/.lock"; } 2>/dev/null ||
        die "cannot write into '$(realpath -m "$BUILD")'. ORCH_BUILD_DIR=FOLDER builds somewhere else"
    room
    command -v flock >/dev/null || return 0
    exec 8>>"$BUILD/.lock"
    flock -n 8 || { say "another build.sh builds in '$BUILD': waiting for its end"; flock 8; }
}
unlock() { exec 8>&-; }

# A build takes about BUILD_MB in all, and one that is whole needs room for what is compiled anew.
BUILD_MB=200
room() {
    local free needed
    needed=$((BUILD_MB - $(du -sm "$BUILD" 2>/dev/null | awk '{ print $1 + 0 }' || echo 0)))
    [ $needed -ge 30 ] || needed=30
    free=$(df -Pm "$BUILD" 2>/dev/null | awk 'NR == 2 { print $4 }' || true)
    case $free in '' | *[!0-9]*) return 0 ;; esac
    [ "$free" -ge $needed ] ||
        die "only $free MB are free in '$(realpath "$BUILD")', and a build needs about $needed MB. Free some, or ORCH_BUILD_DIR=FOLDER builds somewhere else"
}

usage() {
    cat <<'TXT'
usage: ./build.sh COMMAND

  run RECIPE [ARG...]   set up what the recipe needs, then 'orch run RECIPE ARG...'
  test [ARG...]         set up everything, then all tests (ARG: of ctest, e.g. -L quick); what cannot be
                        installed here is left out, and the tests that need it are named as skipped
  build                 the core: two to seven minutes the first time on two cores, works at once
  torch [--torch WHICH] LibTorch and the training plugins as well. WHICH: auto (the newest of those that
                        python3 and conda import and of Debian's), debian, python, or a folder (a virtual
                        environment, site-packages/torch, a cmake folder); kept for later commands
  gpu                   CUDA kernels for every GPU that nvcc knows. Other commands compile them for the GPUs of
                        this machine; where there is none, only 'all', 'test' and 'install' compile them. A tree
                        that has kernels keeps them
  all                   build, torch and gpu
  simgrid               SimGrid, for clusters that are simulated (plugin simcluster)
  paper                 what 'orch report --pdf' and the notebooks' tests use; not needed for the rest
  browser               a browser for the tests that walk the pages
  asan [ARG...]         all tests again under AddressSanitizer and UBSan
  coverage [ARG...]     the tests again (ARG: of ctest), then the lines and branches that they reach, by folder
  install [--prefix D]  into D (default /usr/local; DESTDIR is respected), with manuals, man pages and
                        the header and pkg-config file that plugin authors need
  deb                   Debian packages of what was built here, in BUILD/deb: orch, and orch-plugins-torch, -mpi, ... where
                        the tree has them ('./build.sh torch --torch debian' first)
  wheel [OUT]           a Python package of the program (without LibTorch, MPI and OpenCV) for machines as new as this one, into
                        OUT (default dist); packaging/wheel.sh makes the one for all Linux with glibc 2.29 or later
  clean                 remove what was built
  packages              print the Debian packages, a line for each stage

environment: ORCH_PREFIX=D  take libraries from D (conda, modules) and never call apt
             ORCH_BUILD_DIR=D  build there instead of in build/
             Torch_DIR=D    the LibTorch to build against, where --torch chose none
TXT
}

# ---- packages -----------------------------------------------------------------------------------

names() { for pair in $1; do printf '%s ' "${pair%%:*}"; done; }

has_apt() { [ -z "$PREFIX" ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# Debian packages of a list that are not installed
missing_deb() {
    local wanted installed
    wanted=$(names "$1" | tr ' ' '\n' | sed '/^$/d' | sort -u)
    # shellcheck disable=SC2086
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
        awk '$1 == "installed" { print $2 }' | sort -u)
    printf '%s\n' "$installed" "$installed" "$wanted" | sort | uniq -u | sed '/^$/d'
}

# What a list asks for and is neither a program nor known to pkg-config
missing_other() {
    local pair probe
    for pair in $1; do
        probe=${pair##*:}
        [ -z "$probe" ] || command -v "$probe" >/dev/null || pkg-config --exists "$probe" 2>/dev/null ||
            printf '%s\n' "${pair%%:*}"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Asks for sudo's password where one is needed, before a status line would hide the question
may_be_root() {
    [ "$(id -u)" = 0 ] ||
        { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; }
}

# All of the packages, or those of them that this Debian has: then false
apt_install() {
    local apt='apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=120'
    local install='install -y --no-install-recommends' known
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    as_root $apt $install "$@" || { as_root $apt update && as_root $apt $install "$@"; } || {
        known=$(apt-cache show --no-all-versions "$@" 2>/dev/null | sed -n 's/^Package: //p' | sort -u)
        [ -z "$known" ] || as_root $apt $install $known
        return 1
    }
}

# install_deb STAGE PACKAGE...: false when apt cannot install all of them. One that this Debian does not
# have (a name of another release's) keeps none of the others away.
install_deb() {
    local stage=$1 begin=$SECONDS; shift
    say "installing for $stage:" "$@"
    may_be_root && attend "$BUILD-apt.log" "installing for $stage" apt_install "$@" ||
        { packages_s=$((packages_s + SECONDS - begin)); return 1; }
    packages_s=$((packages_s + SECONDS - begin))
    say "installed for $stage in $(duration $((SECONDS - begin)))"
}

# What apt said was wrong: an interrupted dpkg, a full disk, a mirror that does not answer
apt_errors() {
    may_be_root || return 0 # it was not called
    sed -n 's/^E: /apt: /p' "$BUILD-apt.log" 2>/dev/null | awk '!seen[$0]++' | head -n 5 >&2
}

# need STAGE LIST: installs what is missing of LIST, or says exactly what to install
need() {
    local stage=$1 list=$2 missing
    if ! has_apt; then
        missing=$(missing_other "$list")
        [ -z "$missing" ] && return 0
        say "missing for $stage:" $missing
        say "Debian's names of all that $stage needs: $(names "$list")"
        die "install them (conda: 'conda env create -f environment.yml'), then ORCH_PREFIX=\$CONDA_PREFIX ./build.sh ..."
    fi
    missing=$(missing_deb "$list")
    [ -z "$missing" ] && return 0
    # shellcheck disable=SC2086
    install_deb "$stage" $missing ||
        { apt_errors
          say "could not install with apt (no root, no network, or no such package here). The packages:"
          say "  apt-get install" $(missing_deb "$list")
          die "install them, or point ORCH_PREFIX to a place that has them"; }
}

# want STAGE LIST [CONSEQUENCE]: installs what is missing of LIST where that is possible, and says so where it is not
want() {
    local stage=$1 list=$2 without=${3:-what needs $1 is skipped} missing
    has_apt || return 0
    missing=$(missing_deb "$list")
    # shellcheck disable=SC2086
    [ -z "$missing" ] || install_deb "$stage" $missing ||
        say "could not install" $(missing_deb "$list") "(no root, no network, or no such package here): $without"
}

# What the tests need, and what is optional but decides how they are built
need_tests() {
    need 'the tests' "$TEST_PACKAGES"
    want 'MPI' "$MPI_PACKAGES"
    want 'simulated clusters' "$SIMGRID_PACKAGES"
    want 'Slurm' "$SLURM_PACKAGES"
    want 'OpenCV' "$OPENCV_PACKAGES"
}

# ---- building -----------------------------------------------------------------------------------

# An old CMake that comes first on the PATH fails in other words, or fails to find LibTorch
check_cmake() {
    local oldest version where=
    oldest=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt 2>/dev/null || true)
    version=$(cmake --version 2>/dev/null | sed -n '1s/^cmake version //p' || true)
    [ -n "$version" ] && [ -n "$oldest" ] || return 0
    [ "$(printf '%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ] || return 0
    [ "$(command -v cmake)" = /usr/bin/cmake ] || [ ! -x /usr/bin/cmake ] || where=", or put /usr/bin first on the PATH"
    die "'$(command -v cmake)' is CMake $version, and orch needs $oldest or later: install a newer one ('pip install cmake' has it)$where"
}

configure() { # configure FOLDER CMAKE-ARGS...
    local folder=$1; shift
    check_cmake
    if [ -n "$PREFIX" ]; then
        export PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig:$PREFIX/share/pkgconfig:${PKG_CONFIG_PATH:-}"
        set -- "$@" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_RPATH="$PREFIX/lib" -DCMAKE_INSTALL_RPATH="$PREFIX/lib"
    fi
    # the tests are built where what they need is installed: to run a recipe nothing of it is wanted
    if pkg-config --exists cmocka 2>/dev/null; then set -- "$@" -DORCH_TESTS=on; else set -- "$@" -DORCH_TESTS=off; fi
    set -- "$@" -DORCH_TORCH_FROM="$(torch_choice)"
    case $(kernels_state) in
        none) set -- "$@" -DORCH_CUDA=off ;;
        *) set -- "$@" -DORCH_CUDA=on -DORCH_CUDA_FOR="$(kernels_state)" ;;
    esac
    # what is installed for MPI, SimGrid, OpenCV and CUDA decides what is built for them
    local stamp="$folder/.configured" key begin=$SECONDS
    key="$* mpicc=$(command -v mpicc || true) smpicc=$(command -v smpicc || true) nvcc=$(nvcc_path)"
    key="$key opencv=$(find /usr/include/opencv* "${PREFIX:-/usr/local}"/include/opencv* -path '*/opencv2/dnn.hpp' 2>/dev/null | head -n 1 || true)"
    # anew when the arguments change, or when what is installed changed since
    if [ ! -f "$folder/build.ninja" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$key" ]; then
        attend "$folder.log" configuring cmake -S . -B "$folder" -G Ninja "$@" ||
            { tail -n 30 "$folder.log" >&2; die "configuring failed; all of it is in $folder.log"; }
        printf '%s' "$key" >"$stamp"
        configuring_s=$((configuring_s + SECONDS - begin))
    fi
}

compile() { # compile FOLDER [TARGET...]
    local folder=$1 begin=$SECONDS before adapter_ms; shift
    before=$(adapter_steps "$folder")
    attend "$folder.log" building ninja -C "$folder" -k 10 "$@" || { failures "$folder.log"; die "building failed$(full_disk "$folder"); all of it is in $folder.log"; }
    building_s=$((building_s + SECONDS - begin))
    adapter_ms=$({ printf '%s\n' "$before" "$before"; adapter_steps "$folder"; } | sort | uniq -u | awk '{ ms += $2 - $1 } END { print ms + 0 }')
    adapter_s=$((adapter_s + (adapter_ms + 500) / 1000))
    [ $((SECONDS - begin)) -lt 2 ] || say "built in $(duration $((SECONDS - begin)))"
}

# The steps of the LibTorch adapter that ninja did last, with their times
adapter_steps() { grep -s 'orch_torch_adapter\|orch-torch' "$1/.ninja_log" | sort -u || true; }

# What each stage took, in seconds; the adapter is part of building
packages_s=0 configuring_s=0 building_s=0 adapter_s=0
stages() {
    local text=
    [ $((packages_s + configuring_s + building_s)) -gt 1 ] || return 0
    [ $packages_s = 0 ] || text="packages $(duration $packages_s), "
    [ $configuring_s = 0 ] || text="${text}configuring $(duration $configuring_s), "
    [ $building_s = 0 ] || text="${text}building $(duration $building_s), "
    [ $adapter_s = 0 ] || text="${text}of which the LibTorch adapter $(duration $adapter_s), "
    row took "${text%, }"
}

full_disk() { ! grep -q 'No space left on device' "$1.log" 2>/dev/null || printf ", because no space was left in '%s' or in '%s'" "$(realpath "$1")" "${TMPDIR:-/tmp}"; }

# The files that ninja could not make, with the first errors of each
failures() {
    awk -v here="$PWD/" '
        /^\[[0-9]+\/[0-9]+\]/ { left = 0 }
        /^FAILED: / { sub(/^FAILED: /, ""); sub(/ .*/, ""); sub(/CMakeFiles\/[^\/]*\.dir\//, ""); sub(/\.o$/, "")
                      print "failed: " $0; left = 3; getline; next } # the next line is the command
        left && /(^|[^a-z-])([Ee]rror|ERROR)[: ]|undefined reference|No space left|[Kk]illed|cannot find/ {
            while (i = index($0, here)) $0 = substr($0, 1, i - 1) substr($0, i + length(here))
            print "  " $0; left-- }' "$1" | head -n 40 >&2
}

# Is this tree set up for training already? And with which LibTorch: what the last --torch chose.
torch_state() { [ -f "$BUILD/.torch" ] && echo on || echo off; }
torch_choice() { if [ -s "$BUILD/.torch" ]; then cat "$BUILD/.torch"; else echo auto; fi; }

nvcc_path() { command -v "${CUDACXX:-nvcc}" || ls {"${CUDA_HOME:-}","${CUDA_PATH:-}",/usr/local/cuda}/bin/nvcc 2>/dev/null | head -n 1 || true; }

# The GPUs of this machine, a line each: "90 NVIDIA H100" (compute capability and name). The driver is asked once.
look_for_gpus() {
    [ -z "${gpus+asked}" ] || return 0
    gpus=
    command -v nvidia-smi >/dev/null || return 0
    if gpus=$(nvidia-smi --query-gpu=compute_cap,name --format=csv,noheader 2>/dev/null); then
        gpus=$(sed -n 's/^\([0-9]*\)\.\([0-9]*\), */\1\2 /p' <<<"$gpus")
    elif gpus=$(nvidia-smi -L 2>/dev/null); then # a driver that does not say compute capabilities
        gpus=$(sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/all \1/p' <<<"$gpus")
    else
        gpus=
    fi
}

# Which CUDA kernels this tree compiles: none, all, or those for some compute capabilities ("80,90")
kernels_state() {
    if [ -s "$BUILD/.gpu" ]; then cat "$BUILD/.gpu"
    # configured by an earlier version of this script, or by hand
    elif grep -q '^CMAKE_CUDA_COMPILER:[A-Z]*=/' "$BUILD/CMakeCache.txt" 2>/dev/null; then echo all
    else echo none; fi
}

# choose_kernels [all]: kernels for the GPUs of this machine, or for all, besides those that the tree has already. Asked for by name
# they are compiled without a GPU, too.
choose_kernels() {
    local chosen
    look_for_gpus
    chosen=$({ kernels_state | tr , '\n'; cut -d ' ' -f 1 <<<"$gpus"; printf '%s\n' "$@"; } | sed '/^none$/d; /^$/d' | sort -un | tr '\n' ,)
    case ",$chosen" in *,all,*) chosen=all ;; esac
    [ -z "$chosen" ] || { mkdir -p "$BUILD" && printf '%s\n' "${chosen%,}" >"$BUILD/.gpu"; }
}

# torch_find CHOICE: the LibTorch that is built against, or why there is none, as cmake/torch_find.cmake says it
torch_find() {
    local answer
    answer=$(cmake -DORCH_TORCH_FROM="$1" ${PREFIX:+-DCMAKE_PREFIX_PATH="$PREFIX"} -P cmake/torch_find.cmake)
    printf '%s\n' "${answer#-- *: }"
    case $answer in '-- found: '*) ;; *) return 1 ;; esac
}

# choose_torch [--torch WHICH]: sets torch_wanted, without a word what was chosen before
choose_torch() {
    torch_wanted=$(torch_choice)
    while [ $# -gt 0 ]; do
        case $1 in
            --torch) [ $# -gt 1 ] || die "--torch needs auto, debian, python or a folder"; torch_wanted=$2; shift 2 ;;
            --torch=*) torch_wanted=${1#*=}; shift ;;
            *) die "unknown argument '$1' (--torch auto, debian, python or a folder)" ;;
        esac
    done
    case $torch_wanted in
        auto | debian | python) ;;
        *) [ -d "$torch_wanted" ] || die "--torch: '$torch_wanted' is no folder, nor auto, debian or python"
           torch_wanted=$(realpath "$torch_wanted") ;;
    esac
}

targets=product
build_core() {
    need 'the core' "$CORE_PACKAGES"
    want 'hwloc' "$TOPOLOGY_PACKAGES"
    choose_kernels
    configure "$BUILD" -DORCH_TORCH="$(torch_state)"
    # shellcheck disable=SC2086
    compile "$BUILD" $targets # the tests follow where they are run
    ln -sfn "$BUILD/orch" orch 2>/dev/null || say "the clone cannot be written: the program is '$BUILD/orch', and not './orch'"
}

# The newest of Debian's and Python's is taken: Debian's is installed where there is no other, or where it is asked for.
build_torch() {
    local found wants_debian=no
    choose_torch "$@"
    need 'the core' "$CORE_PACKAGES"
    want 'hwloc' "$TOPOLOGY_PACKAGES"
    check_cmake
    found=$(torch_find "$torch_wanted") || case $torch_wanted in auto | debian) wants_debian=yes ;; esac
    if has_apt; then
        if [ $wants_debian = yes ]; then need 'training' "$TORCH_PACKAGES"; want 'products of matrices' "$BLAS_PACKAGES" 'LibTorch multiplies matrices with the slow reference BLAS'; else need 'training' "g++:g++ dataset-fashion-mnist:"; fi
    fi
    found=$(torch_find "$torch_wanted") || die "$found"
    mkdir -p "$BUILD" && printf '%s\n' "$torch_wanted" >"$BUILD/.torch"
    # what 'auto' finds changes with the Python that is active, not with the arguments
    [ "$(cached ORCH_TORCH_FOUND)" = "$found" ] || rm -f "$BUILD/.configured"
    say "LibTorch: ${found#LibTorch }"
    build_core
}

# The plugins that the text of a recipe names
recipe_plugins() {
    [ -f "$1" ] || return 0
    sed 's/#.*//' "$1" | grep -o "plugin[\"']\{0,1\}: *[\"']\{0,1\}[a-z][a-z0-9_-]*" | sed "s/.*[: \"']//" | sort -u || true
}

# targets_of PLUGIN...: what ninja builds for a recipe of these plugins: the program, and those of them that come with orch
targets_of() {
    local name
    printf 'orch orch-host'
    for name; do [ ! -f "plugins/$name/plugin.cmake" ] || printf ' trials_of_%s' "$name"; done
}

# The plugins of the trials that 'orch run ARGS...' would start now, or would start if this machine had the software that
# they need; false when it would start nothing for an error
planned_plugins() {
    "$BUILD/orch" run --dry-run --json "$@" 2>/dev/null | python3 -c '
import json, sys
for trial in json.load(sys.stdin)["trials"]:
    if trial["state"] in ("missing", "stale", "waiting") or trial["lacks"] == "software":
        print(trial["plugin"])' 2>/dev/null
}

# needs_of PLUGIN...: what they declare (plugins/NAME/needs): torch, mpi, simgrid, opencv, onnxruntime
needs_of() {
    local name
    for name; do cat "plugins/$name/needs" 2>/dev/null || true; done | sort -u
}

# Which of a list of needs are not installed (LibTorch is not asked for)
not_installed() {
    local need
    for need; do
        case $need in
            mpi) command -v mpicc >/dev/null && command -v mpirun >/dev/null || [ -z "$(missing_deb "$MPI_PACKAGES")" ] || echo mpi ;;
            simgrid) command -v smpicc >/dev/null || [ -z "$(missing_deb "$SIMGRID_PACKAGES")" ] || echo simgrid ;;
            opencv) [ -z "$(missing_deb "$OPENCV_PACKAGES")" ] || echo opencv ;;
            onnxruntime) [ -n "${ORCH_ONNXRUNTIME:-}" ] || python_has onnxruntime || [ -z "$(missing_deb "$ONNXRUNTIME_PACKAGES")" ] || echo onnxruntime ;;
        esac
    done
}

# ONNX Runtime from Debian where that has it, else how to get it from PyPI
want_onnxruntime() {
    if apt-cache show $(names "$ONNXRUNTIME_PACKAGES") >/dev/null 2>&1; then
        want 'ONNX Runtime' "$ONNXRUNTIME_PACKAGES"
    elif python3 -m pip --version >/dev/null 2>&1; then
        say "ONNX Runtime is not installed, and this Debian has no package of it: its trials are skipped. To have it:"
        say "  python3 -m pip install onnxruntime    # or: python3 -m venv ort && ort/bin/pip install onnxruntime && . ort/bin/activate"
    else
        say "ONNX Runtime is not installed (PyPI's onnxruntime): its trials are skipped"
    fi
}

# ready_key: what decides how this tree is set up for a recipe. While it is the same, nothing is looked for again. A folder's time
# changes when something is installed into it.
ready_key() { # ready_key NEED...
    local name
    printf '%s\n' "$HOSTNAME $targets: $* $(torch_state) $(torch_choice) $(kernels_state) $(command -v python3 nvidia-smi || true)"
    for name in PATH PYTHONPATH VIRTUAL_ENV CONDA_PREFIX PYENV_VERSION Torch_DIR ORCH_PREFIX ORCH_ONNXRUNTIME CUDACXX CUDA_HOME CUDA_PATH \
        PKG_CONFIG_PATH CMAKE_PREFIX_PATH; do
        printf '%s=%s\n' $name "${!name:-}"
    done
    look_for_python_folders
    stat -L -c '%n %Y %s' build.sh CMakeLists.txt cmake/torch_find.cmake "$BUILD/.configured" /var/lib/dpkg/status \
        {"${PREFIX:-/usr/local}",/usr}/{lib,lib/pkgconfig,lib/cmake,include} .python-version "${PYENV_ROOT:-$HOME/.pyenv}/version" \
        "$(torch_choice)" "${python_folders[@]}" 2>/dev/null || true
}

# Sets python_folders: where python3 and the system's look for modules. They are asked once, and again where python3 is another one.
look_for_python_folders() {
    local stamp="$BUILD/.python" key python
    key="$(command -v python3 || true) ${PYENV_VERSION:-} ${VIRTUAL_ENV:-} ${CONDA_PREFIX:-} ${PYTHONPATH:-}"
    if [ "$(sed -n 1p "$stamp" 2>/dev/null)" != "$key" ]; then
        printf '%s\n' "$key" >"$stamp"
        for python in python3 /usr/bin/python3; do
            "$python" -c 'import sys; print("\n".join(p for p in sys.path if p))' >>"$stamp" 2>/dev/null || true
        done
    fi
    mapfile -t python_folders <<<"$(sed '1d; /^$/d' "$stamp")"
}

# set_up_for RECIPE [ARG...]: builds what its plugins declare. MPI, SimGrid, OpenCV and ONNX Runtime are installed where a trial that would run needs them.
set_up_for() {
    local plugins needs missing planned need ready
    plugins=$(recipe_plugins "$1")
    needs=$(needs_of $plugins)
    [ -z "$plugins" ] || targets=$(targets_of $plugins)
    ready=$(ready_key $needs)
    if [ "$(cat "$BUILD/.ready" 2>/dev/null)" = "$ready" ] && [ -x "$BUILD/orch" ]; then
        compile "$BUILD" $targets
        cat "$BUILD/.table" >&2
        stages
        return 0
    fi
    rm -f "$BUILD/.ready"
    case " $(echo $needs) " in *' torch '*) build_torch ;; *) build_core ;; esac
    missing=$(not_installed $needs)
    if [ -z "$missing" ]; then
        found 2>"$BUILD/.table"
        ready_key $needs >"$BUILD/.ready"
        cat "$BUILD/.table" >&2
        stages
        return 0
    fi
    has_apt || { table; return 0; }
    planned=$(planned_plugins "$@") && missing=$(not_installed $(needs_of $(sort -u <<<"$planned")))
    for need in $missing; do
        case $need in
            mpi) want 'MPI' "$MPI_PACKAGES" ;;
            simgrid) want 'simulated clusters' "$SIMGRID_PACKAGES" ;;
            opencv) want 'OpenCV' "$OPENCV_PACKAGES" ;;
            onnxruntime) want_onnxruntime ;;
        esac
    done
    [ -z "$missing" ] || build_core
    table
}

row() { printf '  %-12s %s\n' "$1" "$2" >&2; }

cached() { sed -n "s/^$1:[^=]*=//p" "$BUILD/CMakeCache.txt" 2>/dev/null || true; }

# The GPU, and the kernels that were compiled or how to have them
cuda_row() {
    local gpu kernels nvcc
    look_for_gpus
    gpu=$(sed -n '1s/^[^ ]* //p' <<<"$gpus")
    kernels=$(cached ORCH_CUDA_FOUND)
    nvcc=$(nvcc_path)
    if [ -n "$kernels" ]; then kernels="kernels $kernels"
    elif [ -z "$nvcc" ]; then kernels='no kernels, because there is no CUDA compiler (nvcc)'
    elif [ "$(kernels_state)" = none ]; then kernels="no kernels were compiled ('./build.sh gpu' compiles them)"
    else kernels="no kernels, because $(cached ORCH_CUDA_WHY_NOT)"; fi
    row CUDA "${gpu:-no GPU: GPU trials are skipped}; $kernels"
}

# What was found, what is left out because of it, and what it took
table() { found; stages; }

found() {
    local torch mpi
    say ''
    row orch "$("$BUILD/orch" --version 2>/dev/null || echo 'not built')"
    row git "$(git --version 2>/dev/null || echo 'none: runs are recorded as unversioned')"
    torch=$(cached ORCH_TORCH_FOUND)
    torch=${torch#LibTorch }
    row LibTorch "${torch:-left out: no training plugins (./build.sh torch adds them)}"
    cuda_row
    mpi=$(command -v mpirun || true)
    row MPI "${mpi:-none: trials of plugins that need it are skipped (openmpi-bin)}"
    row SimGrid "$(command -v smpirun || echo 'none: simulated clusters are skipped (libsimgrid-dev)')"
    row 'ONNX Runtime' "$([ -z "$(not_installed onnxruntime)" ] && echo 'runs ONNX files' || echo "not found here: its trials with ONNX files are skipped ('orch doctor' lists the engines)")"
    row OpenCV "$([[ $(cached ORCH_OPENCV_DNN) = /* && $(cached ORCH_OPENCV_INCLUDE) = /* ]] && echo 'runs ONNX files' || echo 'none: its trials with ONNX files are skipped (libopencv-dnn-dev)')"
}

# The command to type next
next() { say ''; say "next: ./orch run $1    # $2"; }

# ---- commands -----------------------------------------------------------------------------------

# Does a Python that the tests look for have a module?
python_has() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$1'))" 2>/dev/null && return 0
    done
    return 1
}

# Each test that was skipped, wholly or in part, with its reason
skipped() {
    awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
         /^skipped: / { sub(/^skipped: /, ""); print "  " name ": " $0; count++ }
         END { if (!count) print "  no test was skipped" }' "$1/Testing/Temporary/LastTest.log" >&2
}

run_tests() {
    local failed=0
    need_tests
    choose_kernels all # so that code for GPUs keeps compiling
    build_torch
    want 'the pages' "$BROWSER_PACKAGES"
    want 'reports on paper' "$PAPER_PACKAGES"
    want 'completion' "$SHELL_PACKAGES"
    want 'wheels' "$WHEEL_PACKAGES"
    python_has torchvision && python_has onnx || want "PyTorch's own counts" "$PYTORCH_PACKAGES"
    configure "$BUILD" -DORCH_TORCH=on
    compile "$BUILD"
    table
    unlock
    # one more than there are processors, since some only wait, and most have one thread; 8 need 8 GiB at most
    local jobs=$(($(env -u OMP_NUM_THREADS nproc) + 1))
    ORCH_LOOK_AT_CLONE=1 ctest --test-dir "$BUILD" --output-on-failure -j $((jobs < 8 ? jobs : 8)) "$@" || failed=$?
    say ''; say 'skipped:'; skipped "$BUILD"
    return $failed
}

run_coverage() {
    local failed=0
    need_tests
    build_core
    configure "$BUILD-coverage" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=--coverage -DORCH_COVERAGE=on -DORCH_TORCH=off
    compile "$BUILD-coverage"
    find "$BUILD-coverage" -name '*.gcda' -delete
    ctest --test-dir "$BUILD-coverage" --output-on-failure -j 2 -LE 'bench|reference' "$@" || failed=$?
    python3 tests/coverage/table.py . "$BUILD-coverage"
    return $failed
}

run_asan() {
    need_tests
    build_core
    configure "$BUILD-asan" -DCMAKE_BUILD_TYPE=Debug -DORCH_SANITIZE=ON -DORCH_TORCH=off
    compile "$BUILD-asan"
    export ASAN_OPTIONS="detect_leaks=1:suppressions=$PWD/tests/asan.supp:${ASAN_OPTIONS:-}"
    export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
    export UBSAN_OPTIONS="print_stacktrace=1"
    ctest --test-dir "$BUILD-asan" --output-on-failure -j 2 -LE 'bench' "$@"
}

run_install() {
    local prefix=/usr/local
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix) [ $# -gt 1 ] || die "--prefix needs a folder"; prefix=$2; shift 2 ;;
            --prefix=*) prefix=${1#*=}; shift ;;
            *) die "unknown argument '$1'" ;;
        esac
    done
    prefix=$(realpath -m "$prefix")
    choose_kernels all
    build_core
    cmake --install "$BUILD" --prefix "$prefix" >"$BUILD.log" || { tail "$BUILD.log" >&2; die "installing into '$prefix' failed"; }
    say "installed into ${DESTDIR:-}$prefix; '$prefix/bin/orch doctor' looks whether all is there"
}

run_deb() {
    local status=0 begin=$SECONDS
    [ -z "$PREFIX" ] || die "a package for Debian depends on Debian's libraries, not on those in '$PREFIX': unset ORCH_PREFIX"
    has_apt || die "packages for Debian are made on Debian, with apt-get and dpkg"
    need 'Debian packages' "$DEB_PACKAGES"
    build_core
    rm -rf "$BUILD/deb"
    attend "$BUILD.log" packing cpack --config "$BUILD/CPackConfig.cmake" -B "$(realpath "$BUILD")/deb" || status=$?
    rm -rf "$BUILD/deb/_CPack_Packages"
    [ $status = 0 ] || { tail "$BUILD.log" >&2; die "packing failed; all of it is in $BUILD.log"; }
    sed -n 's/^.*\(orch-plugins-torch: left out\)/\1/p' "$BUILD.log" >&2
    say "packed in $(duration $((SECONDS - begin)))"
    (cd "$BUILD/deb" && du -h -- *.deb)
    say "next: apt-get install '$(realpath "$BUILD")/deb/'*.deb"
}

run_wheel() {
    local out=${1:-dist}
    need 'wheels' "${WHEEL_PACKAGES%% *}"
    build_core
    rm -rf "$BUILD/stage"
    { cmake --install "$BUILD" --prefix "$BUILD/stage" &&
        CMAKE_INSTALL_ALWAYS=1 cmake --install "$BUILD" --prefix "$BUILD/stage" --component alone; } >"$BUILD.log" ||
        { tail "$BUILD.log" >&2; die 'installing for the wheel failed'; }
    python3 packaging/wheel.py "$BUILD/stage" "$out"
    rm -rf "$BUILD/stage"
}

# One function, which is read as a whole before it runs: the file may change meanwhile.
main() {
    local command=${1:-help} stage list
    [ $# -gt 0 ] && shift
    case $command in run | test | build | gpu | torch | all | simgrid | asan | coverage | install | deb | wheel) lock ;; esac
    case $command in
        run)
            [ $# -gt 0 ] || die "usage: ./build.sh run RECIPE [ARG...]"
            set_up_for "$@"
            unlock
            exec "$BUILD/orch" run "$@" ;;
        test) run_tests "$@" ;;
        build) build_core; table; next recipes/first.recipe 'a first sweep, 2 seconds' ;;
        gpu)
            [ -n "$(nvcc_path)" ] || die "there is no CUDA compiler: nvcc is not on the PATH, nor below \$CUDA_HOME or /usr/local/cuda (NVIDIA's CUDA toolkit has it)"
            choose_kernels all
            build_core
            table
            [ -n "$(cached ORCH_CUDA_FOUND)" ] || die "no CUDA kernels were compiled: $(cached ORCH_CUDA_WHY_NOT)" ;;
        torch | all)
            [ "$command" = torch ] || choose_kernels all
            build_torch "$@"; table; next recipes/hw4.recipe 'homework 4 on this machine' ;;
        simgrid) need 'simulated clusters' "$SIMGRID_PACKAGES"; build_core; table ;;
        paper) need 'reports on paper' "$PAPER_PACKAGES" ;;
        browser) need 'a browser for tests' "$BROWSER_PACKAGES" ;;
        asan) run_asan "$@" ;;
        coverage) run_coverage "$@" ;;
        install) run_install "$@" ;;
        deb) run_deb ;;
        wheel) run_wheel "$@" ;;
        clean) rm -rf "$BUILD" "$BUILD-asan" "$BUILD-coverage" "$BUILD.log" "$BUILD-apt.log" "$BUILD-asan.log" "$BUILD-coverage.log" orch ;;
        packages) for stage in CORE TOPOLOGY TEST MPI SIMGRID OPENCV ONNXRUNTIME SLURM PAPER BROWSER WHEEL PYTORCH TORCH DEB; do list="${stage}_PACKAGES"; printf '%s: %s\n' "$stage" "$(names "${!list}")"; done ;;
        help | -h | --help) usage ;;
        *) usage >&2; die "unknown command '$command'" ;;
    esac
}
main "$@"; exit
