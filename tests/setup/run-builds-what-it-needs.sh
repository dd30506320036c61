# './build.sh run' builds the program and the plugins of the recipe. Run again, it looks for nothing that cannot have changed. What each
# stage took is said.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sed 's#/usr/bin/python3#python3#g' "$SOURCE/build.sh" >build.sh
chmod +x build.sh
mkdir -p stub build cmake bin
for name in "$SOURCE"/plugins/*/plugin.cmake; do
    name=$(dirname "$name")
    mkdir -p "plugins/${name##*/}"
    touch "plugins/${name##*/}/plugin.cmake"
    [ ! -f "$name/needs" ] || cp "$name/needs" "plugins/${name##*/}"
done
touch CMakeLists.txt cmake/torch_find.cmake
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
echo dpkg-query >>calls
for name; do [[ $name = "$GONE" || $name = [-\$]* ]] || echo "installed $name"; done
S
stub apt-get <<<'#!/bin/sh
sleep 2'
stub cmake <<'S'
#!/bin/sh
echo cmake >>calls
case "$*" in *' -P '*) echo '-- found: LibTorch 2.0.0 of a stub' ;; esac
touch build/build.ninja
printf 'ORCH_TORCH_FOUND:INTERNAL=LibTorch 2.0.0 of a stub\n' >build/CMakeCache.txt
S
stub ninja <<'S'
#!/bin/sh
echo "$*" >built
[ -n "$ADAPTER" ] || exit 0
printf '0\t%s\t1\tplugins/common/torch/CMakeFiles/orch_torch_adapter.dir/Unity/unity_0_cxx.cxx.o\t%s\n' "$ADAPTER" "$ADAPTER" >>build/.ninja_log
sleep 2
S
stub id <<<'#!/bin/sh
echo 0'
stub nvidia-smi <<<'#!/bin/sh
exit 9'
cat >stub/python3 <<'S'
#!/bin/sh
case "$*" in *find_spec*) echo python3 >>calls; exit 1 ;; *sys.path*) echo "$SITE" ;; *) exec "$PYTHON" "$@" ;; esac
S
printf '#!/bin/sh\necho "runs: $*"\n' >build/orch
chmod +x build/orch stub/python3
PYTHON=$(command -v python3)
mkdir "$SCRATCH/site packages"
export PYTHON GONE= ADAPTER= ORCH_BUILD_DIR=build SITE="$SCRATCH/site packages"
PATH=$PWD/stub:$PATH
recipe() { # recipe NAME LINE...
    printf 'format: 1\nrecipe: r\nexperiments:\n' >"$1.recipe"
    local name=$1
    shift
    printf '  %s\n' "$@" >>"$name.recipe"
}
builds() { # builds TARGETS RECIPE
    ok ./build.sh run "$2"
    has "runs: run $2"
    same "$(<built)" "-C build -k 10 $1" "what is built for $2"
}
recipe one 'a: { plugin: sleep }'
builds 'orch orch-host trials_of_sleep' one.recipe
# however the plugin is written; what does not come with orch is not built
recipe two "a: { plugin: 'train' }" 'b: { "plugin": "vecadd" }' 'c: # plugin: detect' '  plugin:   netstat' 'd: { plugin: ./mine.plugin }' 'e: { plugin: mine }'
builds 'orch orch-host trials_of_netstat trials_of_train trials_of_vecadd' two.recipe
ok ./build.sh build
same "$(<built)" '-C build -k 10 product'

# the second time
ok ./build.sh run one.recipe
table=$(grep -v "took\|wait_for: No record of process" <<<"$err")
rm -f calls
ok ./build.sh run one.recipe
[ ! -e calls ] || _fail "asked again: $(sort <calls | uniq -c)"
# bash 5.2 now and then says "wait_for: No record of process" of a pipeline that ended early, on a busy machine
same "$(grep -v 'wait_for: No record of process' <<<"$err")" "$table" 'what is said'
same "$(<built)" '-C build -k 10 orch orch-host trials_of_sleep' # changed sources are built
# ... until something may have changed
looks() { # looks WHY COMMAND...
    local why=$1
    shift
    ok ./build.sh run one.recipe
    rm -f calls
    ok "$@"
    ok ./build.sh run one.recipe
    [ -s calls ] || _fail "not asked again: $why"
}
sleep 1 # times count in seconds
looks 'a package was installed for python3' mkdir "$SITE/torch"
looks 'build.sh is another one' sed -i '$a# changed' build.sh
looks 'another tree' rm -r build/.configured
export Torch_DIR=$SCRATCH
rm -f calls
ok ./build.sh run one.recipe
[ -s calls ] || _fail 'not asked again: another environment'

# stages: nothing, packages, the adapter
says_not took
GONE=libgsl-dev ADAPTER=1600
ok ./build.sh build
grep -Eq '^  took +packages [1-9][0-9]* s, (configuring [1-9][0-9]* s, )?building [1-9][0-9]* s, of which the LibTorch adapter 2 s$' <<<"$err" || _fail 'stages'
GONE=
ok ./build.sh build # the same line of ninja's log again: not a step of this build
grep -Eq '^  took +building [1-9][0-9]* s$' <<<"$err" || _fail 'stages of a second build'

# what the real build makes of these names
for name in "$SOURCE"/plugins/*/plugin.cmake; do
    name=$(basename "$(dirname "$name")")
    grep -q "^build trials_of_$name:" "$BUILD/build.ninja" 2>/dev/null || [ ! -f "$BUILD/build.ninja" ] || _fail "no target trials_of_$name"
done
