#!/bin/bash
# A clock that is wrong by more than a century: no run is recorded, because other stores would refuse it, and the
# message names the clock. Reading works.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
command -v cc >/dev/null || skip 'there is no C compiler'
cat >"$SCRATCH/clock.c" <<'C'
/* Sets the wall clock forward by $CLOCK_AHEAD_S, from the moment at which the file $CLOCK_FROM is there (if named). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long long ahead(void)
{
    const char *from = getenv("CLOCK_FROM"), *by = getenv("CLOCK_AHEAD_S");
    return by && (!from || access(from, F_OK) == 0) ? atoll(by) : 0;
}
int clock_gettime(clockid_t id, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, out);
    if (status == 0 && id == CLOCK_REALTIME) out->tv_sec += ahead();
    return status;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec; out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
C
cc -shared -fPIC -O1 -o "$SCRATCH/clock.so" "$SCRATCH/clock.c" -ldl || skip 'the C compiler does not work'
[ -z "$(ldd "$BUILD/orch" | grep -i asan)" ] || skip 'AddressSanitizer must be loaded first'
now=$(date +%s)
at() { # at YEAR COMMAND...: with the clock at the beginning of that year
    local start
    start=$(date -u -d "$1-01-01" +%s)
    shift
    LD_PRELOAD=$SCRATCH/clock.so CLOCK_AHEAD_S=$((start - now)) "$@"
}
sleeps nap '0'
for year in 2231 2200 1999 1970; do
    fails 3 at $year orch run nap.recipe
    says "the clock of this machine is wrong: it shows "
    says ' UTC'
    says 'hint: set the clock'
done
fails 3 at 2231 orch record -s a=1 </dev/null
says 'the clock of this machine is wrong'
ok at 2150 orch run nap.recipe
ok at 2150 orch ls
has 'nap'
ok orch export --bundle far.orch
mkdir other
(
    cd other
    git init -q .
    ok orch db merge ../far.orch
    ok orch ls
    has nap
) || exit 1
ok at 2231 orch ls
has nap
fails 3 at 2231 orch note @last 'late'
says 'the clock'
# the clock goes wrong while a trial runs: its record is still one that others take
cat >jump.plugin <<'Y'
plugin: jump
command: [sh, jump.sh]
metrics: { seen: none }
Y
printf 'touch "$CLOCK_FROM"; echo seen 1\n' >jump.sh
printf 'format: 1\nrecipe: j\nexperiments:\n  jump: { plugin: ./jump.plugin }\n' >jump.recipe
_run env CLOCK_FROM="$SCRATCH/now" LD_PRELOAD="$SCRATCH/clock.so" CLOCK_AHEAD_S=$((205 * 31557600)) orch run jump.recipe
[ -e "$SCRATCH/now" ] || _fail 'the trial did not run'
ok orch ls -e jump
has jump
ok orch export --bundle jumped.orch -e jump
cd other
ok orch db merge ../jumped.orch
ok orch ls -e jump
has jump
