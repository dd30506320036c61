# The page of a group: it pulls first, says by member what is there and what is not pulled yet, and changes one's own runs alone.
# A page that only reads, and that of a stranger's store, pull nothing and contact no remote.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
. "$(dirname "$0")/serve.sh"
unset ORCH_USER
as() {
    local who=$1
    shift
    (cd "$SCRATCH/$who" && ORCH_USER=$who "$@")
}
evil='<script>document.title=1</script> eve'
git init -q --bare "$SCRATCH/hub.git"
for who in ada bob "$evil"; do
    folder=$who
    [ "$who" != "$evil" ] || folder=eve
    git clone -q "$SCRATCH/hub.git" "$SCRATCH/$folder" 2>/dev/null
    cd "$SCRATCH/$folder"
    git checkout -q -b main 2>/dev/null || true
    sleeps nap 0.001,0.002
    git add . && git commit -q -m "$folder"
    ORCH_USER=$who orch run nap.recipe --force >"$SCRATCH/said" 2>&1 || _fail "$who cannot run: $(cat "$SCRATCH/said")"
    [ "$who" = bob ] || ORCH_USER=$who orch push >"$SCRATCH/said" 2>&1 || _fail "$who cannot push: $(cat "$SCRATCH/said")"
done
cd "$SCRATCH/bob"
export ORCH_USER=bob
fails 2 orch serve --remote origin
fails 2 orch serve --group --remote ''
runs() { orch db info --json | "$BUILD/json_get" runs; }
member() { curl -s "${base%%\?*}api/v1/group" | python3 "$SCRATCH/group.py" "$@"; }
cat >"$SCRATCH/group.py" <<'P'
import json, sys
of = json.load(sys.stdin)
for name in sys.argv[1:]:
    of = of.get(name, "none") if isinstance(of, dict) else "none"
print(of)
P
changes() { PYTHONDONTWRITEBYTECODE=1 ok python3 "$(dirname "$0")/changes.py" "$@"; }
# without the option nothing of it
serve
same "$(member error code)" request 'no group'
unserve
same "$(runs)" 2 'runs before'
# a page that only reads: nothing is pulled, nothing fetched
refs=$(git for-each-ref)
serve --group --read-only
same "$(member is_contacted)" False 'a page that only reads asks the remote:'
unserve
same "$(runs)" 2 'runs after a page that only reads'
same "$(git for-each-ref)" "$refs" 'refs after a page that only reads'
# a stranger's store, with a remote that would run a program
cp -r "$SCRATCH/bob" "$SCRATCH/strange"
cd "$SCRATCH/strange"
git config remote.origin.uploadpack "touch $SCRATCH/ran; git-upload-pack"
git config core.sshCommand "touch $SCRATCH/ran; ssh"
git config remote.evil.url "ext::touch $SCRATCH/ran"
sed -i -E 's/"machine":"[0-9a-f]*"/"machine":"'"$(printf '%064d' 1)"'"/g; s/"inode":[0-9]+/"inode":1/' .orch/results.db.d/orch-store
before=$(sha256sum .orch/results.db)
for remote in origin evil; do
    serve --group --remote $remote
    same "$(member is_contacted)" False "the page of a stranger's store asks $remote:"
    changes refused "$base" 'not yours'
    unserve
done
same "$(sha256sum .orch/results.db)" "$before" "a stranger's store"
[ ! -e "$SCRATCH/ran" ] || _fail "the page of a stranger's store ran a program"
# one's own
cd "$SCRATCH/bob"
serve --group
same "$(runs)" 6 'runs after the start'
as ada orch run nap.recipe --force >/dev/null 2>&1 && as ada orch push >/dev/null 2>&1 || _fail 'ada cannot push again'
same "$(member remote) $(member behind) $(member ahead) $(member behind_by ada)" 'origin 2 2 2' 'the standing:'
changes group "$base"
same "$(orch ls --where 'tag = mine' --json | "$BUILD/json_get" runs.#)" 1 'runs that the page tagged'
if [ -n "$(command -v chromium)" ] && [ -n "$(command -v chromedriver)" ]; then
    . "$(dirname "$0")/browser.sh"
    walk group.py
fi
unserve
# the remote is gone: the page says so, and shows what is there
mv "$SCRATCH/hub.git" "$SCRATCH/gone.git"
serve --group
grep -q 'nothing is pulled' "$SCRATCH/serve.err" || _fail "no warning of a lost remote: $(cat "$SCRATCH/serve.err")"
case $(member problem) in none | None) _fail 'no problem with a lost remote' ;; esac
# it comes back: the page pulls by itself, and the reason goes
before=$(runs)
mv "$SCRATCH/gone.git" "$SCRATCH/hub.git"
for _ in $(seq 100); do
    [ "$(member problem)" = None ] && break # the pull's end comes after its runs
    sleep 0.3
done
same "$(runs)" $((before + 2)) 'runs after the remote is back'
same "$(member problem) $(member behind)" 'None 0' 'the standing of a remote that is back:'
unserve
# a remote that does not answer does not hold up the end
mkdir "$SCRATCH/slow"
printf '#!/bin/sh\necho x >>"%s/slow/began"\nexec sleep 300\n' "$SCRATCH" >"$SCRATCH/slow/ssh"
chmod +x "$SCRATCH/slow/ssh"
git config remote.slow.url ssh://nowhere.example/x
GIT_SSH="$SCRATCH/slow/ssh" ORCH_PROGRAM_TIMEOUT=8 serve --group --remote slow
grep -q 'nothing is pulled' "$SCRATCH/serve.err" || _fail "no warning of a slow remote: $(cat "$SCRATCH/serve.err")"
for _ in $(seq 100); do # the second attempt
    [ "$(wc -l <"$SCRATCH/slow/began")" -lt 2 ] || break
    sleep 0.2
done
[ "$(wc -l <"$SCRATCH/slow/began")" -ge 2 ] || _fail 'there is no second attempt'
SECONDS=0
unserve
[ "$SECONDS" -lt 7 ] || # not the 8 s that it would wait
    _fail "the end took $SECONDS s"
exit 0
