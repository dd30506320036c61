#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tries a wheel on fresh minimal systems: Python's virtual environments are installed and the wheel in one, then the network is
# taken away and an ordinary user runs the first recipe, a script, a drawing and 'orch doctor'.
#
#   packaging/wheel_systems.sh WHEEL [--keep DIR] [bullseye|bookworm|trixie...]
#
# Needs root and debootstrap. --keep DIR keeps the systems for the next time.
set -euo pipefail
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian; }
apt_settings() { apt-config dump --format '%f "%v";%n' Acquire | grep -E '^Acquire::(https?|Check-|Retries|ForceIPv)' | grep -v '""' || true; }

if [ "${1:-}" = --inside ]; then # --inside ROOT SCRIPT: mounts end with this namespace
    mount -t proc proc "$2/proc"
    mount --rbind /dev "$2/dev"
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot "$2" /bin/bash -euc "$3"
fi
within() { # within NAMESPACE-OPTION ROOT SCRIPT
    unshare --mount --pid --fork --kill-child --mount-proc --propagation private $1 bash "$0" --inside "$2" "$3" </dev/null
}

try_user='
python3 -m venv "/home/user/Bücher und Käse/v"
v="/home/user/Bücher und Käse/v"
"$v/bin/pip" --disable-pip-version-check install -q --no-index /tmp/*.whl
chmod -R a-w "$v"
mkdir /home/user/work && cd /home/user/work
"$v/bin/orch" --version
"$v/bin/orch" init
time "$v/bin/orch" run first.recipe
"$v/bin/orch" run first.recipe 2>&1 | grep "nothing to run"
printf "import orch\nrun = orch.start(lr=0.1)\nrun.log(loss=0.5)\n" >train.py
"$v/bin/python" train.py
"$v/bin/orch" ls | grep lr=0.1
"$v/bin/orch" plot --x seconds --y slept_s --where "experiment = nap" --out chart.png && test -s chart.png
"$v/bin/orch" report first.recipe --out report && test -s report/index.html
"$v/bin/orch" plugin new mine && "$v/bin/orch" plugin check plugins/mine/mine.plugin
status=0; "$v/bin/orch" plugin build train 2>said || status=$?; cat said; test $status = 4; grep -q "pip install torch" said
"$v/bin/orch" doctor | grep -v "^probe" >doctor; cat doctor; grep -q "orch plugin build train" doctor
if grep -F ./build.sh doctor | grep -v "a clone of orch"; then exit 1; fi
du -sh "$v"/lib/python3*/site-packages/orch_run'

wheel=$(realpath "$1")
shift
keep=$(mktemp -d /var/tmp/orch-wheel-systems-XXXXXX) systems='' kept=no worst=0
while [ $# -gt 0 ]; do
    case $1 in --keep) rmdir "$keep"; mkdir -p "$2"; keep=$(realpath "$2") kept=yes; shift 2 ;; *) systems="$systems $1"; shift ;; esac
done
for system in ${systems:-bullseye bookworm trixie}; do
    root=$keep/$system begin=$SECONDS
    if [ ! -e "$root" ]; then
        debootstrap --variant=minbase "$system" "$root.new" "$(mirror)" >"$root.log" 2>&1 || { tail -n 3 "$root.log"; exit 1; }
        apt_settings >"$root.new/etc/apt/apt.conf.d/99systems"
        cp -L /etc/resolv.conf "$root.new/etc/"
        within '' "$root.new" 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3 python3-venv; useradd -m user' >>"$root.log" 2>&1
        mv "$root.new" "$root"
    fi
    cp "$wheel" "$root/tmp/"
    rm -rf "$root/home/user/work" "$root/home/user/Bücher und Käse"
    # no network but an interface to itself, which 'orch serve' would listen on
    if within --net "$root" "su user -s /bin/bash -c $(printf %q "set -e; $try_user")" >"$root.try.log" 2>&1; then result=ok; else result=FAILED worst=1; fi
    printf '%-9s %s in %d s (%s)\n' "$system" "$result" $((SECONDS - begin)) "$root.try.log"
    [ $result = ok ] || tail -n 15 "$root.try.log"
    rm -f "$root"/tmp/*.whl
    [ $kept = yes ] || rm -rf --one-file-system "$root"
done
exit $worst
