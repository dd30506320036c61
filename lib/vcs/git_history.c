/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history as the `git` program tells it, for gitprog.c. */
#include "lib/vcs/git_history.h"

#include "lib/base/error.h"
#include "lib/vcs/git_command.h"
#include "lib/vcs/history.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a commit after the one with its id: tree, parents, author, time, subject. */
#define FORMAT "--format=%T%n%P%n%an%n%at%n%s"
#define LINES 6
#define STATUS_NONE 1 /* of git merge-base: there is none */

static unsigned words_in(const char *text)
{
    unsigned count = *text ? 1 : 0;
    for (; *text; text++)
        count += *text == ' ';
    return count;
}

static bool add_commits(const struct orch_vcs *vcs, const char *const *args, GPtrArray *path,
                        GError **error)
{
    GString *out = NULL;
    const struct orch_git_run run = {.dir = vcs->root, .args = args};
    if (!orch_git_run(&run, &out, NULL, error))
        return false;
    g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
    g_string_free(out, TRUE);
    guint count = g_strv_length(lines);
    for (guint i = 0; i + LINES <= count && g_str_has_prefix(lines[i], "commit "); i += LINES) {
        struct orch_vcs_commit *row = g_new0(struct orch_vcs_commit, 1);
        row->commit = g_strdup(lines[i] + strlen("commit "));
        row->tree = g_strdup(lines[i + 1]);
        row->parents = words_in(lines[i + 2]);
        row->author = g_strdup(lines[i + 3]);
        row->authored_s = g_ascii_strtoll(lines[i + 4], NULL, 10);
        row->subject = g_strdup(lines[i + 5]);
        g_ptr_array_add(path, row);
    }
    return true;
}

bool orch_git_history_path(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                           GError **error)
{
    g_autofree char *hidden = g_strconcat("^", from, NULL);
    g_autofree char *most = g_strdup_printf("--max-count=%d", ORCH_VCS_PATH_MAX);
    const char *const first[] = {"rev-list", "--max-count=1", FORMAT, from, NULL};
    const char *const rest[] = {
        "rev-list", "--first-parent", "--topo-order", "--reverse", most, FORMAT, to, hidden, NULL};
    return add_commits(vcs, first, path, error) && add_commits(vcs, rest, path, error);
}

bool orch_git_history_common(struct orch_vcs *vcs, const char *a, const char *b, char **out,
                             GError **error)
{
    GString *text = NULL;
    int status = 0;
    const char *const args[] = {"merge-base", a, b, NULL};
    const struct orch_git_run run = {.dir = vcs->root, .args = args, .quiet_status = STATUS_NONE};
    if (!orch_git_run(&run, &text, &status, error))
        return false;
    char *base = g_strchomp(g_string_free(text, FALSE));
    if (status == 0)
        *out = base;
    else
        g_free(base);
    return true;
}
