/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters (clean, smudge, process) are programs that git runs on files. Those in the user's own
 * settings are run, as in git. Those defined only in a repository's settings may have come with an
 * unpacked archive, so they are not run: looking at a recipe must be safe. */
#include "lib/vcs/backend.h"
#include "lib/vcs/git_command.h"

#include <string.h>

#define SETTINGS_BYTES_MAX ((size_t)1 << 20)
#define STATUS_MISSING 1
static const char *const PROGRAMS[] = {"clean", "smudge", "process"};

struct filters {
    GHashTable *outer; /* "filter.NAME.clean" -> value outside the repository */
    GHashTable *own;   /* names defined in the repository's settings */
};

/* "filter.NAME.clean" without its first and last part. */
static char *name_of(const char *key)
{
    const char *begin = strchr(key, '.'), *end = strrchr(key, '.');
    return begin && end > begin ? g_strndup(begin + 1, (gsize)(end - begin - 1)) : NULL;
}

static void note(struct filters *filters, const char *scope, const char *entry)
{
    const char *newline = strchr(entry, '\n');
    g_autofree char *key = newline ? g_strndup(entry, (gsize)(newline - entry)) : g_strdup(entry);
    char *name = name_of(key);
    bool is_own = strcmp(scope, "local") == 0 || strcmp(scope, "worktree") == 0;
    if (name && is_own) {
        g_hash_table_add(filters->own, name);
        return;
    }
    g_free(name);
    g_hash_table_replace(filters->outer, g_steal_pointer(&key),
                         g_strdup(newline ? newline + 1 : ""));
}

/* Adds settings that reset a filter to its definition outside the repository. */
static void add_settings(GPtrArray *settings, const struct filters *filters, const char *name)
{
    bool is_outer = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(PROGRAMS); i++) {
        g_autofree char *key = g_strdup_printf("filter.%s.%s", name, PROGRAMS[i]);
        const char *value = g_hash_table_lookup(filters->outer, key);
        is_outer = is_outer || value;
        g_ptr_array_add(settings, g_strconcat(key, "=", value ? value : "", NULL));
    }
    if (!is_outer)
        g_ptr_array_add(settings, g_strdup_printf("filter.%s.required=false", name));
}

static void use(struct orch_vcs *vcs, const struct filters *filters)
{
    GPtrArray *settings = g_ptr_array_new();
    vcs->own_filters = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, filters->own);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        g_ptr_array_add(vcs->own_filters, g_strdup(name));
        add_settings(settings, filters, name);
    }
    g_ptr_array_add(settings, NULL);
    vcs->filter_settings = (char **)g_ptr_array_free(settings, FALSE);
}

bool orch_filters_find(struct orch_vcs *vcs, GError **error)
{
    static const char *const args[] = {"config",
                                       "--show-scope",
                                       "--null",
                                       "--get-regexp",
                                       "^filter\\..*\\.(clean|smudge|process)$",
                                       NULL};
    GString *out = NULL;
    const struct orch_git_run run = {.dir = vcs->root,
                                     .args = args,
                                     .max_output = SETTINGS_BYTES_MAX,
                                     .quiet_status = STATUS_MISSING};
    if (!orch_git_spawn(&run, &out, NULL, error))
        return false;
    struct filters filters = {
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    const char *end = out->str + out->len; /* SCOPE 0 KEY newline VALUE 0 ... */
    for (const char *scope = out->str; scope < end;) {
        const char *entry = scope + strlen(scope) + 1;
        if (entry >= end)
            break;
        note(&filters, scope, entry);
        scope = entry + strlen(entry) + 1;
    }
    if (g_hash_table_size(filters.own))
        use(vcs, &filters);
    g_hash_table_unref(filters.outer);
    g_hash_table_unref(filters.own);
    g_string_free(out, TRUE);
    return true;
}
