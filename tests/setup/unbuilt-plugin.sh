# A plugin that comes with orch and was not built is named with the command that builds it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p tree/plugins
cp "$BUILD/orch" "$BUILD/orch-host" tree/
grep -q '^sleep.\./build.sh build$' "$BUILD/plugins/unbuilt.tsv" || _fail "CMake lists no plugins: $(<"$BUILD/plugins/unbuilt.tsv")"
printf 'sleep\t./build.sh build\nsleepy\tit needs LibTorch (./build.sh torch)\n' >tree/plugins/unbuilt.tsv
sleeps naps 0.01
fails 4 tree/orch check naps.recipe
says "no plugin 'sleep' in"
says "hint: 'sleep' comes with orch and is not built: ./build.sh build"
fails 4 tree/orch plugin show sleepy
says "hint: 'sleepy' comes with orch and is not built: it needs LibTorch (./build.sh torch)"
fails 4 tree/orch plugin show slee
says_not 'comes with orch'
