/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/group_remote.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <signal.h>

enum { ASKED_AGAIN_S = 15, EXIT_WITHOUT_REMOTE = 3, PAUSE_FIRST_S = 5, PAUSE_MAX_S = 600 };

/* The remote stands behind '--', so that it is never read as an option. */
static void append_remote(const struct web_group *group, GPtrArray *words)
{
    if (!*group->remote)
        return;
    g_ptr_array_add(words, g_strdup("--"));
    g_ptr_array_add(words, g_strdup(group->remote));
}

/* Pulls once. What the page was told before is then out of date. */
static bool pull(struct web_group *group)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(GPtrArray) words = orch_web_command_words("pull", "--quiet");
    g_ptr_array_add(words, g_strdup_printf("--db=%s", group->command.db));
    append_remote(group, words);
    g_mutex_lock(&group->talking);
    g_autofree char *said = orch_web_command_run(&group->command, words, &why);
    g_mutex_unlock(&group->talking);
    g_mutex_lock(&group->lock);
    g_free(group->pull_problem);
    group->pull_problem = said ? NULL : g_strdup(why->message);
    g_clear_pointer(&group->standing, json_decref);
    g_mutex_unlock(&group->lock);
    return said != NULL;
}

/* Waits; returns whether the page is still served. */
static bool pause_for(struct web_group *group, int pause_s)
{
    const int64_t until = g_get_monotonic_time() + pause_s * G_USEC_PER_SEC;
    g_mutex_lock(&group->lock);
    while (!group->is_ending && g_cond_wait_until(&group->ending, &group->lock, until))
        ;
    const bool is_ending = group->is_ending;
    g_mutex_unlock(&group->lock);
    return !is_ending;
}

/* SIGTERM, which orch_web_group_clear sends to this thread, ends a pull that has not ended. It
 * stays blocked here, as it is while a command runs (lib/base/subprocess.h). */
static void hold_signal(struct web_group *group)
{
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held, NULL);
    g_mutex_lock(&group->lock);
    group->puller_id = pthread_self();
    g_mutex_unlock(&group->lock);
}

static gpointer pull_again(gpointer data)
{
    struct web_group *group = data;
    hold_signal(group);
    for (int pause_s = PAUSE_FIRST_S; pause_for(group, pause_s) && !pull(group);
         pause_s = MIN(2 * pause_s, PAUSE_MAX_S))
        ;
    return NULL;
}

char *orch_web_group_open(struct web_group *group)
{
    g_mutex_init(&group->lock);
    g_mutex_init(&group->talking);
    g_cond_init(&group->ending);
    if (group->is_quiet || pull(group))
        return NULL;
    char *why = g_strdup(group->pull_problem);
    group->puller_id = pthread_self();
    group->puller = g_thread_new("pull", pull_again, group);
    return why;
}

/* A remote that cannot be reached is no error: the answer then has the problem. */
static json_t *ask(struct web_group *group, GError **error)
{
    g_autoptr(GPtrArray) words = orch_web_command_words("status", "--quiet");
    g_ptr_array_add(words, g_strdup_printf("--db=%s", group->command.db));
    g_ptr_array_add(words, g_strdup("--json"));
    if (group->is_quiet)
        g_ptr_array_add(words, g_strdup("--offline"));
    append_remote(group, words);
    g_autoptr(json_t) all =
        orch_web_command_parsed(&group->command, words, EXIT_WITHOUT_REMOTE, error);
    if (!all)
        return NULL;
    g_mutex_lock(&group->lock);
    if (!json_is_string(json_object_get(all, "problem")) && group->pull_problem)
        json_object_set_new(all, "problem", json_string(group->pull_problem));
    g_mutex_unlock(&group->lock);
    return json_pack("{s:O? s:O? s:O? s:O? s:O? s:b}", "remote", json_object_get(all, "remote"),
                     "ahead", json_object_get(all, "ahead"), "behind",
                     json_object_get(all, "behind"), "behind_by", json_object_get(all, "behind_by"),
                     "problem", json_object_get(all, "problem"), "is_contacted",
                     (int)!group->is_quiet);
}

/* The latest answer, or NULL, and whether the remote need not be asked again. The caller
 * decrements. */
static json_t *known_standing(struct web_group *group, bool *out_is_recent)
{
    g_mutex_lock(&group->lock);
    const int64_t age_us = g_get_monotonic_time() - group->asked_us;
    *out_is_recent = group->standing && age_us <= ASKED_AGAIN_S * G_USEC_PER_SEC;
    json_t *known = json_incref(group->standing);
    g_mutex_unlock(&group->lock);
    return known;
}

json_t *orch_web_group_standing(struct web_group *group, GError **error)
{
    bool is_recent;
    json_t *known = known_standing(group, &is_recent);
    if (is_recent)
        return known;
    if (!g_mutex_trylock(&group->talking)) {
        if (known)
            return known;
        g_mutex_lock(&group->talking);
        if ((known = known_standing(group, &is_recent))) { /* another request has asked */
            g_mutex_unlock(&group->talking);
            return known;
        }
    }
    json_decref(known);
    json_t *standing = ask(group, error);
    g_mutex_lock(&group->lock);
    json_decref(group->standing);
    group->standing = json_incref(standing);
    group->asked_us = g_get_monotonic_time();
    g_mutex_unlock(&group->lock);
    g_mutex_unlock(&group->talking);
    return standing;
}

void orch_web_group_clear(struct web_group *group)
{
    if (group->puller) {
        g_mutex_lock(&group->lock);
        group->is_ending = true;
        g_cond_signal(&group->ending);
        if (!pthread_equal(group->puller_id, pthread_self())) /* it has begun */
            pthread_kill(group->puller_id, SIGTERM);
        g_mutex_unlock(&group->lock);
        g_thread_join(group->puller);
    }
    g_mutex_clear(&group->lock);
    g_mutex_clear(&group->talking);
    g_cond_clear(&group->ending);
    json_decref(group->standing);
    g_free(group->pull_problem);
}
