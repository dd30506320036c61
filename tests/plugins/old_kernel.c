/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into orch-host: the kernel has no pidfd_open (before 5.3) and no close_range (before
 * 5.9), and memfd_create does not know MFD_EXEC (before 6.3). */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MEMFD_EXEC 0x0010U

EXPORT long syscall(long number, ...)
{
    long arguments[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_close_range || number == SYS_pidfd_open) {
        errno = ENOSYS;
        return -1;
    }
    return ((__typeof__(&syscall))dlsym(RTLD_NEXT, "syscall"))(
        number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
    if (flags & MEMFD_EXEC) {
        errno = EINVAL;
        return -1;
    }
    return ((__typeof__(&memfd_create))dlsym(RTLD_NEXT, "memfd_create"))(name, flags);
}
