/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes of a file system. They run in a temporary folder, which is removed afterwards; the second
 * process is a child that makes only system calls and ends with _exit.
 */
#include "features/doctor/filesystem_probe.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 50, WRITE_BYTES = 1 << 20, SKEW_S = 5 };

#define HOLD_FILE "doctor.lock"

static void free_probe(gpointer data)
{
    struct orch_probe *probe = data;
    g_free(probe->detail);
    g_free(probe);
}

static void add(GPtrArray *out, const char *what, bool works, char *detail, const char *follows)
{
    struct orch_probe *probe = g_new0(struct orch_probe, 1);
    *probe = (struct orch_probe){what, works, detail, works ? "" : follows};
    g_ptr_array_add(out, probe);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Returns false when nothing can be written; the other probes would be meaningless. */
static bool try_write(const char *folder, GPtrArray *out)
{
    g_autofree char *path = g_build_filename(folder, "write", NULL);
    g_autofree char *bytes = g_malloc0(WRITE_BYTES);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool wrote = fd >= 0 && write(fd, bytes, WRITE_BYTES) == WRITE_BYTES;
    int saved = errno;
    int64_t begin = orch_mono_ns();
    bool synced = wrote && fsync(fd) == 0;
    saved = wrote ? errno : saved;
    double ms = (double)(orch_mono_ns() - begin) / 1e6;
    if (fd >= 0)
        close(fd);
    add(out, "write", wrote, g_strdup(wrote ? "1 MiB" : g_strerror(saved)),
        saved == EDQUOT   ? "your quota is used up: free some space"
        : saved == ENOSPC ? "the disk is full: free some space"
        : saved == EROFS  ? "the file system is read-only: choose another with --db"
                          : "check the permissions of the folder");
    if (wrote)
        add(out, "fsync", synced,
            synced ? g_strdup_printf("%.3g ms", ms) : g_strdup(g_strerror(saved)),
            "a power loss can take what was written last");
    return wrote;
}

static void try_clock(const char *folder, GPtrArray *out)
{
    g_autofree char *path = g_build_filename(folder, "clock", NULL);
    struct stat info;
    int64_t before = orch_now_ns();
    if (!orch_file_write(path, "", 0, false, NULL) || stat(path, &info) != 0)
        return;
    int64_t after = orch_now_ns();
    int64_t there = orch_timespec_ns(info.st_mtim);
    /* a file's time may lag by one tick of the kernel's clock */
    int64_t skew = there < before ? there - before : there > after ? there - after : 0;
    double seconds = (double)skew / 1e9;
    bool fine = fabs(seconds) < SKEW_S;
    add(out, "clock", fine,
        fabs(seconds) < 0.1 ? g_strdup("the file system's clock agrees")
                            : g_strdup_printf("the file system's clock is %.1f s %s", fabs(seconds),
                                              seconds > 0 ? "ahead" : "behind"),
        "set this machine's clock (NTP)");
}

/* ---- two processes ----------------------------------------------------------------------------
 */

/* Two processes call `attempt` in each round at about the same time. Returns the number of rounds
 * in which exactly one of them succeeded; -1 when there is no second process. */
static int count_single(const char *folder, const char *name,
                        bool (*attempt)(const char *folder, const char *path, int who))
{
    int ends[2], singles = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        close(ends[0]);
    for (int i = 0; child >= 0 && i < ROUNDS; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s-%d", folder, name, i);
        char won = attempt(folder, path, child == 0), other = 0;
        if (child == 0) {
            if (write(ends[1], &won, 1) != 1)
                break;
        } else if (i == 0) {
            close(ends[1]);
            ends[1] = -1;
        }
        if (child != 0 && read(ends[0], &other, 1) == 1)
            singles += won + other == 1;
    }
    if (child == 0)
        _exit(0);
    if (ends[1] >= 0)
        close(ends[1]);
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return child > 0 ? singles : -1;
}

static bool create_it(const char *folder, const char *path, int who)
{
    (void)folder;
    (void)who;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool link_it(const char *folder, const char *path, int who)
{
    char own[4096];
    snprintf(own, sizeof own, "%s/own-%d", folder, who);
    int fd = open(own, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return link(own, path) == 0;
}

static void try_single(const char *folder, const char *what, const char *name,
                       bool (*attempt)(const char *, const char *, int), const char *follows,
                       GPtrArray *out)
{
    int singles = count_single(folder, name, attempt);
    add(out, what, singles == ROUNDS,
        singles < 0
            ? g_strdup("no second process could be started")
            : g_strdup_printf("one of two processes won in %d of %d tries", singles, ROUNDS),
        follows);
}

/* A child repeatedly renames a complete file over `path`, which must exist and be complete whenever
 * it is read. */
static void try_rename(const char *folder, GPtrArray *out)
{
    g_autofree char *path = g_build_filename(folder, "renamed", NULL);
    g_autofree char *fresh = g_build_filename(folder, "fresh", NULL);
    static const char text[] = "a whole file\n";
    int bad = 0, looks = 0;
    if (!orch_file_write(path, text, strlen(text), false, NULL))
        return;
    pid_t child = fork();
    for (int i = 0; child == 0 && i < 4 * ROUNDS; i++) {
        int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
        if (fd >= 0)
            close(fd);
        if (!ok || rename(fresh, path) != 0)
            _exit(1);
    }
    if (child == 0)
        _exit(0);
    int status = 0;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        char found[32] = "";
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        bool ok = fd >= 0 && read(fd, found, sizeof found - 1) == (ssize_t)strlen(text) &&
                  strcmp(found, text) == 0;
        if (fd >= 0)
            close(fd);
        looks++;
        bad += !ok;
    }
    bool works = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && bad == 0;
    add(out, "rename", works,
        g_strdup_printf("the file existed and was complete in %d of %d checks", looks - bad, looks),
        "artifacts can be read while they are half written");
}

/* ---- locks ------------------------------------------------------------------------------------
 */

static int lock(int fd, int command, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(fd, command, &range);
}

/* A child takes a lock. This process must fail to lock while the child lives, and succeed after it
 * has ended. */
static void try_lock(const char *folder, GPtrArray *out)
{
    static const char follows[] =
        "put the store on a local disk (--db): here, only one program at a time may use it";
    g_autofree char *path = g_build_filename(folder, "lock", NULL);
    int ends[2];
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    pid_t child = -1;
    char ready = 0;
    if (fd >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
        child = fork();
        if (child == 0) {
            ready = lock(fd, F_SETLK, F_WRLCK) == 0;
            if (write(ends[1], &ready, 1) == 1)
                pause();
            _exit(0);
        }
        close(ends[1]);
        if (child < 0 || read(ends[0], &ready, 1) != 1)
            ready = 0;
        close(ends[0]);
    }
    bool refused = ready && lock(fd, F_SETLK, F_WRLCK) != 0 && (errno == EAGAIN || errno == EACCES);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    bool served = ready && lock(fd, F_SETLK, F_WRLCK) == 0;
    if (fd >= 0)
        close(fd);
    add(out, "lock", refused && served,
        g_strdup(!ready     ? "no lock can be taken"
                 : !refused ? "two processes got the same lock"
                 : !served  ? "the lock of a process that was killed stays"
                            : "a second process is refused, and served when the first is gone"),
        follows);
}

/* ---- entry points -----------------------------------------------------------------------------
 */

static char *nearest_folder(const char *folder)
{
    char *at = g_strdup(folder);
    while (!g_file_test(at, G_FILE_TEST_IS_DIR) && strlen(at) > 1) {
        char *parent = g_path_get_dirname(at);
        g_free(at);
        at = parent;
    }
    return at;
}

GPtrArray *orch_probe_folder(const char *folder)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(free_probe);
    g_autofree char *at = nearest_folder(folder);
    g_autofree char *own = g_build_filename(at, ".doctor-XXXXXX", NULL);
    if (!g_mkdtemp(own)) {
        add(out, "write", false, g_strdup_printf("'%s': %s", at, g_strerror(errno)),
            errno == EROFS ? "the file system is read-only: choose another with --db"
                           : "check the permissions of the folder");
        return out;
    }
    if (try_write(own, out)) {
        try_clock(own, out);
        try_lock(own, out);
        try_single(own, "exclusive create", "exclusive", create_it, "a trial can run twice", out);
        try_single(own, "link", "linked", link_it, "a backup may replace another of its name", out);
        try_rename(own, out);
    }
    orch_tree_remove(own, NULL);
    return out;
}

/* ---- two hosts --------------------------------------------------------------------------------
 */

bool orch_probe_hold(const char *folder, unsigned seconds, GError **error)
{
    g_autofree char *at = nearest_folder(folder);
    g_autofree char *path = g_build_filename(at, HOLD_FILE, NULL);
    g_autofree char *text = g_strdup_printf("%s %d\n", g_get_host_name(), (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && lock(fd, F_SETLK, F_WRLCK) == 0 && ftruncate(fd, 0) == 0 &&
              write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot hold a lock on '%s'", path);
    int64_t until = orch_mono_ns() + (int64_t)seconds * INT64_C(1000000000);
    while (ok && orch_mono_ns() < until) {
        futimens(fd, NULL); /* shows that the holder is alive */
        g_usleep((gulong)MIN(1000000, MAX(0, until - orch_mono_ns()) / 1000));
    }
    if (ok)
        unlink(path); /* unlinked before the lock is released */
    if (fd >= 0)
        close(fd);
    return ok;
}

void orch_probe_look(const char *folder, GPtrArray *out)
{
    g_autofree char *at = nearest_folder(folder);
    g_autofree char *path = g_build_filename(at, HOLD_FILE, NULL);
    g_autofree char *text = NULL;
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    bool is_there = fstat(fd, &info) == 0 && orch_file_read(path, 1000, &text, NULL, NULL);
    bool refused = is_there && lock(fd, F_SETLK, F_WRLCK) != 0;
    close(fd);
    if (!is_there)
        return;
    g_autofree char *host = orch_text_plain(g_strndup(text, strcspn(text, " \n")));
    int64_t age_s = orch_now_ns() / INT64_C(1000000000) - info.st_mtim.tv_sec;
    if (!refused && age_s > 30) { /* left by a holder that was killed */
        unlink(path);
        return;
    }
    add(out, "lock of another host", refused,
        refused
            ? g_strdup_printf("'orch doctor --hold' on %s holds it, and it is seen here", host)
            : g_strdup_printf("'orch doctor --hold' on %s holds it, and it is not seen here", host),
        "locks do not work between hosts: set ORCH_SHARDS=1, which gives each host a file of its "
        "own");
}
