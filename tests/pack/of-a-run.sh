# 'orch verify' computes every number of a pack's report again from its rows, on a machine that has neither the
# repository nor the store.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/pack.sh"
fails 2 orch pack r.recipe r.orch
says 'the store has no run of'
ok orch run r.recipe tune -q
ORCH_USER=bob ok orch run r.recipe feature -x lr=0.01 -q
mkdir -p 'odd \names'
echo 1 >'odd \names/a'
echo 'SECRET=1' >.env
printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n' >notes.txt
ok orch pack r.recipe old.orch -q
ok orch pack r.recipe r.orch
says 'old.orch: a pack'
has 'r.orch: 6 runs, 7 artifacts'
tar tzf r.orch >"$SCRATCH/names"
for name in pack.json report.json report.html; do grep -qx "$name" "$SCRATCH/names" || _fail "no $name"; done
for name in r.recipe exp/job.py exp/job.plugin; do grep -q "^source/[0-9a-f]*/$name\$" "$SCRATCH/names" || _fail "no $name"; done
grep -q 'env$\|notes.txt' "$SCRATCH/names" && _fail 'a secret was packed'
ok orch pack r.recipe p1 p1.orch --json
same "$(json runs)" 6
fails 2 orch pack r.recipe x.orch --smoke
says "'--smoke'"
fails 2 orch pack r.recipe x.orch --artifacts many
says 'is not a size'
# with the hand-in
fails 8 orch submit r.recipe --netid abc1 --out handin --pack
has 'abc1_r.orch'
python3 -c 'import zipfile; zipfile.ZipFile("handin/abc1_r.zip").extract("abc1_r.orch", "unzipped")' || _fail 'no pack in the ZIP'
cmp -s handin/abc1_r.orch unzipped/abc1_r.orch || _fail 'the pack in the ZIP'
ok orch verify unzipped/abc1_r.orch
has ' 0 differ, 0 not checked'
rm -r handin unzipped
# elsewhere: no repository, no store, another name
cp r.orch p1.orch "$SCRATCH"
mkdir "$SCRATCH/ta"
cd "$SCRATCH/ta"
export ORCH_USER=ta
ok orch verify ../r.orch
has 'r by ada'
has 'checked: 6 runs, '
has ' 2 source trees; '
has 'signature: none'
has '1.1a Final'
has ' 0 differ, 0 not checked; report.html says the same'
has 'Runs made by others'
has "note: plugin 'job' comes from the pack"
same "$(ls -A)" '' 'files left behind'
ok orch verify ../r.orch --json
printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["good"] and d["differs"] == 0 and d["not_checked"] == 0 and d["confirmed"] > 100, d
assert d["trials"] == 9 and d["trials_done"] == 6 and d["page"], d
assert d["collaborators"] == ["bob"], d["collaborators"]
assert all(i["outcome"] == "confirmed" for i in d["items"]) and len(d["items"]) == 10, d["items"]
assert not any("matched to their trials by parameters" in n for n in d["notes"]), d["notes"]   # fingerprints came out the same
' || _fail 'the outcome as JSON'
ok orch verify ../p1.orch
has ' 0 differ, 0 not checked'
# the runs of a pack are a bundle's
ok orch db merge ../r.orch --db merged.db
says '6 new runs'
rm -rf merged.db*
# trials run again: a program of the pack only where it is trusted
ok orch verify ../r.orch --rerun 2
has '6 other trials: not run'
has '--trust'
ok orch verify ../r.orch --rerun 2 --trust --json
printf '%s' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
ran = [r for r in d["rerun"] if r["run"]]
assert len(ran) == 2 and all(r["outcome"] == "confirmed" for r in ran), d["rerun"]
assert all(v["outcome"] == "confirmed" for r in ran for v in r["values"] if v["name"] in ("final", "accuracy")), ran
first = [r["trial"] for r in ran]
print(first)' >"$SCRATCH/first" || _fail 'the trials that ran again'
ok orch verify ../r.orch --rerun 2 --trust --json
printf '%s' "$out" | python3 -c '
import json, sys
print([r["trial"] for r in json.load(sys.stdin)["rerun"] if r["run"]])' | cmp -s - "$SCRATCH/first" || _fail 'the same seed chose other trials'
fails 2 orch verify ../r.orch --trust
says '--rerun'
same "$(ls -A)" '' 'files left behind'
# a result that the program does not give is found by running it again
cd "$SCRATCH/w"
export ORCH_USER=ada
sed -i 's/print("final", score)/print("final", score if "ORCH_LIE" not in os.environ else 0.99)/' exp/job.py
git commit -qam lie
ORCH_LIE=1 ok orch run r.recipe later -q
ok orch pack r.recipe later lie.orch
cd "$SCRATCH/ta"
export ORCH_USER=ta
ok orch verify "$SCRATCH/w/lie.orch"
fails 7 orch verify "$SCRATCH/w/lie.orch" --rerun 5 --trust
has 'final: differs: says 0.99, ran 1.501'
# outside of a repository
mkdir "$SCRATCH/plain"
cd "$SCRATCH/plain"
cp -r "$SCRATCH/w/exp" "$SCRATCH/w/r.recipe" .
export ORCH_USER=ada
ok orch run r.recipe tune -q
ok orch pack r.recipe plain.orch
cd "$SCRATCH/ta"
ok orch verify ../plain/plain.orch --json
same "$(json good)" true
same "$(json notes.1)" "plugin 'job' comes from the pack"
# timings count where they were made; a pack's are looked at anywhere
if [ "$(nproc)" -gt 1 ] && command -v taskset >/dev/null; then
    cd "$SCRATCH/w"
    export ORCH_USER=ada
    sleeps nap '1ms, 2ms' 2
    echo 'report: [ { title: Naps, table: { rows: seconds, value: wall_s } } ]' >>nap.recipe
    ok orch run nap.recipe -q
    ok orch pack nap.recipe nap.orch
    cd "$SCRATCH/ta"
    export ORCH_USER=ta
    ok taskset -c 0 "$BUILD/orch" verify ../w/nap.orch
    has ' 0 differ, 0 not checked'
    has_not 'by parameters only'
    ok taskset -c 0 "$BUILD/orch" verify ../w/nap.orch --rerun 1
    has 'not comparable: '
    _run orch verify ../w/nap.orch --rerun 1
    has 'the 95 % prediction interval of its 2 repeats'
fi
# signed runs: whose, by this machine's list of keys
if command -v ssh-keygen >/dev/null; then
    cd "$SCRATCH/w"
    export ORCH_USER='Ada <ada@example.org>'
    ssh-keygen -q -t ed25519 -N '' -C ada -f "$HOME/ada"
    git config gpg.format ssh
    git config user.signingKey "$HOME/ada.pub"
    ok orch run r.recipe tune -x lr=0.3 -q --sign
    ok orch pack r.recipe -x lr=0.3 tune signed.orch
    cd "$SCRATCH/ta"
    export ORCH_USER=ta
    ok orch verify ../w/signed.orch
    has 'signature: 2 of 2 runs by an unknown key (SHA256:'
    printf 'ada@example.org namespaces="orch" %s\n' "$(cat "$HOME/ada.pub")" >"$HOME/signers"
    git config --global gpg.ssh.allowedSignersFile "$HOME/signers"
    ok orch verify ../w/signed.orch
    has 'signature: 2 of 2 runs by ada@example.org'
fi
# what is no pack
fails 3 orch verify ../w/r.recipe
says 'is not a pack'
fails 3 orch verify ../nothing
says "cannot read '../nothing'"
: >empty
fails 3 orch verify empty
head -c 3000 ../r.orch >cut.orch
fails 3 orch verify cut.orch
exit 0
