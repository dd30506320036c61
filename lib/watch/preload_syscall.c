/* SPDX-License-Identifier: MIT */
/* The function syscall, by which programs make calls for which the C library has no function. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_path.h"
#include "lib/watch/preload_raw.h"

#ifndef ORCH_WATCH_IS_LIBC_SYSCALL

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

static const char *text(long argument)
{
    return (const char *)argument;
}

/* After a call that succeeded. */
static void note(long number, long result, const long *a)
{
    switch (number) {
#ifdef SYS_open
    case SYS_open:
        orch_watch_opened((int)result, AT_FDCWD, text(a[0]), (int)a[1]);
        return;
    case SYS_rename:
        orch_watch_renamed(AT_FDCWD, text(a[0]), AT_FDCWD, text(a[1]));
        return;
    case SYS_unlink:
        orch_watch_removed(AT_FDCWD, text(a[0]));
        return;
#endif
    case SYS_openat:
        orch_watch_opened((int)result, (int)a[0], text(a[1]), (int)a[2]);
        return;
#ifdef SYS_openat2
    case SYS_openat2: /* struct open_how begins with the flags */
        orch_watch_opened((int)result, (int)a[0], text(a[1]), (int)*(const uint64_t *)a[2]);
        return;
#endif
    case SYS_renameat2:
        orch_watch_renamed((int)a[0], text(a[1]), (int)a[2], text(a[3]));
        return;
    case SYS_unlinkat:
        if (!(a[2] & AT_REMOVEDIR))
            orch_watch_removed((int)a[0], text(a[1]));
        return;
    case SYS_chdir:
    case SYS_fchdir:
        orch_watch_forget_folder();
        return;
    case SYS_getdents64:
        orch_watch_used(ORCH_WATCH_LIST, (int)a[0], ".");
        return;
#ifdef SYS_io_uring_setup
    case SYS_io_uring_setup:
        orch_watch_program(ORCH_WATCH_RING, NULL);
        return;
#endif
    default:
        return;
    }
}

static bool is_noted(long number)
{
    static const long numbers[] = {
#ifdef SYS_open
        SYS_open,           SYS_rename, SYS_unlink,
#endif
        SYS_execve,         SYS_openat, SYS_renameat2,  SYS_unlinkat,
        SYS_chdir,          SYS_fchdir, SYS_getdents64,
#ifdef SYS_openat2
        SYS_openat2,
#endif
#ifdef SYS_io_uring_setup
        SYS_io_uring_setup,
#endif
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* Any other call is jumped to: its arguments stay where they are. */
ORCH_WATCH_BEFORE(long, syscall, long number, long a, long b, long c, long d, long e, long f)
{
    orch_watch_type_syscall *next = ORCH_WATCH_NEXT(syscall);
    if (!next)
        return orch_watch_missing();
    if (!orch_watch_memory() || !is_noted(number))
        return next(number, a, b, c, d, e, f);
    if (number == SYS_execve)
        return execve(text(a), (char *const *)b, (char *const *)c);
    long result = next(number, a, b, c, d, e, f);
    if (result >= 0)
        note(number, result, (const long[]){a, b, c, d});
    return result;
}

#endif
