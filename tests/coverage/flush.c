/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linked into every program and plugin of a coverage build: writes the counts of a process that
 * does not return from main. A trial's process ends by _exit, and many are ended by a signal; gcov
 * writes at exit alone. Only a SIGKILL still loses them.
 *
 * Each program and each plugin has a gcov of its own. A plugin registers with the program that
 * loaded it: the program exports orch_coverage_register, which goes before the plugin's. */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define DUMPS_MAX 64

extern void __gcov_dump(void);

__attribute__((visibility("default"))) void orch_coverage_register(void (*dump)(void), int add);
/* What a plugin's _exit calls too: the program's has all that registered. */
__attribute__((visibility("default"), noreturn)) void orch_coverage_exit(int status);
__attribute__((noreturn)) void __real__exit(int status);
__attribute__((noreturn)) void __wrap__exit(int status);

static void (*dumps[DUMPS_MAX])(void);

static void dump_all(void)
{
    for (int i = 0; i < DUMPS_MAX; i++)
        if (dumps[i])
            dumps[i]();
}

/* The program dies by the same signal: SA_RESETHAND has set what it does by default. */
static void on_signal(int number)
{
    dump_all();
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGALRM, SIGPIPE,
                                  SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,   SIGILL,  SIGTRAP,
                                  SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now,
            ours = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_NODEFER};
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    }
}

void orch_coverage_register(void (*dump)(void), int add)
{
    static int is_first = 1;
    for (int i = 0; i < DUMPS_MAX; i++)
        if (dumps[i] == (add ? NULL : dump)) {
            dumps[i] = add ? dump : NULL;
            break;
        }
    if (is_first)
        catch_signals();
    is_first = 0;
}

static void dump_own(void)
{
    __gcov_dump();
}

__attribute__((constructor)) static void begin(void)
{
    orch_coverage_register(dump_own, 1);
}

__attribute__((destructor)) static void end(void)
{
    orch_coverage_register(dump_own, 0);
}

void orch_coverage_exit(int status)
{
    dump_all();
    __real__exit(status);
}

void __wrap__exit(int status)
{
    orch_coverage_exit(status);
}
