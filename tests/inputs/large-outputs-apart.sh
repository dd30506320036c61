# A captured file of some MiB that a trial overwrites in its folder apart is that trial's: it is kept with the run, and
# the next trial finds the captured one.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
fill() { # FILE SIGN
    head -c 6000000 /dev/zero | tr '\0' "$2" >"$1"
}
fill model.bin 0
cat >train.sh <<'S'
echo "found $(head -c 1 model.bin)"
head -c 6000000 /dev/zero | tr '\0' "$1" >model.bin
S
git add -A
git commit -qm first
ok orch try --frozen --name one -x n=1,2 -- sh train.sh '{n}'
says '2 files (11.4 MiB) that 2 trials wrote'
same "$(head -c 1 model.bin)" 0 'the file in the user folder'
for n in 1 2; do
    ok orch ls --where "n = $n" --json
    key=$(json runs.0.key)
    ok orch ls --where "key = $key" -m found --format tsv
    same "$(printf '%s\n' "$out" | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "found") c = i } NR == 2 { print $c }')" 0 'what the trial found'
    _run orch show "$key" --file model.bin
    same "$(head -c 1 "$SCRATCH/out")" "$n" 'what the trial wrote'
done
ok orch ls --where 'found = 0' --json -n 0
same "$(json runs.#)" 2 'trials that found the captured file'
