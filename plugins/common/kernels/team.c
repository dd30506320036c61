/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads wait by spinning for about 50 microseconds and then on a condition variable: OpenMP does
 * the same, but a plugin would then depend on the runtime of one compiler. */
#include "plugins/common/kernels/team.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SPINS = 20000 };

struct orch_team {
    int size;
    pthread_t *threads; /* size - 1 */
    pthread_mutex_t lock;
    pthread_cond_t begins, ends;
    atomic_uint round; /* counts up when work begins */
    atomic_int busy;   /* threads that have not ended this round */
    atomic_bool stops;
    orch_team_work *work;
    void *argument;
};

struct member {
    struct orch_team *team;
    int index;
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void wait_for_round(struct orch_team *team, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&team->round, memory_order_acquire) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->round) == seen)
        pthread_cond_wait(&team->begins, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void *member_main(void *argument)
{
    const struct member member = *(struct member *)argument;
    struct orch_team *team = member.team;
    g_free(argument);
    for (unsigned seen = 0;; seen++) {
        wait_for_round(team, seen);
        if (atomic_load(&team->stops))
            return NULL;
        team->work(team->argument, member.index, team->size);
        if (atomic_fetch_sub(&team->busy, 1) == 1) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->ends);
            pthread_mutex_unlock(&team->lock);
        }
    }
}

struct orch_team *orch_team_new(int threads)
{
    struct orch_team *team = g_new0(struct orch_team, 1);
    team->threads = g_new0(pthread_t, MAX(threads, 1));
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begins, NULL);
    pthread_cond_init(&team->ends, NULL);
    for (team->size = 1; team->size < threads; team->size++) {
        struct member *member = g_new(struct member, 1);
        *member = (struct member){team, team->size};
        if (pthread_create(&team->threads[team->size - 1], NULL, member_main, member) != 0) {
            g_free(member);
            break;
        }
    }
    return team;
}

static void begin_round(struct orch_team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->begins);
    pthread_mutex_unlock(&team->lock);
}

void orch_team_free(struct orch_team *team)
{
    if (!team)
        return;
    atomic_store(&team->stops, true);
    begin_round(team);
    for (int i = 0; i < team->size - 1; i++)
        pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->begins);
    pthread_cond_destroy(&team->ends);
    pthread_mutex_destroy(&team->lock);
    g_free(team->threads);
    g_free(team);
}

int orch_team_size(const struct orch_team *team)
{
    return team->size;
}

void orch_team_run(struct orch_team *team, orch_team_work *work, void *argument)
{
    team->work = work;
    team->argument = argument;
    atomic_store(&team->busy, team->size - 1);
    begin_round(team);
    work(argument, 0, team->size);
    for (int i = 0; i < SPINS && atomic_load(&team->busy) > 0; i++)
        relax();
    if (atomic_load(&team->busy) > 0) {
        pthread_mutex_lock(&team->lock);
        while (atomic_load(&team->busy) > 0)
            pthread_cond_wait(&team->ends, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
}
