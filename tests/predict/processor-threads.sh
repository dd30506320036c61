# The forecast for this machine's processor has the rates that were measured with the threads that are asked for, and the
# caches' bandwidth where a layer's arrays fit into them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
printf 'plugin: count\nversion: 1.0.0\nabout: counts\nlicence: MIT\ncommand: [echo, x, "1"]\nmetrics: any\n' >count.plugin
printf 'format: 1\nrecipe: w\nexperiments:\n  e: { plugin: ./count.plugin }\n' >w.recipe
ok orch run w.recipe -q
mkdir -p "$XDG_DATA_HOME/orch/devices"
device=$XDG_DATA_HOME/orch/devices/$(sqlite3 .orch/results.db 'SELECT key FROM machine LIMIT 1').yaml
row() { printf '  - {"device":"cpu","what":"%s","how":"%s","threads":%s,"unit":"%s","best":%s,"median":%s,"spread":0.0,"samples":5,"with":""}\n' "$1" "$2" "$3" "$4" "$5" "$5"; }
# as 'orch doctor --bench' leaves it: 0.2 TFLOP/s and 20 GB/s with one thread, 0.6 and 40 with four; 10 times the bandwidth in caches
device() {
    printf 'machine: "m"\nmeasured: "2026-11-27 09:00:00"\ngpus:\n  - {name: vm, arch: "Some CPU", fp32_tflops: 0.6, bandwidth_gbs: 40, memory_gb: 8}\nceilings:\n'
    row product fp32 1 FLOP/s 200000000000.0
    row product fp32 4 FLOP/s 600000000000.0
    for threads in 1 4; do
        row memory triad $threads B/s $((threads == 1 ? 20 : 40))000000000.0
        for size in $1; do row memory "triad $size iB" $threads B/s $((threads == 1 ? 200 : 400))000000000.0; done
    done | sed 's/ iB/ MiB/; s/768 MiB/768 KiB/'
}
step() { ok orch predict --gpu here --net "$1" --input 1x28x28 --classes 10 --batch "$2" --threads "$3" --model prior --json && json predictions.0.step_s; }
device '' >"$device"
one=$(step resnet-cifar:20 64 1)
two=$(step resnet-cifar:20 64 2)
four=$(step resnet-cifar:20 64 4)
device '6 768' >"$device"
cached=$(step resnet-cifar:20 64 4)
large=$(step resnet-cifar:20 4096 4)
device '' >"$device"
bare=$(step resnet-cifar:20 4096 4)
python3 - "$one" "$two" "$four" "$cached" "$large" "$bare" <<'P' || _fail "threads: $one $two $four, caches: $cached, large: $large $bare"
import sys
one, two, four, cached, large, bare = map(float, sys.argv[1:])
assert 1.3 < one / two < 1.8, 'two of four threads have a third more than one to four'
assert 1.9 < one / four < 3.01, 'four threads have three times the products and twice the bandwidth'
assert cached < 0.8 * four, 'arrays that fit into a cache are faster'
assert large > 0.95 * bare, 'large ones are not'
P
