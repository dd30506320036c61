/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor/worker_pool.h"

#include "lib/base/error.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 2000 };

struct orch_worker_pool {
    struct orch_worker_options options;
    pid_t *pids; /* 0: it has ended */
};

static char *program_path(const char *program, const char *what, GError **error)
{
    g_autofree char *path = orch_program_module(program);
    if (path && access(path, X_OK) == 0)
        return g_steal_pointer(&path);
    orch_error_set(error, ORCH_ERROR_PLUGIN, orch_program_way(ORCH_PART_OWN),
                   "the program for a %s is missing: '%s'", what, path ? path : program);
    return NULL;
}

static bool spawn(struct orch_worker_pool *pool, const char *path, int64_t index, GError **error)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, index);
    g_autofree char *parent = g_strdup_printf("%d", (int)getpid());
    g_autofree char *name = g_strdup(path);
    char *const words[] = {name, number, parent, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (int i = 0; i < pool->options.fds_count; i++)
        posix_spawn_file_actions_adddup2(&files, pool->options.fds[i], ORCH_WORKER_FD + i);
    const int code = posix_spawn(&pool->pids[index], path, &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (code == 0)
        return true;
    pool->pids[index] = 0;
    orch_error_set_errno(error, ORCH_ERROR_IO, code, "cannot start %s %s", pool->options.what,
                         number);
    return false;
}

void orch_worker_pool_kill(struct orch_worker_pool *pool, int64_t index)
{
    if (!pool->pids[index])
        return;
    kill(pool->pids[index], SIGKILL);
    while (waitpid(pool->pids[index], NULL, 0) < 0 && errno == EINTR)
        continue;
    pool->pids[index] = 0;
}

/* Copies of the descriptors above those that they become, so that none is overwritten early. */
static bool copy_fds(struct orch_worker_pool *pool, GError **error)
{
    for (int i = 0; i < pool->options.fds_count; i++) {
        pool->options.fds[i] =
            fcntl(pool->options.fds[i], F_DUPFD_CLOEXEC, ORCH_WORKER_FD + ORCH_WORKER_FDS_MOST);
        if (pool->options.fds[i] >= 0)
            continue;
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot copy a file descriptor for a %s",
                             pool->options.what);
        pool->options.fds_count = i;
        return false;
    }
    return true;
}

static bool spawn_all(struct orch_worker_pool *pool, const char *path, GError **error)
{
    int64_t started = 0;
    bool ok = copy_fds(pool, error);
    while (ok && started < pool->options.count && (ok = spawn(pool, path, started, error)))
        started++;
    for (int i = 0; i < pool->options.fds_count; i++)
        close(pool->options.fds[i]);
    for (int64_t i = 0; !ok && i < started; i++)
        orch_worker_pool_kill(pool, i);
    return ok;
}

struct orch_worker_pool *orch_worker_pool_new(const struct orch_worker_options *options,
                                              GError **error)
{
    g_autofree char *path = program_path(options->program, options->what, error);
    if (!path)
        return NULL;
    struct orch_worker_pool *pool = g_new0(struct orch_worker_pool, 1);
    pool->options = *options;
    pool->pids = g_new0(pid_t, options->count);
    if (spawn_all(pool, path, error))
        return pool;
    orch_worker_pool_free(pool);
    return NULL;
}

bool orch_worker_pool_is_alive(const struct orch_worker_pool *pool, int64_t index)
{
    return pool->pids[index] != 0;
}

int64_t orch_worker_pool_alive(const struct orch_worker_pool *pool)
{
    int64_t alive = 0;
    for (int64_t i = 0; i < pool->options.count; i++)
        alive += orch_worker_pool_is_alive(pool, i);
    return alive;
}

int64_t orch_worker_pool_next_death(struct orch_worker_pool *pool, char **out_how)
{
    for (int64_t i = 0; i < pool->options.count; i++) {
        int status;
        if (!pool->pids[i] || waitpid(pool->pids[i], &status, WNOHANG) != pool->pids[i])
            continue;
        pool->pids[i] = 0;
        *out_how = WIFSIGNALED(status)
                       ? g_strdup_printf("was ended by signal %d (%s)", WTERMSIG(status),
                                         strsignal(WTERMSIG(status)))
                       : g_strdup_printf("ended with status %d", WEXITSTATUS(status));
        return i;
    }
    return -1;
}

static void bury_all(struct orch_worker_pool *pool)
{
    char *how = NULL;
    while (orch_worker_pool_next_death(pool, &how) >= 0)
        g_clear_pointer(&how, g_free);
}

void orch_worker_pool_free(struct orch_worker_pool *pool)
{
    if (!pool)
        return;
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += 5) {
        bury_all(pool);
        if (orch_worker_pool_alive(pool) == 0)
            break;
        g_usleep(5000);
    }
    for (int64_t i = 0; i < pool->options.count; i++)
        orch_worker_pool_kill(pool, i);
    g_free(pool->pids);
    g_free(pool);
}

int64_t orch_worker_begin(int argc, char **argv)
{
    if (argc != 3)
        return -1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argv[2], NULL, 10))
        return -1; /* it ended before the line above */
    setenv("OMP_NUM_THREADS", "1", 0);
    return strtol(argv[1], NULL, 10);
}
