#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages of a folder on the machine on which it runs, as root: a fresh minimal system that tests/systems.sh
# made. An ordinary user then runs a first recipe, a script that records itself and the page's program. At last the packages are
# purged, and no file of theirs may be left: only what the user has in the home.
#
#   tests/deb_install.sh FOLDER
set -eu
packages=$(realpath "$1")
failed() { printf 'deb_install.sh: %s\n' "$*" >&2; exit 1; }
user() { setpriv --reuid=1234 --regid=1234 --clear-groups env -i HOME=/home/ada PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }
# Names of all files, but those of the running system and of its package manager
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
        -o -path /var/log -o -path /home \) -prune -o -print | sort
}

export DEBIAN_FRONTEND=noninteractive
[ "$(id -u)" = 0 ] || failed 'it needs root'
apt-get update -q
# what the packages need is there before, so that what purging leaves is theirs
begin=$SECONDS
apt-get install -q -y "$packages"/orch*.deb
echo "installed in $((SECONDS - begin)) s"
dpkg -L orch | grep -v '^/\.$' | while read -r file; do [ -d "$file" ] || printf '%s\n' "$file"; done >/tmp/of_orch
mkdir -p /home/ada/work
useradd --uid 1234 --home-dir /home/ada --user-group ada
chown -R ada:ada /home/ada
cd /home/ada/work

user orch --version
user orch 2>/tmp/words && failed "'orch' without arguments ended well"
grep -q 'orch init' /tmp/words || failed "'orch' does not say how to begin: $(cat /tmp/words)"
user orch init
user orch run first.recipe
user orch run first.recipe 2>&1 | grep 'nothing to run'
user orch best slept_s --min
user orch doctor
printf 'import orch\nrun = orch.start(lr=0.1)\nrun.log(loss=0.5)\nrun.end()\n' >/home/ada/work/train.py
user /usr/bin/python3 train.py
user orch try -- python3 -c 'print("accuracy", 0.9)'
user orch ls
[ "$(user orch ls --json | grep -o '"state": *"ok"' | wc -l)" = 8 ] || failed 'not all runs were recorded'
user timeout 60 bash -c 'orch serve --port 0 >page & for _ in $(seq 100); do grep -q http page && break; sleep 0.1; done; grep http page; kill %1'
if [ -e /usr/lib/orch/plugins/common/orch-torch.so ]; then
    printf 'format: 1\nrecipe: n\nexperiments:\n  n: { plugin: train, with: { dataset: synthetic, image_size: 32, per_class: 8, epochs: 1, net: lenet5 } }\n' >n.recipe
    user orch run n.recipe
    user orch best val_accuracy
else
    # no advice that is for clones
    user orch doctor | grep 'LibTorch adapter' | grep -q 'install the package orch-plugins-torch' || failed "doctor does not say which package has the adapter"
fi
for file in /usr/share/man/man1/orch.1.gz /usr/share/man/man1/orch-db-check.1.gz /usr/share/bash-completion/completions/orch \
    /usr/share/zsh/vendor-completions/_orch /usr/share/fish/vendor_completions.d/orch.fish; do
    [ -s "$file" ] || failed "$file is missing"
done
# root may have compiled the module
/usr/bin/python3 -c 'import orch'

files >/tmp/before
apt-get purge -q -y 'orch*'
files >/tmp/after
left=$(grep -Fxf /tmp/of_orch /tmp/after || true; grep -E '(^|[^t])orch' /tmp/after || true; comm -13 /tmp/before /tmp/after)
[ -z "$left" ] || failed "purging left: $left"
[ -s /home/ada/work/.orch/results.db ] || failed 'purging took the results'
echo 'all well'
