/* SPDX-License-Identifier: MIT */
/* A handler runs where nothing can be trusted: on a stack of its own, since the stack may have
 * overflowed, and with calls that are safe in handlers. It writes bare addresses and the list of
 * mappings; the host makes names of them when the process is gone. Should a part of it wait for a
 * lock that the crashed thread holds, SIGALRM ends the process. The signal is then sent again with
 * its default action, so that the trial ends as it would have without a handler, with a core file
 * where these are on.
 *
 * Threads need a stack for handlers, too, so pthread_create is replaced by one that makes it.
 *
 * The unwinder is linked statically. Rejected: backtrace(3), which loads a library and therefore
 * has to be called in each trial before any crash; reading the process from outside with ptrace(2),
 * which some systems do not allow. */
#include "core/host/crash/crash_trap.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

enum { FRAMES_MAX = 128, STACK_BYTES = 1 << 16, PATIENCE_S = 5 };

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static struct {
    char path[PATH_MAX];
    pid_t pid; /* of the process whose crash is written; 0: none */
    atomic_bool is_taken;
    volatile sig_atomic_t number; /* the signal that ends it */
} trap;

/* ---- writing, in the handler ------------------------------------------------------------------
 */

static void put_text(int fd, const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    if (write(fd, text, length) < 0)
        return; /* a shorter trace is better than none */
}

static void put_number(int fd, const char *name, uint64_t number)
{
    char text[24];
    char *at = text + sizeof text;
    *--at = '\0';
    *--at = '\n';
    do {
        *--at = "0123456789abcdef"[number % 16];
    } while (number /= 16);
    put_text(fd, name);
    put_text(fd, " ");
    put_text(fd, at);
}

static void put_maps(int fd)
{
    char part[2048];
    ssize_t n;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    put_text(fd, "maps\n");
    while (maps >= 0 && (n = read(maps, part, sizeof part)) > 0 && write(fd, part, (size_t)n) == n)
        ;
    if (maps >= 0)
        close(maps);
}

/* The instruction at which the signal came, and the return address of a function that was called
 * there: after a jump to nowhere it is all that is known of the caller. */
static void put_place(int fd, const ucontext_t *context)
{
    uint64_t pc = 0, caller = 0;
#if defined(__x86_64__)
    pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    if (pc < 4096)
        caller = *(const uint64_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    pc = context->uc_mcontext.pc;
    if (pc < 4096)
        caller = context->uc_mcontext.regs[30];
#else
    (void)context;
#endif
    put_number(fd, "pc", pc);
    if (caller)
        put_number(fd, "caller", caller);
}

struct frames {
    int fd, left;
};

static _Unwind_Reason_Code put_frame(struct _Unwind_Context *context, void *ctx)
{
    struct frames *frames = ctx;
    put_number(frames->fd, "frame", _Unwind_GetIP(context));
    return --frames->left > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void put_trace(int number, const siginfo_t *info, const ucontext_t *context)
{
    int fd = open(trap.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    put_number(fd, "signal", (uint64_t)number);
    if ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0)
        put_number(fd, "address", (uint64_t)(uintptr_t)info->si_addr);
    put_place(fd, context);
    put_maps(fd);
    put_text(fd, "frames\n");
    struct frames frames = {fd, FRAMES_MAX};
    _Unwind_Backtrace(put_frame, &frames); /* last, because it may fail */
    close(fd);
}

/* ---- handlers ---------------------------------------------------------------------------------
 */

static void end_by(int number)
{
    signal(number, SIG_DFL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static void unblock(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_alarm(int number)
{
    (void)number;
    end_by(trap.number);
    unblock(trap.number);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (getpid() == trap.pid) {
        while (atomic_exchange(&trap.is_taken, true))
            pause(); /* another thread's handler ends the process */
        trap.number = number;
        signal(SIGALRM, on_alarm);
        unblock(SIGALRM);
        alarm(PATIENCE_S);
        put_trace(number, info, context);
        alarm(0);
    }
    end_by(number); /* it comes when this handler returns */
}

/* ---- stacks for handlers ----------------------------------------------------------------------
 */

static pthread_key_t stack_key;

static void *make_stack(void)
{
    void *memory =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory, .ss_size = STACK_BYTES};
    if (memory == MAP_FAILED || sigaltstack(&stack, NULL) != 0)
        return NULL; /* then the handler uses the thread's own */
    return memory;
}

static void free_stack(void *memory)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == memory)
        sigaltstack(&none, NULL);
    munmap(memory, STACK_BYTES);
}

#if !HAS_SANITIZER
struct beginning {
    void *(*start)(void *);
    void *argument;
};

static void *begin_thread(void *argument)
{
    struct beginning begin = *(struct beginning *)argument;
    free(argument);
    void *stack = make_stack();
    if (stack)
        pthread_setspecific(stack_key, stack);
    return begin.start(begin.argument);
}

/* Replaces the C library's pthread_create for the plugin and all libraries. */
int orch_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                       void *argument) __asm__("pthread_create")
    __attribute__((visibility("default")));
int orch_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                       void *argument)
{
    static int (*_Atomic original)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!original)
        original = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
            uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
    struct beginning *begin = trap.pid == getpid() ? malloc(sizeof *begin) : NULL;
    if (!begin)
        return original(thread, attributes, start, argument);
    *begin = (struct beginning){start, argument};
    int status = original(thread, attributes, begin_thread, begin);
    if (status != 0)
        free(begin);
    return status;
}
#endif

/* ---- arming -----------------------------------------------------------------------------------
 */

static void handle(int number)
{
    struct sigaction before,
        action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&action.sa_mask, SIGNALS[i]);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

void orch_crash_trap_arm(const char *trial_dir, int rank)
{
    char end[16] = "";
    if (rank >= 0)
        snprintf(end, sizeof end, ".%d", rank);
    int length = snprintf(trap.path, sizeof trap.path, "%s/%s%s", trial_dir, CRASH_FILE, end);
    if (HAS_SANITIZER || dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init") ||
        length >= (int)sizeof trap.path || pthread_key_create(&stack_key, free_stack) != 0)
        return;
    make_stack();
    trap.pid = getpid();
    for (int i = 0; i < SIGNAL_COUNT; i++)
        handle(SIGNALS[i]);
}
