/* SPDX-License-Identifier: MIT */
#include "core/host/crash/signal_text.h"

#include <glib.h>
#include <signal.h>

char *orch_signal_text(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                 {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (names[i].number == number)
            return g_strdup_printf("signal %d (%s)", number, names[i].name);
    return g_strdup_printf("signal %d", number);
}
