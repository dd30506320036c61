#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A fresh machine of each Debian that we support: makes a minimal system with debootstrap, clones the
# last commit of this repository below its /tmp, and types there what the README says, one after the
# other: './build.sh run recipes/hw4.recipe' and './build.sh test'. Then it makes the Debian packages there, and
# installs them on another fresh machine (tests/deb_install.sh). Without a SYSTEM it also makes the wheel of the last commit in a
# Debian 11 (packaging/wheel.sh) and tries it on minimal systems of Debian 11, 12 and 13 (packaging/wheel_systems.sh).
#
#   tests/systems.sh [SYSTEM...] [--keep DIR] [--cache DIR] [--main | --deb | --wheel | -- COMMAND...]
#
#   SYSTEM       bookworm (Debian 12) or trixie (Debian 13), without one both, and the wheel; or arm64: Debian 12 for ARM, emulated by
#                qemu-user-static, where the build and the quick tests are all that runs
#   --keep DIR   the systems lie in DIR/chroot-SYSTEM, stay there, and are used again (with what was
#                installed in them); without it each is new, and is removed when it is done
#   --cache DIR  packages of Debian that were downloaded lie in DIR/SYSTEM for the next time
#   --main       only README's first command, and a look at what it leaves behind (tests/main_job.sh)
#   --deb        only the packages, built without LibTorch: './build.sh deb' and their installation
#   --wheel      only the wheel: made, and tried on its systems
#   -- COMMAND   types this in the clone instead, which a kept system has already and which is then
#                only brought to the last commit, with what was built in it:
#                tests/systems.sh trixie --keep /var/tmp/orch -- ./build.sh test -L quick
#
# arm64 needs qemu-user-static, and binfmt_misc that starts it; gcc-aarch64-linux-gnu, if it is here, compiles there without emulation.
# Needs root, debootstrap, about 12 GB of disk for a system, and Debian's mirror: that of this machine's
# apt, whose settings of proxies (and the environment's) the new system takes over.
# Logs: build-systems/SYSTEM.N.log. Exit status: 0 all went well, 1 a command failed, 2 it could not begin.
#
# A system runs in mount and process namespaces of its own. Its /proc, /dev and /sys are mounted there
# alone and end with the last process in it, so that nothing is ever removed through a mount, also when
# this script is interrupted or killed.
set -u
CALLED_FROM=$PWD
cd "$(dirname "$0")/.." || exit 2
SYSTEMS='bookworm trixie arm64'
LOGS=${ORCH_BUILD_DIR:-build}-systems
CLONE=tmp/orch
case ${1:-} in -h | --help) sed -n '3,26s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

say() { printf '%s\n' "$*" >&2; }
die() { say "systems.sh: $*"; exit 2; }

# ---- inside the namespaces: systems.sh --inside VERB ARG..., called by this script alone --------------

# A /dev with the few devices that every program expects, terminals and shared memory of its own
mount_dev() { # mount_dev ROOT
    local device
    mount -t tmpfs -o mode=755 tmpfs "$1/dev" || return 1
    for device in null zero full random urandom tty; do
        : >"$1/dev/$device" && mount --bind "/dev/$device" "$1/dev/$device" || return 1
    done
    mkdir "$1/dev/pts" "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$1/dev/pts" || return 1
    mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || return 1
    ln -s pts/ptmx "$1/dev/ptmx"
    ln -s /proc/self/fd "$1/dev/fd"
    ln -s /proc/self/fd/0 "$1/dev/stdin"
    ln -s /proc/self/fd/1 "$1/dev/stdout"
    ln -s /proc/self/fd/2 "$1/dev/stderr"
}

# Runs a command in the system's clone. This shell remains as the first process, which takes in orphans.
inside_run() { # inside_run ROOT CACHE COMMAND...
    local root=$1 cache=$2 name
    local environment=(HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    shift 2
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name:-}" ] || environment+=("$name=${!name}")
    done
    { mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount_dev "$root"; } ||
        die "cannot mount /proc, /sys and /dev in '$root'"
    [ -z "$cache" ] || mount --bind "$cache" "$root/var/cache/apt/archives" || die "cannot use '$cache'"
    # shellcheck disable=SC2016
    env -i "${environment[@]}" chroot "$root" /bin/bash -c 'cd "/$0" && "$@"' "$CLONE" "$@"
}

# The mirror and the settings of this machine's apt
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian; }
apt_settings() { apt-config dump --format '%f "%v";%n' Acquire | grep -E '^Acquire::(https?|Check-|Retries|ForceIPv)' | grep -v '""'; }

# This machine's cross compiler as the system's gcc, in /opt/cross with its libraries at their own places
native_compiler() { # native_compiler ROOT
    local gcc series library
    gcc=$(realpath "$(command -v aarch64-linux-gnu-gcc)" 2>/dev/null) || return 0
    series=${gcc##*-}
    mkdir -p "$1/opt/cross" "$1/lib64"
    dpkg -L {gcc,cpp}-"$series"-aarch64-linux-gnu libgcc-"$series"-dev-arm64-cross binutils-aarch64-linux-gnu | grep -v '^/usr/share/' |
        tar -c --no-recursion -T - 2>/dev/null | tar -x -C "$1/opt/cross" || return 1
    find "$1/opt/cross" -type f -perm -1 -exec ldd {} \; 2>/dev/null | grep -o '/lib[^ ]*' | sort -u |
        while read -r library; do cp -L --parents "$library" "$1" || exit 1; done || return 1
    ln -s "/opt/cross$gcc" "$1/usr/local/bin/gcc" && ln -s gcc "$1/usr/local/bin/cc"
}

inside_make() { # inside_make ROOT SYSTEM CACHE
    local root=$1 system=${2/arm64/bookworm} from
    from=$(mirror)
    debootstrap ${3:+--cache-dir="$3"} $([ "$2" != arm64 ] || echo --arch=arm64) --variant=minbase --include=git,ca-certificates "$system" "$root" "$from" || return 1
    printf 'deb %s %s main\ndeb %s %s-updates main\n' "$from" "$system" "$from" "$system" >"$root/etc/apt/sources.list"
    apt_settings >"$root/etc/apt/apt.conf.d/99systems"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" # it need not outlive a power cut
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    chroot "$root" apt-get clean
    [ "$2" != arm64 ] || native_compiler "$root"
}

inside_wheel() { # inside_wheel ROOT
    "$1/$CLONE/packaging/wheel.sh" --chroot "$1/chroot" "$1/dist" &&
        "$1/$CLONE/packaging/wheel_systems.sh" "$1"/dist/orch_run-*.whl --keep "$1/systems"
}

if [ "${1:-}" = --inside ]; then
    verb=$2
    shift 2
    "inside_$verb" "$@"
    exit # with its status; 'exec' would make the command the first process
fi

# ---- outside -------------------------------------------------------------------------------------------

child='' making='' keep='' folder='' packages=''

# The folder of a system's packages; empty without --cache, or when it cannot be made
cache_of() { [ -z "$packages" ] || { mkdir -p "$packages/$1/partial" && realpath "$packages/$1"; } || say "no packages are kept in '$packages/$1'"; }

# Waits, so that a signal is served at once; --kill-child ends all processes of the namespace with unshare.
apart() { # apart VERB ARG...
    unshare --mount --pid --fork --kill-child --mount-proc --propagation private bash tests/systems.sh --inside "$@" </dev/null &
    child=$!
    wait "$child"
    local status=$?
    child=''
    return $status
}

# Nothing is mounted below the folder here, and --one-file-system would keep to it even then.
remove() { # remove FOLDER
    awk -v below="$1/" 'index($2, below) == 1 { exit 1 }' /proc/self/mounts ||
        { say "something is mounted below '$1': it is left"; return 1; }
    rm -rf --one-file-system "$1"
}

cleanup() {
    [ -z "$child" ] || { kill -KILL "$child" 2>/dev/null; wait "$child" 2>/dev/null; }
    [ -z "$making" ] || remove "$making"
}

# Makes the system where it is not there yet. It gets its name last: what has the name is whole.
make_system() { # make_system SYSTEM ROOT
    local started=$SECONDS
    [ ! -e "$2" ] || return 0
    making=$2.new
    remove "$making" || return 1
    apart make "$making" "$1" "$(cache_of "$1")" >"$LOGS/$1.0.log" 2>&1 ||
        { tail -n 3 "$LOGS/$1.0.log" >&2; say "$1: it could not be made; all of it is in $LOGS/$1.0.log"; return 1; }
    mv "$making" "$2" && making=''
    say "$1: made in $((SECONDS - started)) s"
}

# The last commit, in a new clone or (keep) in the one that is there. A bundle asks for no owner.
make_clone() { # make_clone ROOT new|keep
    local clone=$1/$CLONE bundle=$1/tmp/orch.bundle
    [ "$2" = keep ] || remove "$clone" || return 1
    git -c safe.directory='*' bundle create -q "$bundle" HEAD || return 1
    if [ -d "$clone" ]; then git -C "$clone" fetch -q "$bundle" HEAD && git -C "$clone" checkout -q -f --detach FETCH_HEAD
    else git clone -q "$bundle" "$clone" 2>/dev/null; fi || return 1
    rm -f "$bundle"
}

# What CTest said last, or nothing
result_of() { sed -n 's/^\([0-9]*% tests passed.*\)/: \1/p' "$1" | tail -n 1; }

type_in() { # type_in SYSTEM ROOT NUMBER COMMAND...
    local system=$1 root=$2 log=$LOGS/$1.$3.log started=$SECONDS status
    shift 3
    apart run "$root" "$(cache_of "$system")" "$@" >"$log" 2>&1
    status=$?
    printf '%-9s %5d s  status %d  %s%s (%s)\n' "$system" $((SECONDS - started)) $status "$*" "$(result_of "$log")" "$log"
    [ $status = 0 ] || { tail -n 20 "$log" | sed 's/^/    /' >&2; return 1; }
}

# A copy of a system that was just made, on which the packages will be installed
copy_system() { # copy_system ROOT
    remove "$1-deb" && remove "$1-deb.new" && cp -a "$1" "$1-deb.new" && mv "$1-deb.new" "$1-deb"
}

# The packages that were made in one system, on a fresh one
install_packages() { # install_packages SYSTEM ROOT NUMBER
    local second=$2-deb status=0
    make_system "$1" "$second" && make_clone "$second" new || return 1
    mkdir -p "$second/$CLONE/build" && cp -r "$2/$CLONE/build/deb" "$second/$CLONE/build/" || return 1
    type_in "$1" "$second" "$3" tests/deb_install.sh build/deb || status=1
    remove "$second" && return $status
}

one_system() { # one_system SYSTEM ROOT COMMAND...
    local system=$1 root=$2 failed=0 is_new=''
    shift 2
    [ -e "$root" ] || is_new=yes
    make_system "$system" "$root" || return 2
    case $system${1:---deb} in bookworm--deb | trixie--deb) [ -z "$is_new" ] || copy_system "$root" || return 2 ;; esac
    make_clone "$root" "$([ $# -gt 0 ] && echo keep || echo new)" || { say "$system: cannot clone into $root/$CLONE"; return 2; }
    say "$system: Debian $(<"$root/etc/debian_version"), commit $(git -C "$root/$CLONE" rev-parse --short HEAD)"
    if [ "${1:-}" = --main ]; then
        type_in "$system" "$root" 1 tests/main_job.sh
    elif [ "${1:-}" = --deb ]; then
        type_in "$system" "$root" 1 ./build.sh deb && install_packages "$system" "$root" 2
    elif [ $# -gt 0 ]; then
        type_in "$system" "$root" 1 "$@"
    elif [ "$system" = arm64 ]; then
        # shellcheck disable=SC2016
        type_in "$system" "$root" 1 bash -c 'apt-get -q update && apt-get -q install -y --no-install-recommends $(./build.sh packages | sed -n "s/^TEST: //p")' &&
            type_in "$system" "$root" 2 ./build.sh build && type_in "$system" "$root" 3 ctest --test-dir build --output-on-failure -j "$(nproc)" -L quick
    else
        type_in "$system" "$root" 1 ./build.sh run recipes/hw4.recipe || failed=1
        type_in "$system" "$root" 2 ./build.sh test || failed=1
        type_in "$system" "$root" 3 ./build.sh deb && install_packages "$system" "$root" 4 || failed=1
        return $failed
    fi
}

# The wheel of the last commit, made in a Debian 11 and tried on minimal systems
wheel() { # wheel FOLDER
    local root=$1 started=$SECONDS status=0 log=$LOGS/wheel.log
    mkdir -p "$root/tmp" "$root/systems" && remove "$root/dist" && make_clone "$root" keep || return 2
    apart wheel "$root" >"$log" 2>&1 || status=1
    sed -n 's/ in \([0-9]* s\) (.*/ in \1/; /^\(bullseye\|bookworm\|trixie\) /s/^/wheel on /p' "$log"
    printf '%-9s %5d s  status %d  the wheel, made and tried (%s)\n' wheel $((SECONDS - started)) $status "$log"
    [ $status = 0 ] || tail -n 20 "$log" | sed 's/^/    /' >&2
    return $status
}

# One function, which is read as a whole before it runs: the file may change meanwhile.
main() {
    local chosen='' worst=0 system status wheel=''
    while [ $# -gt 0 ]; do
        case $1 in
            --keep) [ $# -gt 1 ] || die '--keep needs a folder'; keep=$(cd "$CALLED_FROM" && realpath -m "$2"); shift 2 ;;
            --cache) [ $# -gt 1 ] || die '--cache needs a folder'; packages=$(cd "$CALLED_FROM" && realpath -m "$2"); shift 2 ;;
            --main | --deb) break ;;
            --wheel) wheel=only; shift ;;
            --) shift; break ;;
            *) [[ " $SYSTEMS " = *" $1 "* ]] || die "unknown system '$1' ($SYSTEMS)"
               chosen="$chosen $1"; shift ;;
        esac
    done
    [ "$(id -u)" = 0 ] || die 'needs root, to make a system and to mount in it (sudo tests/systems.sh)'
    command -v debootstrap >/dev/null || die 'no debootstrap: apt-get install debootstrap'
    [[ $chosen != *arm64* ]] || grep -qs '^flags:.*F' /proc/sys/fs/binfmt_misc/qemu-aarch64 ||
        die "arm64 needs qemu-user-static in binfmt_misc: apt-get install qemu-user-static; mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register"
    git -c safe.directory='*' diff --quiet HEAD || say 'what is not committed is not in the clones'
    mkdir -p "$LOGS" ${keep:+"$keep"} || exit 2
    folder=${keep:-$(mktemp -d "${TMPDIR:-/var/tmp}/orch-systems-XXXXXX")} && folder=$(realpath "$folder") || exit 2
    trap 'cleanup; [ -n "$keep" ] || remove "$folder"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    [ -n "$wheel$chosen" ] || [ $# -gt 0 ] || wheel=too
    [ "$wheel" = only ] || for system in ${chosen:-${SYSTEMS% arm64}}; do
        one_system "$system" "$folder/chroot-$system" "$@" || { status=$?; [ $status -le $worst ] || worst=$status; }
        [ -n "$keep" ] || remove "$folder/chroot-$system" || worst=2
    done
    [ -z "$wheel" ] || wheel "$folder/wheel" || { status=$?; [ $status -le $worst ] || worst=$status; }
    exit $worst
}
main "$@"
