/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/history.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/vcs/backend.h"

static void vcs_commit_free(struct orch_vcs_commit *commit)
{
    if (!commit)
        return;
    g_free(commit->commit);
    g_free(commit->tree);
    g_free(commit->subject);
    g_free(commit->author);
    g_free(commit);
}

/* Authors and subjects may have any bytes. */
static char *plain(char *text)
{
    char *valid = text ? g_utf8_make_valid(text, -1) : g_strdup("");
    g_free(text);
    return orch_text_plain(valid);
}

GPtrArray *orch_vcs_path(struct orch_vcs *vcs, const char *from, const char *to, GError **error)
{
    g_autoptr(GPtrArray) path = g_ptr_array_new_with_free_func((GDestroyNotify)vcs_commit_free);
    if (!orch_vcs_start(vcs, error) || !vcs->backend->path(vcs, from, to, path, error))
        return NULL;
    if (path->len > ORCH_VCS_PATH_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give two commits that are nearer to each other",
                       "more than %d commits lie between '%.12s' and '%.12s'", ORCH_VCS_PATH_MAX,
                       from, to);
        return NULL;
    }
    for (guint i = 0; i < path->len; i++) {
        struct orch_vcs_commit *commit = path->pdata[i];
        commit->subject = plain(commit->subject);
        commit->author = plain(commit->author);
    }
    return g_steal_pointer(&path);
}

char *orch_vcs_common_ancestor(struct orch_vcs *vcs, const char *a, const char *b, GError **error)
{
    char *found = NULL;
    return orch_vcs_start(vcs, error) && vcs->backend->common(vcs, a, b, &found, error) ? found
                                                                                        : NULL;
}
