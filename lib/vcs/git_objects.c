/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/git_objects.h"

#include "lib/base/error.h"
#include "lib/vcs/git_command.h"

#include <string.h>

/* Visits the records "OID TYPE BYTES\n", the bytes, "\n". Returns whether each is whole. */
static bool visit_objects(const GString *answers, const char *type, unsigned count,
                          orch_git_object_fn visit, void *ctx)
{
    const char *at = answers->str, *end = at + answers->len;
    for (unsigned i = 0; i < count; i++) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        g_autofree char *head = line ? g_strndup(at, (gsize)(line - at)) : g_strdup("");
        g_auto(GStrv) words = g_strsplit(head, " ", 3);
        if (g_strv_length(words) != 3 || strcmp(words[1], type) != 0)
            return false;
        guint64 bytes = g_ascii_strtoull(words[2], NULL, 10);
        if (bytes >= (guint64)(end - line) - 1)
            return false;
        visit(ctx, i, line + 1, bytes);
        at = line + 1 + bytes + 1;
    }
    return true;
}

bool orch_git_objects(const char *dir, const GString *ids, const char *type,
                      orch_git_object_fn visit, void *ctx, GError **error)
{
    static const char *const args[] = {"cat-file", "--batch", NULL};
    struct orch_git_run run = {.dir = dir, .args = args, .input = ids};
    GString *answers = NULL;
    if (!orch_git_run(&run, &answers, NULL, error))
        return false;
    unsigned count = 0;
    for (gsize i = 0; i < ids->len; i++)
        count += ids->str[i] == '\n';
    bool ok = visit_objects(answers, type, count, visit, ctx);
    g_string_free(answers, TRUE);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, "run 'git fsck' for details",
                       "an object of the repository '%s' cannot be read", dir);
    return ok;
}
