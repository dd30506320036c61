/* SPDX-License-Identifier: MIT */
/* System calls and texts without the C library: what stands before its functions must not call
 * them, nor change errno. */
#ifndef ORCH_WATCH_PRELOAD_RAW_H
#define ORCH_WATCH_PRELOAD_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

/** Makes a system call with up to six arguments. Returns a negative error number on failure. */
#if defined(__x86_64__)
static inline long orch_watch_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long orch_watch_raw(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#include <errno.h>
#include <unistd.h>
#define ORCH_WATCH_IS_LIBC_SYSCALL
static inline long orch_watch_raw(long number, long a, long b, long c, long d, long e, long f)
{
    int saved = errno;
    long result = syscall(number, a, b, c, d, e, f);
    result = result == -1 ? -errno : result;
    errno = saved;
    return result;
}
#endif

#define ORCH_WATCH_CALL(number, a, b, c, d)                                                        \
    orch_watch_raw(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline size_t orch_watch_length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static inline bool orch_watch_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/** True when `text` begins with `start`. */
static inline bool orch_watch_begins(const char *text, const char *start)
{
    while (*start && *text == *start) {
        text++;
        start++;
    }
    return !*start;
}

/** Copies at most `bytes` - 1 bytes of a text, and a NUL. Returns the length of the copy. */
static inline size_t orch_watch_copy(char *to, size_t bytes, const char *from)
{
    size_t n = 0;
    for (; n + 1 < bytes && from[n]; n++)
        to[n] = from[n];
    to[n] = 0;
    return n;
}

/** The part of a path behind its last slash. */
static inline const char *orch_watch_base(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        base = *path == '/' ? path + 1 : base;
    return base;
}

#endif
