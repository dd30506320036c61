/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_path.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

static bool split(const char *range, char **out_good, char **out_bad, GError **error)
{
    const char *dots = strstr(range, "..");
    if (!dots || dots == range || dots[2] == '.') {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example v1.0..HEAD",
                       "'%s' is not of the form GOOD..BAD", range);
        return false;
    }
    *out_good = g_strndup(range, (gsize)(dots - range));
    *out_bad = g_strdup(dots[2] ? dots + 2 : "HEAD");
    return true;
}

/* Fails unless `good` is an ancestor of `bad`, and says how they lie instead. */
static bool is_ancestor(struct orch_workspace *workspace, const char *good, const char *bad,
                        const char *const names[2], GError **error)
{
    GError *problem = NULL;
    g_autofree char *common = orch_vcs_common_ancestor(workspace->vcs, good, bad, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (strcmp(good, bad) == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "'git log --oneline' lists commits",
                       "'%s' and '%s' are the same commit %.8s", names[0], names[1], good);
        return false;
    }
    if (g_strcmp0(common, good) == 0)
        return true;
    if (g_strcmp0(common, bad) == 0) {
        g_autofree char *hint =
            g_strdup_printf("the good commit comes first: %s..%s", names[1], names[0]);
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "good commit '%s' is a descendant of bad commit '%s'", names[0], names[1]);
        return false;
    }
    g_autofree char *hint =
        common ? g_strdup_printf("if the metric is good at their common ancestor: %.8s..%s", common,
                                 names[1])
               : g_strdup("give two commits of one history");
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "good commit '%s' and bad commit '%s' are on different branches", names[0],
                   names[1]);
    return false;
}

/* A commit with the files of the one before it cannot be the culprit. */
static void drop_unchanged(GPtrArray *path, GPtrArray *notes)
{
    guint dropped = 0;
    for (guint i = 1; i < path->len;) {
        const struct orch_vcs_commit *before = path->pdata[i - 1], *commit = path->pdata[i];
        if (strcmp(before->tree, commit->tree) != 0) {
            i++;
            continue;
        }
        g_ptr_array_remove_index(path, i);
        dropped++;
    }
    if (dropped)
        g_ptr_array_add(notes,
                        g_strdup_printf("%u commit%s that changed no file %s left out", dropped,
                                        orch_plural(dropped), dropped == 1 ? "is" : "are"));
}

GPtrArray *orch_bisect_path(struct orch_workspace *workspace, const char *range, GPtrArray *notes,
                            GError **error)
{
    g_autofree char *good_name = NULL, *bad_name = NULL, *good = NULL, *bad = NULL;
    g_autofree char *good_tree = NULL, *bad_tree = NULL;
    if (!split(range, &good_name, &bad_name, error) ||
        !orch_workspace_commit(workspace, good_name, &good, &good_tree, error) ||
        !orch_workspace_commit(workspace, bad_name, &bad, &bad_tree, error))
        return NULL;
    const char *const names[] = {good_name, bad_name};
    if (!is_ancestor(workspace, good, bad, names, error))
        return NULL;
    GPtrArray *path = orch_vcs_path(workspace->vcs, good, bad, error);
    if (!path)
        return NULL;
    drop_unchanged(path, notes);
    if (path->len >= 2)
        return path;
    orch_error_set(error, ORCH_ERROR_USAGE, "'git diff A B' shows what differs between two commits",
                   "no commit from '%s' to '%s' changes a file", good_name, bad_name);
    g_ptr_array_unref(path);
    return NULL;
}
