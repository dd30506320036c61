/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/actor/actor_pool.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ACTOR_FD = 3, PATIENCE_MS = 2000 };

struct orch_actor_pool {
    struct orch_actor_share *share;
    int64_t actors;
    pid_t *pids; /* 0: it has ended */
};

static char *program_path(GError **error)
{
    g_autofree char *plugins = orch_program_path("plugins", NULL);
    g_autofree char *path =
        plugins ? g_build_filename(plugins, "common", "orch-replay-actor", NULL) : NULL;
    if (path && access(path, X_OK) == 0)
        return g_steal_pointer(&path);
    orch_error_set(error, ORCH_ERROR_PLUGIN, "./build.sh build",
                   "there is no program for actors: '%s'", path ? path : "orch-replay-actor");
    return NULL;
}

static bool spawn(struct orch_actor_pool *pool, const char *path, int64_t index, GError **error)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, index);
    g_autofree char *fd = g_strdup_printf("%d", ACTOR_FD);
    g_autofree char *parent = g_strdup_printf("%d", (int)getpid());
    g_autofree char *name = g_strdup(path);
    char *const words[] = {name, fd, number, parent, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, orch_actor_share_fd(pool->share), ACTOR_FD);
    const int code = posix_spawn(&pool->pids[index], path, &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (code == 0)
        return true;
    pool->pids[index] = 0;
    orch_error_set_errno(error, ORCH_ERROR_IO, code, "cannot start actor %s", number);
    return false;
}

struct orch_actor_pool *orch_actor_pool_new(struct orch_actor_share *share, GError **error)
{
    g_autofree char *path = program_path(error);
    if (!path)
        return NULL;
    struct orch_actor_pool *pool = g_new0(struct orch_actor_pool, 1);
    pool->share = share;
    pool->actors = orch_actor_share_setup(share)->actors;
    pool->pids = g_new0(pid_t, pool->actors);
    for (int64_t i = 0; i < pool->actors; i++)
        if (!spawn(pool, path, i, error)) {
            orch_actor_pool_free(pool);
            return NULL;
        }
    return pool;
}

int64_t orch_actor_pool_alive(const struct orch_actor_pool *pool)
{
    int64_t alive = 0;
    for (int64_t i = 0; i < pool->actors; i++)
        alive += pool->pids[i] != 0;
    return alive;
}

int64_t orch_actor_pool_next_death(struct orch_actor_pool *pool, char **out_how)
{
    for (int64_t i = 0; i < pool->actors; i++) {
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

static void bury_all(struct orch_actor_pool *pool)
{
    char *how = NULL;
    while (orch_actor_pool_next_death(pool, &how) >= 0)
        g_clear_pointer(&how, g_free);
}

void orch_actor_pool_free(struct orch_actor_pool *pool)
{
    if (!pool)
        return;
    orch_actor_share_stop(pool->share);
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += 5) {
        bury_all(pool);
        if (orch_actor_pool_alive(pool) == 0)
            break;
        g_usleep(5000);
    }
    for (int64_t i = 0; i < pool->actors; i++)
        if (pool->pids[i]) {
            kill(pool->pids[i], SIGKILL);
            while (waitpid(pool->pids[i], NULL, 0) < 0 && errno == EINTR)
                continue;
        }
    g_free(pool->pids);
    g_free(pool);
}
