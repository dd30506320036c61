/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/identity.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/vcs/git_command.h"
#include "lib/vcs/git_config.h"
#include "lib/vcs/setting.h"

#include <string.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Leaves out programs named only by the repository: signatures are verified with the user's own. */
static void note_setting(void *settings, bool is_own, const char *name, const char *value)
{
    if (!is_own || !orch_git_names_program(name))
        g_hash_table_insert(settings, g_strdup(name), g_strdup(value));
}

GHashTable *orch_git_settings(const char *dir)
{
    GHashTable *settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    orch_git_each_setting(dir, "^(user|gpg|orch)\\.", note_setting, settings);
    return settings;
}

/* Root of the work tree; NULL if there is none. Caller frees. */
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

/* Removes characters that would end a name or an address, as git does in commits. */
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
