# Changes while orch runs: a rebuilt plugin, another version, a store that becomes read-only.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# a compiled plugin that is rebuilt stops the sweep; what ended is kept
mkdir mine
ok orch plugin new mine --language c --dir mine
compile() { cc -std=c11 -shared -fPIC -I"$SOURCE/include" -o mine/new.so mine/mine.c -lm; }
build() { compile && mv mine/new.so mine/mine.so && trust mine/mine.so; }
sed -i 's|for (int64_t step = 0|while (p->lr > 0.35 \&\& access("'"$HOME"'/hold", F_OK) == 0)\n        usleep(10000);\n    &|; s|#include <math.h>|#define _DEFAULT_SOURCE\n#include <unistd.h>\n&|' mine/mine.c
build || _fail 'the skeleton does not compile'
cat >m.recipe <<'R'
format: 1
recipe: m
experiments:
  m: { plugin: mine/mine.so, sweep: { lr: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8] }, repeat: 4 }
R
compile || _fail 'it does not compile again'
touch "$HOME/hold" # from the fourth value on, trials wait
orch run m.recipe -j 1 >o 2>e &
pid=$!
until_true grep -q '^\[3/' e
mv mine/new.so mine/mine.so
trust mine/mine.so
rm "$HOME/hold"
wait $pid
same $? 4 'the exit status'
grep -q "changed while the sweep was running" e || {
    cat e
    _fail 'the reason'
}
ok orch ls --state ok --json -n 0
kept=$(json runs.#)
[ "$kept" -ge 3 ] && [ "$kept" -lt 32 ] || _fail "$kept runs were kept"
# the same build id (the source is the same): the runs that ended are reused
ok orch plan m.recipe --json
same "$(json left)" $((32 - kept))
ok orch run m.recipe -j 8
says "$((32 - kept)) ok, $kept done before"
# another version makes them stale, and the plan says so
sed -i 's/\.version = "0.1.0"/.version = "0.2.0"/' mine/mine.c
build
ok orch plan m.recipe --json
same "$(json left)" 32
same "$(json trials.0.state)" stale
ok orch plan m.recipe
has '0.1.0'
has '0.2.0'
sed -i 's/\.version = "0.2.0"/.version = "0.1.0"/' mine/mine.c
build
ok orch plan m.recipe --json
same "$(json left)" 0
# many trials are not started by accident
printf 'format: 1\nrecipe: many\nexperiments:\n  n: { plugin: "null", repeat: 501 }\n' >many.recipe
fails 2 orch run many.recipe
says 501
says --yes
ok orch ls --state ok --json -n 0
same "$(json runs.#)" 32
ok orch run many.recipe --yes
says '501 ok'
# a folder that cannot be written
if [ "$(id -u)" = 0 ]; then
    run_as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
    # the other user must be able to read what was built: a home of root's is often closed
    run_as test -r "$(dirname "$(readlink -f "$(command -v orch)")")/plugins/null.so" 2>/dev/null || exit 0
    chmod -R a+rX "$SCRATCH"
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
else
    run_as() { "$@"; }
fi
ok orch ls --json -n 0
before=$(json runs.#)
chmod -R a-w .orch
_run run_as orch -C "$PWD" ls --json -n 0 --db "$PWD/.orch/results.db"
[ $status = 0 ] || _fail 'a store that is only read needs no permission to write'
same "$(json runs.#)" "$before"
_run run_as orch run many.recipe -x metrics=3 --yes --db "$PWD/.orch/results.db"
same $status 3 'the exit status'
says 'results.db'
chmod -R u+w .orch
ok orch db check
ok orch ls --json -n 0
same "$(json runs.#)" "$before"
