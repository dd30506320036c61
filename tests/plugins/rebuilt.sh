# A rebuilt plugin makes its results stale: its trials run again, and the plan gives the reason.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
ok orch plugin new mine --language c --dir mine
build() { cc -std=c11 -shared -fPIC -I"$SOURCE/include" "$@" -o mine/new.so mine/mine.c -lm && mv mine/new.so mine/mine.so && trust mine/mine.so; }
build -Wl,--build-id || _fail 'the skeleton does not compile'
printf 'format: 1\nrecipe: m\nexperiments:\n  m: { plugin: mine/mine.so, with: { steps: 3 } }\n' >m.recipe
git add -A
git commit -qm one
ok orch run m.recipe
says '1 ok'
ok orch ls --json
ok orch show "$(json runs.0.key)" --json
first=$(json build)
same "$first" "$(readelf -n mine/mine.so | awk '/Build ID/ { print $3 }')" 'the build that is recorded'
# the same source built again is the same build
build -Wl,--build-id
ok orch run m.recipe
says 'nothing to run: 1 of 1'
# edit, make, commit, run
sed -i 's/p->lr \* (2 \* x/p->lr * (3 * x/' mine/mine.c
build -Wl,--build-id
git commit -qam two
ok orch plan m.recipe --json
same "$(json trials.0.state)" stale
case $(json trials.0.reason) in "plugin 'mine' was rebuilt (${first:0:8} -> "*) ;; *) _fail 'the reason' ;; esac
ok orch run m.recipe
says '1 ok'
# without a build id the file's digest speaks
build -Wl,--build-id=none
ok orch run m.recipe
says '1 ok'
ok orch ls --json
ok orch show "$(json runs.0.key)" --json
same "$(json build)" "sha256:$(sha256sum mine/mine.so | cut -d' ' -f1)" 'the build that is recorded'
# orch's own plugins: in a build tree a file beside them stands for their sources
dev=$SCRATCH/dev
mkdir -p "$dev/plugins"
cp "$BUILD/orch" "$BUILD/orch-host" "$dev"
cp "$BUILD"/plugins/null.so "$dev/plugins"
ln -s "$SOURCE/share" "$dev/share"
[ -s "$BUILD/plugins/null.build" ] || _fail 'no digest of the sources beside a built plugin'
printf 'format: 1\nrecipe: n\nexperiments:\n  n: { plugin: "null" }\n' >n.recipe
ok "$dev/orch" run n.recipe
says '1 ok' # as installed: the version alone speaks
cp "$BUILD/plugins/null.build" "$dev/plugins"
ok "$dev/orch" run n.recipe
says 'nothing to run: 1 of 1' # a run that does not know its build counts
ok "$dev/orch" run n.recipe --force
says '1 ok'
ok "$dev/orch" run n.recipe
says 'nothing to run: 1 of 1'
sqlite3 .orch/results.db "SELECT count(*) FROM run WHERE build = '$(cat "$BUILD/plugins/null.build")'" >n
same "$(cat n)" 1 'runs with the digest of their sources'
echo 0123456789abcdef >"$dev/plugins/null.build"
ok "$dev/orch" rm "$("$dev/orch" ls --recipe n --json | "$BUILD/json_get" runs.1.key)" -q
ok "$dev/orch" plan n.recipe --json
same "$(json trials.0.state)" stale
case $(json trials.0.reason) in "plugin 'null' was rebuilt from other sources ("*' -> 01234567)') ;; *) _fail "the reason: $out" ;; esac
ok "$dev/orch" run n.recipe
says '1 ok'
ok "$dev/orch" run n.recipe
says 'nothing to run: 1 of 1'
