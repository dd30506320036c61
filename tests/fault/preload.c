/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into a program: lets call number N of the system fail, for
 * tests/fault/failing_calls.py, or kills the program there (tests/cli/kill_calls.sh).
 *
 *   ORCH_FAULT_PROGRAM  name of the program whose calls are counted ("orch", "orch-host")
 *   ORCH_FAULT_UNDER    folder; calls on files elsewhere are not counted, nor those on terminals
 *   ORCH_FAULT_AT       number of the call that fails, from 1; 0: none does, and each is listed
 *   ORCH_FAULT_ERRNO    what it fails with; 'kill': it is not made, the process ends by SIGKILL
 *   ORCH_FAULT_LOG      file that gets a line when the call has failed, or one for each listed
 *                       call: its process, a number for the functions that lead to it, its name and
 * file
 *   ORCH_FAULT_LOOK     end of a path: a look at it that finds nothing is answered when the
 * process's child has ended
 *
 * The first process of that name which makes so many calls takes the fault; the log's existence
 * tells the later ones. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_counting, is_listing, kills;
static int countdown, number;
static const char *under, *log_path;

__attribute__((constructor)) static void begin(void)
{
    const char *program = getenv("ORCH_FAULT_PROGRAM"), *at = getenv("ORCH_FAULT_AT");
    char exe[4096] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    const char *name = n > 0 ? strrchr(exe, '/') : NULL;
    under = getenv("ORCH_FAULT_UNDER");
    log_path = getenv("ORCH_FAULT_LOG");
    if (!program || !at || !under || !log_path || !name || strcmp(name + 1, program) != 0)
        return;
    countdown = atoi(at);
    is_listing = countdown == 0;
    if (!is_listing && syscall(SYS_faccessat, AT_FDCWD, log_path, F_OK) == 0)
        return;
    const char *kind = getenv("ORCH_FAULT_ERRNO");
    kills = kind && strcmp(kind, "kill") == 0;
    number = kind ? atoi(kind) : EIO;
    is_counting = true;
}

static void write_line(const char *line, int length)
{
    long fd = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, fd, line, length);
    syscall(SYS_close, fd);
}

/* A hash of the addresses that the call returns to. */
static unsigned long place_of_call(void)
{
    void *frames[64];
    int count = backtrace(frames, sizeof frames / sizeof *frames);
    unsigned long place = 0;
    for (int i = 0; i < count; i++)
        place = (place ^ (unsigned long)frames[i]) * 0x100000001b3;
    return place;
}

/* A process that was forked makes no calls of its own before it becomes another program. */
static bool fails(const char *what, const char *path)
{
    if (!is_counting || (!is_listing && --countdown > 0))
        return false;
    int before = errno;
    char line[600];
    is_counting = false; /* what follows makes calls too */
    int length = is_listing ? snprintf(line, sizeof line, "%ld %lx %s %s\n", syscall(SYS_getpid),
                                       place_of_call(), what, path ? path : "")
                            : snprintf(line, sizeof line, "%s %s\n", what, path ? path : "");
    write_line(line, length < (int)sizeof line ? length : (int)sizeof line);
    is_counting = is_listing;
    errno = before;
    if (is_listing)
        return false;
    if (kills)
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    errno = number;
    return true;
}

static bool path_counts(const char *path)
{
    return is_counting && path && (*path != '/' || strncmp(path, under, strlen(under)) == 0) &&
           !strstr(path, ".gcda");
}

/* Pipes and sockets count; files count below the folder. */
static bool fd_counts(int fd)
{
    char link[64], path[4096] = "";
    if (!is_counting || fd < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1) < 0)
        return false;
    return strncmp(path, "pipe:", 5) == 0 || strncmp(path, "socket:", 7) == 0 ||
           strncmp(path, "/memfd:", 7) == 0 || path_counts(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define CALL(type, name, counts, path, failure, params, args)                                      \
    EXPORT type name params                                                                        \
    {                                                                                              \
        return (counts) && fails(#name, path) ? (type)(failure) : REAL(name) args;                 \
    }

#define BY_PATH(type, name, params, args)                                                          \
    CALL(type, name, path_counts(path), path, -1, params, args)
#define BY_FD(type, name, params, args) CALL(type, name, fd_counts(fd), NULL, -1, params, args)

BY_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode))
BY_PATH(int, mkfifo, (const char *path, mode_t mode), (path, mode))
BY_PATH(int, rename, (const char *path, const char *to), (path, to))
BY_PATH(int, link, (const char *path, const char *to), (path, to))
BY_PATH(int, symlink, (const char *path, const char *to), (path, to))
BY_PATH(int, unlink, (const char *path), (path))
BY_PATH(int, chdir, (const char *path), (path))
BY_PATH(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
BY_PATH(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
BY_PATH(int, renameat, (int fd, const char *path, int to, const char *name), (fd, path, to, name))
BY_FD(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
BY_FD(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
BY_FD(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
BY_FD(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at))
BY_FD(int, fsync, (int fd), (fd))
BY_FD(int, ftruncate, (int fd, off_t size), (fd, size))
BY_FD(int, fchmod, (int fd, mode_t mode), (fd, mode))
BY_FD(int, fstat, (int fd, struct stat *out), (fd, out))
BY_FD(int, dup2, (int fd, int to), (fd, to))
CALL(pid_t, fork, is_counting, NULL, -1, (void), ())
CALL(int, pipe2, is_counting, NULL, -1, (int ends[2], int flags), (ends, flags))
CALL(int, memfd_create, is_counting, NULL, -1, (const char *name, unsigned flags), (name, flags))
CALL(int, signalfd, is_counting, NULL, -1, (int fd, const sigset_t *set, int flags),
     (fd, set, flags))
CALL(int, posix_spawnp, is_counting, path, errno,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),
     (pid, path, actions, attributes, argv, envp))
CALL(FILE *, fopen64, path_counts(path), path, NULL, (const char *path, const char *mode),
     (path, mode))

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                                  \
        va_end(args);                                                                              \
        return path_counts(path) && fails(#name, path) ? -1 : REAL(name)(path, flags, mode);       \
    }
#define OPENAT(name)                                                                               \
    EXPORT int name(int fd, const char *path, int flags, ...)                                      \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                                  \
        va_end(args);                                                                              \
        return path_counts(path) && fails(#name, path) ? -1 : REAL(name)(fd, path, flags, mode);   \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

EXPORT int access(const char *path, int mode)
{
    const char *end = getenv("ORCH_FAULT_LOOK");
    int answer = (int)syscall(SYS_faccessat, AT_FDCWD, path, mode), before = errno;
    size_t length = strlen(path), tail = end ? strlen(end) : 0;
    siginfo_t info;
    if (answer != 0 && tail && length >= tail && strcmp(path + length - tail, end) == 0)
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
    errno = before;
    return answer;
}
