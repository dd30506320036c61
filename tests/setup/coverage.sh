# A coverage build counts code of programs that end by _exit or a signal, and of the plugins that they load. The table
# sums it by folder.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cc=$(command -v gcc) && command -v gcov >/dev/null || skip 'no gcc with gcov'
mkdir -p tree/core/a tree/plugins/b made
cd tree
cat >core/a/main.c <<'C'
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
int main(int count, char **words)
{
    void *plugin = dlopen(words[1], RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "run") : NULL;
    if (!run)
        return 1;
    int number = atoi(words[2]);
    if (number)
        raise(number);
    run(count);
    return 2;
}
C
cat >plugins/b/b.c <<'C'
#include <unistd.h>
__attribute__((visibility("default"))) void run(int count)
{
    if (count == 3)
        _exit(0);
    _exit(1);
}
C
flags="--coverage -fPIC -fvisibility=hidden"
link="-Wl,--wrap=_exit -Wl,--undefined=orch_coverage_register -Wl,--export-dynamic-symbol=orch_coverage_register -Wl,--export-dynamic-symbol=orch_coverage_exit"
for part in $link; do grep -q -e "${part#-Wl,}" "$SOURCE/cmake/flags.cmake" || _fail "cmake/flags.cmake does not have $part"; done
build() { ok "$cc" $flags -c "$PWD/$1" -o "../made/$2.o"; }
build core/a/main.c main
build plugins/b/b.c b
ok "$cc" $flags -c "$SOURCE/tests/coverage/flush.c" -o ../made/flush.o
ok "$cc" $flags $link ../made/main.o ../made/flush.o -ldl -o ../made/main
ok "$cc" $flags $link -shared -Wl,-z,defs ../made/b.o ../made/flush.o -o ../made/b.so
table() { ok python3 "$SOURCE/tests/coverage/table.py" . ../made; }
row() { printf '%s\n' "$out" | awk -v name="$1" '$1 == name { print $2, $3, $5, $6 }'; }
# by a signal: the program's lines before it, and none of the plugin's
for number in 15 11; do
    rm -f ../made/*.gcda
    fails $((128 + number)) ../made/main ../made/b.so $number
    table
    same "$(row core/a)" '10 70.0 6 50.0'
    same "$(row plugins/b)" '4 0.0 2 0.0'
done
# by the plugin's _exit: counted in both, beside what other processes counted
ok ../made/main ../made/b.so 0
table
same "$(row core/a)" '10 80.0 6 66.7'
same "$(row plugins/b)" '4 75.0 2 50.0'
same "$(row all)" '14 78.6 8 62.5'
ok python3 "$SOURCE/tests/coverage/table.py" . ../made --files
has plugins/b/b.c
mv plugins/b/b.c plugins/b/renamed.c
table
has_not plugins/b # what an earlier build counted of a file that is gone
mkdir ../none
fails 1 python3 "$SOURCE/tests/coverage/table.py" . ../none
says '*.gcno'
