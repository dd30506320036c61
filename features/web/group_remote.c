/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/group_remote.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

enum { ASKED_AGAIN_S = 15, EXIT_WITHOUT_REMOTE = 3 };

/* The remote stands behind '--', so that it is never read as an option. */
static void append_remote(const struct web_group *group, GPtrArray *words)
{
    if (!*group->remote)
        return;
    g_ptr_array_add(words, g_strdup("--"));
    g_ptr_array_add(words, g_strdup(group->remote));
}

void orch_web_group_pull(struct web_group *group)
{
    if (group->is_quiet)
        return;
    g_autoptr(GError) why = NULL;
    g_autoptr(GPtrArray) words = orch_web_command_words("pull", "--quiet");
    g_ptr_array_add(words, g_strdup_printf("--db=%s", group->command.db));
    append_remote(group, words);
    g_autofree char *said = orch_web_command_run(&group->command, words, &why);
    if (!said)
        group->pull_problem = g_strdup(why->message);
}

/* A remote that cannot be reached is no error: the answer then has the problem. */
static json_t *ask(const struct web_group *group, GError **error)
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
    json_t *problem = json_object_get(all, "problem");
    if (!json_is_string(problem) && group->pull_problem)
        json_object_set_new(all, "problem", json_string(group->pull_problem));
    return json_pack("{s:O? s:O? s:O? s:O? s:O? s:b}", "remote", json_object_get(all, "remote"),
                     "ahead", json_object_get(all, "ahead"), "behind",
                     json_object_get(all, "behind"), "behind_by", json_object_get(all, "behind_by"),
                     "problem", json_object_get(all, "problem"), "is_contacted",
                     (int)!group->is_quiet);
}

json_t *orch_web_group_standing(struct web_group *group, GError **error)
{
    g_mutex_lock(&group->lock);
    const int64_t now = g_get_monotonic_time();
    if (!group->standing || now - group->asked_us > ASKED_AGAIN_S * G_USEC_PER_SEC) {
        json_t *standing = ask(group, error);
        json_decref(group->standing);
        group->standing = standing;
        group->asked_us = now;
    }
    json_t *answer = json_incref(group->standing);
    g_mutex_unlock(&group->lock);
    return answer;
}

void orch_web_group_clear(struct web_group *group)
{
    g_mutex_clear(&group->lock);
    json_decref(group->standing);
    g_free(group->pull_problem);
}
