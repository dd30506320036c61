# Recording opened files does not disturb the program: static programs, AddressSanitizer, another preloaded library, a
# cleared environment, errno, signal handlers, and programs of another C library run as by hand.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
command -v gcc >/dev/null || skip 'no compiler'
unset LD_PRELOAD
echo data >data.csv
cat >p.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char name[] = "data.cs?";
    name[7] = 'v';
    errno = EDOM;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    int kept = errno == EDOM;
    int none = open("none.csv", O_RDONLY), why = errno;
    if (fd < 0 || none >= 0 || why != ENOENT)
        return 1;
    fprintf(stderr, "preload=%s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    printf("x %d\n", kept);
    return 0;
}
C
gcc -o dynamic p.c || _fail 'gcc'
ok orch try -- ./dynamic
ok orch show @last
has 'data.csv'
# static: it runs, and the run says that nothing was noted
if gcc -static -o static p.c 2>/dev/null; then
    ok orch try -- ./static
    says '1 ok'
    ok orch show @last
    has 'what it read was not noted'
    has 'static'
fi
# under AddressSanitizer, by itself and from a shell, with options of the user's
if gcc -fsanitize=address -o asan p.c 2>/dev/null && ASAN_OPTIONS=detect_leaks=0 ./asan >/dev/null 2>&1; then
    export ASAN_OPTIONS=detect_leaks=0
    ok orch try -- ./asan
    says '1 ok'
    ok orch show @last
    has 'data.csv'
    ok orch try -- sh -c './asan && true'
    says '1 ok'
    unset ASAN_OPTIONS
fi
# a library that the user preloads stays first
printf 'int other_library(void) { return 1; }\n' >other.c
gcc -shared -fPIC -o "$SCRATCH/other.so" other.c || _fail 'gcc -shared'
# (a program of a sanitizer build would refuse to start behind it)
ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$SCRATCH/other.so ok "$BUILD/orch" try -- ./dynamic --again
ok orch show @last
has 'data.csv'
ok orch show @last --artifact stderr
has "preload=$SCRATCH/other.so:"
# without an environment
ok orch try -- env -i ./dynamic
says '1 ok'
# forked children, threads, and handlers that open files on a small stack
cat >many.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void open_it(int number)
{
    (void)number;
    int fd = open("handler.csv", O_RDONLY);
    if (fd >= 0)
        close(fd);
}
static void *work(void *arg)
{
    char name[64];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "t%ld-%d.csv", (long)(size_t)arg, i);
        int fd = open(name, O_RDWR | O_CREAT, 0600);
        if (fd >= 0)
            close(fd);
        raise(SIGUSR1);
    }
    return NULL;
}
int main(void)
{
    static char stack[8192];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = open_it, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternative, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            open_it(0);
            kill(getpid(), i % 2 ? SIGKILL : SIGTERM);
        }
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    while (wait(NULL) > 0)
        ;
    puts("x 1");
    return 0;
}
C
gcc -pthread -o many many.c || _fail 'gcc -pthread'
echo 1 >handler.csv
ok orch try -- ./many
says '1 ok'
ok orch show @last
has 'handler.csv'
[[ $out == *t[0-3]-*.csv* ]] || _fail 'no file of a thread'
# a program of another C library
if command -v musl-gcc >/dev/null && musl-gcc -o musl p.c 2>/dev/null; then
    ok orch try -- ./musl
    says '1 ok'
    ok orch show @last
    has 'data.csv'
fi
# an orch that lies where the library cannot be named
mkdir "$SCRATCH/a b"
cp -r "$BUILD/orch" "$BUILD/orch-host" "$BUILD/orch-watch.so" "$SCRATCH/a b/"
ln -s "$BUILD/plugins" "$SCRATCH/a b/plugins"
ok "$SCRATCH/a b/orch" try -- ./dynamic --blank
says '1 ok'
ok orch show @last
has 'has a space or a colon'
