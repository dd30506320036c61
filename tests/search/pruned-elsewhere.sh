# A trial that another run of the same search prunes meanwhile is not run again.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, pathlib, time
home = pathlib.Path(os.environ['HOME'])
n = 1 + len(list(home.glob('trial-*')))
(home / f'trial-{n}').touch()
while n == 2 and not (home / 'go').exists():
    time.sleep(0.05)
print(f"loss {n}", flush=True)
while n == 2:  # until it is pruned
    time.sleep(0.05)
print(f"loss {n}", flush=True)
P
search() {
    orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials 2 --stop 'asha(min=1, factor=2)' -j 1 -- python3 train.py {lr}
}
# pruned_elsewhere: when the second search looks whether it was pruned, or (with hold.so) after that look and before its claim
pruned_elsewhere() {
    local first second
    rm -rf .orch "$HOME"/trial-* "$HOME/go"
    search >first 2>&1 &
    first=$!
    await -e "$HOME/trial-2"
    LD_PRELOAD=${1:-} HOLD=$SCRATCH/hold search >second 2>&1 &
    second=$!
    await -s second # it has its plan, in which the second trial runs elsewhere
    if [ "${1:-}" ]; then
        touch "$SCRATCH/hold"
        await -e "$SCRATCH/hold.is"
    fi
    touch "$HOME/go"
    wait $first
    rm -f "$SCRATCH/hold"
    wait $second || _fail "$(cat second)"
    err=$(cat second)
    grep -q '1 ok, 1 pruned' first || _fail "$(cat first)"
    says '1 done before, 1 pruned before'
    [ ! -e "$HOME/trial-3" ] || _fail 'a pruned trial was run again'
    python3 -c 'import sqlite3, sys; sys.exit(sqlite3.connect(".orch/results.db").execute("SELECT count(*) FROM active").fetchone()[0])' ||
        _fail 'its claim was left'
}
pruned_elsewhere
command -v cc >/dev/null && [ -z "$(ldd "$BUILD/orch" | grep -i asan)" ] || exit 0
cat >"$SCRATCH/hold.c" <<'C'
/* No write to a database in WAL mode (its lock is byte 120 of the shm file) begins while the file $HOLD is there, from the sixth
 * on: by then each is a claim of a trial that runs elsewhere, which is tried five times a second. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void wait_while_held(int command, const struct flock *lock)
{
    static int writes;
    const char *hold = getenv("HOLD");
    char is[4096];
    if (command != F_SETLK || lock->l_type != F_WRLCK || lock->l_start != 120 || ++writes < 6 || !hold || access(hold, F_OK) != 0)
        return;
    snprintf(is, sizeof is, "%s.is", hold);
    close(open(is, O_CREAT | O_WRONLY, 0600));
    while (access(hold, F_OK) == 0) usleep(5000);
}
#define REPLACE(NAME)                                            \
    int NAME(int fd, int command, ...)                           \
    {                                                            \
        static int (*real)(int, int, ...);                       \
        va_list list;                                            \
        va_start(list, command);                                 \
        void *argument = va_arg(list, void *);                   \
        va_end(list);                                            \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #NAME);    \
        wait_while_held(command, argument);                      \
        return real(fd, command, argument);                      \
    }
REPLACE(fcntl)
REPLACE(fcntl64)
C
cc -shared -fPIC -O1 -o "$SCRATCH/hold.so" "$SCRATCH/hold.c" -ldl || exit 0
pruned_elsewhere "$SCRATCH/hold.so"
