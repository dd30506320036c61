# Faults of the plugin simcluster: without SimGrid its trials are skipped; platform files that are malformed, invalid,
# too small or without a route and unknown names are errors; a cancelled simulation leaves no process.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
recipe() { printf 'format: 1\nrecipe: r\nexperiments:\n  r: { plugin: simcluster, with: { %s } }\n' "$1" >r.recipe; }
refused() {
    recipe "$1"
    fails 2 orch check r.recipe
    says "$2"
    says 'at: r.recipe:4'
    says "hint: "
}
printf '<platform version="4.1">\n <zone id="z" routing="Full">\n  <host id="a" speed="1Gf">\n </zone>\n</platform>\n' >open.xml
refused 'platform: open.xml' "open.xml', line 4: "
refused 'platform: none.xml' "none.xml"
mkdir -p sub/platforms # a path is relative to the recipe, wherever orch is called
cp open.xml sub/platforms/p.xml
printf 'format: 1\nrecipe: r\nexperiments:\n  r: { plugin: simcluster, with: { platform: platforms/p.xml } }\n' >sub/r.recipe
fails 2 orch check sub/r.recipe
says "sub/platforms/p.xml', line 4: "
refused 'algorithm: rings' "'rings'"
refused 'net: resnet51' "resnet51"
refused 'gpu: K8000' "gpu: unknown GPU 'K8000'"
refused 'workers: 200, batch: 128' '200 workers cannot share a batch of 128 images'
refused "platform: $SOURCE/recipes/platforms/dgx-a100.xml, workers: 9" "workers: 9 are too many for the platform's 8 hosts"
# without smpirun
recipe 'workers: 2'
mkdir tools
for tool in sh bash env git cat sed awk grep rm mkdir id dirname basename python3 chmod; do at=$(command -v $tool) && ln -s "$at" "tools/$tool"; done
ok env PATH="$BUILD:$PWD/tools" orch run r.recipe -q
ok orch show @last --json
same "$(json state)" skipped
case $(json reason) in *'no smpirun on the PATH'*libsimgrid-dev*) ;; *) _fail "reason: $(json reason)" ;; esac
command -v smpirun >/dev/null || {
    echo 'skipped: no smpirun on the PATH (libsimgrid-dev): what follows needs it'
    exit 77
}
[ -x "$BUILD/plugins/common/orch-smpi-worker" ] || skip 'built without SimGrid (libsimgrid-dev): what follows needs it'
failed() {
    recipe "$1"
    fails 1 orch run r.recipe -q --force
    ok orch show @last --json
    same "$(json state)" failed
    case $(json reason) in *"$2"*) ;; *) _fail "reason: $(json reason)" ;; esac
}
platform() { printf '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n <zone id="z" routing="Full">\n  <host id="a" speed="1Gf"/>\n  <host id="b" speed="1Gf"/>\n  <link id="l" %s/>\n%s </zone>\n</platform>\n' "$1" "$2" >p.xml; }
platform 'bandwidth="1GBps" latencyy="5us"' ''
failed 'platform: p.xml, bytes: 1KB' 'p.xml:7: Invalid XML'
platform 'bandwidth="1GBps" latency="5us"' '  <route src="a" dst="c"><link_ctn id="l"/></route>
'
failed 'platform: p.xml, bytes: 1KB' "p.xml:8: Route dst='c'"
platform 'bandwidth="1GBps" latency="5us"' ''
failed 'platform: p.xml, bytes: 1KB' "the simulation on platform file '"
# an edited platform makes a run stale
platform 'bandwidth="1GBps" latency="5us"' '  <route src="a" dst="b"><link_ctn id="l"/></route>
'
recipe 'platform: p.xml, bytes: 1KB'
ok orch run r.recipe -q
ok orch run r.recipe
says '1 done before'
sed -i 's/1GBps/2GBps/' p.xml
ok orch run r.recipe
says '1 ok'
# stopped by a limit of time, by Ctrl-C: no simulator is left
simulators() { pgrep -f 'smpimain.*orch-smpi-worker' | while read -r id; do case $(readlink "/proc/$id/cwd") in "$PWD"/*) echo "$id" ;; esac done }
recipe 'workers: 128, batch: 128, steps: 1000'
sed -i 's/} }$/}, timeout: 3s }/' r.recipe
fails 1 orch run r.recipe -q
ok orch show @last --json
same "$(json state)" timeout
none_simulates() { [ -z "$(simulators)" ]; }
simulates() { [ -n "$(simulators)" ]; }
until_true none_simulates
sed -i 's/timeout: 3s/timeout: 600s/' r.recipe
orch run r.recipe -q >/dev/null 2>&1 &
pid=$!
until_true simulates
interrupt $pid
wait $pid # the first one waits for running trials
until_true none_simulates
ok orch show @last --json
same "$(json state)" cancelled
exit 0
