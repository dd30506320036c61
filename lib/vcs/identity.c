/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/identity.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/vcs/setting.h"
#include "lib/vcs/spawn.h"

#include <string.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define STATUS_MISSING 1
#define SETTINGS_BYTES_MAX ((size_t)1 << 20)

GHashTable *orch_git_settings(const char *dir)
{
    GHashTable *settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GString *out = NULL;
    const struct orch_git_run run = {
        .dir = dir,
        .args = ARGS("config", "-z", "--get-regexp", "^(user|gpg|orch)\\."),
        .max_output = SETTINGS_BYTES_MAX,
        .quiet_status = STATUS_MISSING};
    if (!orch_git_run(&run, &out, NULL, NULL))
        return settings;
    for (const char *record = out->str; record < out->str + out->len;
         record += strlen(record) + 1) { /* "name\nvalue"; a name alone means true */
        const char *end = strchr(record, '\n');
        g_hash_table_insert(settings,
                            end ? g_strndup(record, (gsize)(end - record)) : g_strdup(record),
                            g_strdup(end ? end + 1 : "true"));
    }
    g_string_free(out, TRUE);
    return settings;
}

/* The root of the work tree; NULL: none. The caller frees. */
static char *work_tree(const char *dir)
{
    GString *out = NULL;
    const struct orch_git_run run = {.dir = dir, .args = ARGS("rev-parse", "--show-toplevel")};
    return orch_git_run(&run, &out, NULL, NULL) ? g_strchomp(g_string_free(out, FALSE)) : NULL;
}

char *orch_git_setting_path(GHashTable *settings, const char *name, const char *dir)
{
    const char *value = g_hash_table_lookup(settings, name);
    if (!value || !*value)
        return NULL;
    if (g_str_has_prefix(value, "~/"))
        return g_build_filename(g_get_home_dir(), value + 2, NULL);
    if (g_path_is_absolute(value))
        return g_strdup(value);
    g_autofree char *root = work_tree(dir);
    return orch_path_absolute(value, root ? root : dir);
}

/* As git writes them into a commit: without what would end a name or an address. */
static char *part(GHashTable *settings, const char *name)
{
    const char *value = g_hash_table_lookup(settings, name);
    char *text = orch_who_clean(g_strdup(value ? value : ""));
    char *out = text;
    for (const char *at = text; *at; at++)
        if (*at != '<' && *at != '>')
            *out++ = *at;
    *out = 0;
    return g_strstrip(text);
}

char *orch_vcs_identity(const char *dir)
{
    g_autoptr(GHashTable) settings = orch_git_settings(dir);
    g_autofree char *name = part(settings, "user.name");
    g_autofree char *email = part(settings, "user.email");
    if (!*name)
        return NULL;
    return *email ? g_strdup_printf("%s <%s>", name, email) : g_steal_pointer(&name);
}

bool orch_vcs_signs(const char *dir)
{
    static const char *const yes[] = {"true", "yes", "on", "1", NULL};
    g_autoptr(GHashTable) settings = orch_git_settings(dir);
    const char *value = g_hash_table_lookup(settings, "orch.sign");
    g_autofree char *lower = g_ascii_strdown(value ? value : "", -1);
    return g_strv_contains(yes, lower);
}
