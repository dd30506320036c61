# A wheel made from the build works in a virtual environment of its own: from a path with blanks and umlauts, as a user without the
# build on the PATH, with the version of the program, and leaves nothing when it is uninstalled. Homework 4's first problem runs with
# the environment's PyTorch, and what the rest of the homework lacks is named with the way to it.
# test: slow timeout=1200
. "$(dirname "$0")/../cli/wheel_lib.sh"
make_wheel
same "$(ls "$SCRATCH/dist" | wc -l)" 1
wheel=$(ls "$SCRATCH"/dist/orch_run-*-py3-none-manylinux_2_[0-9]*.whl)
bytes=$(stat -c %s "$wheel")
[ "$bytes" -lt 40000000 ] || _fail "the wheel has $bytes bytes"
new_environment "$SCRATCH/Bücher und Käse/v"
ok pip install --no-index "$wheel"
away
ok "$v/bin/orch" --version
same "$(cut -d ' ' -f 2 <<<"$out")" "$("$v/bin/python" -c 'import orch; print(orch.__version__)')" versions
same "$(cut -d ' ' -f 2 <<<"$out")" "$("$v/bin/python" -m pip show orch-run 2>/dev/null | sed -n 's/^Version: //p')" versions
# the first recipe, and the second time nothing
ok "$v/bin/orch" init
ok "$v/bin/orch" run recipes/first.recipe
says '6 trials: 6 ok'
has 'Does it sleep as long as it was told?'
ok "$v/bin/orch" run recipes/first.recipe
says '6 of 6 trials are done'
# a script, with the Python of the environment that is not activated
printf 'import orch\nrun = orch.start(lr=0.1)\nrun.log(loss=0.5)\n' >train.py
ok "$v/bin/python" train.py
ok "$v/bin/orch" ls
has lr=0.1
# plugins that use MPI have one process; what is not there leaves out its own experiments
cp -r "$SOURCE/recipes" course
ok "$v/bin/orch" plan course/hw4.recipe p1
says_not 'no plugin'
has 'missing'
ok "$v/bin/orch" plan course/hw7.recipe p1
says "experiments 'async', 'sync', 'speed_samples' are skipped: there is no plugin 'asyncsgd' here"
says 'needs MPI: the wheel has none'
has staleness
printf 'format: 1\nrecipe: s\nexperiments:\n  s: { plugin: scaling, sweep: { workers: [1, 2] } }\n' >s.recipe
ok "$v/bin/orch" plan s.recipe
has 's workers=1  missing'
has "needs MPI for 2 processes, and plugin 'scaling' was built without"
# another interpreter's module and program (python -m), templates, drawings, the page's files
ok "$v/bin/python" -m orch_run plugin new mine
ok "$v/bin/orch" plugin check plugins/mine/mine.plugin
has_not failed
ok "$v/bin/orch" plot --x seconds --y slept_s --where 'experiment = nap' --out chart.png
[ "$(head -c 4 chart.png | tail -c 3)" = PNG ] || _fail 'no picture'
ok "$v/bin/orch" doctor
has "$v/lib"
has 'orch plugin build train'
has_not "$BUILD/"
has_not "$SOURCE/"
# nothing names a folder of the machine that built it
package=$(echo "$v"/lib/python3*/site-packages/orch_run)
! grep -rlF -e "$BUILD" -e "$SOURCE" "$package" >"$SCRATCH/named" || _fail "a folder of the build is named by $(<"$SCRATCH/named")"
# all libraries are in the package, or of every Linux
find "$package" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print >"$SCRATCH/elf"
[ "$(wc -l <"$SCRATCH/elf")" -gt 20 ] || _fail 'too few programs and plugins'
while read -r file; do ldd "$file" 2>/dev/null; done <"$SCRATCH/elf" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(.*\) (0x.*/\1 \2/p; /not found/p' |
    grep -vF "$package" | grep -vE '^lib(c|m|dl|pthread|rt|resolv|util|gcc_s|z)\.so\.[0-9]+ /' | sort -u >"$SCRATCH/foreign"
[ ! -s "$SCRATCH/foreign" ] || _fail "libraries from outside: $(<"$SCRATCH/foreign")"
# without PyTorch: what counts and computes runs, and what trains says what to type
fails 1 "$v/bin/orch" run --smoke course/hw4.recipe p1
says 'hint: orch plugin build train'
fails 4 "$v/bin/orch" plugin build train
says 'hint: pip install torch'
fails 1 "$v/bin/orch" run --smoke course/hw4.recipe p3
says ' ok  vgg19 net=vgg19 '
says ' ok  peak net=vgg16 per_mac=2 '
says '  skipped  simulated_inception net=inception_v3 workers=1 '
! command -v smpirun >/dev/null || says "'./build.sh simgrid' in a clone of orch"
# only the user's data are left
ok pip uninstall -y orch-run
[ -z "$(find "$v" -iname '*orch*')" ] || _fail "left: $(find "$v" -iname '*orch*')"
[ -s .orch/results.db ] || _fail 'the store is gone'
# with PyTorch the first problem runs as well
with_torch=$(for python in "$PYTHON" /usr/bin/python3; do "$python" -c 'import ensurepip, torch' 2>/dev/null && echo "$python" && break; done)
[ -n "$with_torch" ] || skip 'the rest needs a Python with PyTorch and venv'
command -v c++ >/dev/null || skip 'the rest needs a C++ compiler'
PYTHON=$with_torch new_environment "$SCRATCH/torch" --system-site-packages
ok pip install --no-index "$wheel"
ok "$v/bin/orch" plugin build train
ok "$v/bin/orch" run --smoke course/hw4.recipe p1
says '7 trials: 7 ok'
