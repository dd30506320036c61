/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Git cannot unset a setting, only override it, and not every program has a value that disables it.
 * The table lists the override for each: a value, an empty value, which for lists
 * (credential.helper) discards the preceding ones, or an environment variable.
 */
#include "lib/vcs/git_config.h"

#include "lib/base/text.h"
#include "lib/vcs/git_command.h"
#include "lib/vcs/setting.h"
#include "lib/vcs/vcs.h"

#include <string.h>

#define SETTINGS_BYTES_MAX ((size_t)1 << 20)
#define STATUS_MISSING 1

enum way {
    WAY_VALUE, /* the user's own value, or `none` */
    WAY_LIST,  /* an empty value, then the user's own values */
    WAY_SSH,
    WAY_PROXY,
    WAY_UPLOAD, /* git uses the first value, but an option has precedence */
    WAY_RECEIVE,
    WAY_SIGN,  /* ignored by sign.c */
    WAY_NEVER, /* always disabled by git_command.c, also for the user's own value */
};
/* Prefix and suffix of a setting's name; anything may be between them, such as the name of a
 * remote. */
static const struct guarded {
    const char *begin, *end;
    enum way way;
    const char *none;
} GUARDED[] = {
    {"core.sshcommand", "", WAY_SSH, NULL},
    {"core.gitproxy", "", WAY_PROXY, NULL},
    {"core.askpass", "", WAY_VALUE, ""},
    {"core.alternaterefscommand", "", WAY_VALUE, ""},
    {"core.fsmonitor", "", WAY_NEVER, NULL},
    {"core.hookspath", "", WAY_NEVER, NULL},
    {"gpg.", "program", WAY_SIGN, NULL},
    {"gpg.", "defaultkeycommand", WAY_SIGN, NULL},
    {"credential.", "helper", WAY_LIST, NULL},
    {"remote.", ".vcs", WAY_VALUE, ""}, /* git then reports a missing helper */
    {"remote.", ".uploadpack", WAY_UPLOAD, NULL},
    {"remote.", ".receivepack", WAY_RECEIVE, NULL},
    /* git's defaults (git help config, protocol.allow) */
    {"protocol.ext.allow", "", WAY_VALUE, "never"},
    {"protocol.http.allow", "", WAY_VALUE, "always"},
    {"protocol.https.allow", "", WAY_VALUE, "always"},
    {"protocol.git.allow", "", WAY_VALUE, "always"},
    {"protocol.ssh.allow", "", WAY_VALUE, "always"},
    {"protocol.", "allow", WAY_VALUE, "user"},
};

static const struct guarded *guarded_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(GUARDED); i++) {
        const struct guarded *row = &GUARDED[i];
        if (*row->end ? g_str_has_prefix(name, row->begin) && g_str_has_suffix(name, row->end)
                      : strcmp(name, row->begin) == 0)
            return row;
    }
    return NULL;
}

bool orch_git_names_program(const char *name)
{
    return guarded_of(name) != NULL;
}

/** Settings by origin. */
struct settings {
    GHashTable *own;   /* names that the repository sets -> themselves */
    GHashTable *outer; /* name -> GPtrArray of the values elsewhere */
};

static void note(void *ctx, bool is_own, const char *name, const char *value)
{
    struct settings *found = ctx;
    if (!guarded_of(name))
        return;
    if (is_own) {
        g_hash_table_add(found->own, g_strdup(name));
        return;
    }
    GPtrArray *values = g_hash_table_lookup(found->outer, name);
    if (!values) {
        values = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(found->outer, g_strdup(name), values);
    }
    g_ptr_array_add(values, g_strdup(value));
}

static void put(struct orch_git_guard *guard, const char *name, const char *value)
{
    g_ptr_array_add(guard->settings, g_strconcat(name, "=", value, NULL));
}

static void guard_one(struct orch_git_guard *guard, const struct settings *found, const char *name)
{
    const struct guarded *row = guarded_of(name);
    const GPtrArray *values = g_hash_table_lookup(found->outer, name);
    const char *last = values ? values->pdata[values->len - 1] : NULL;
    if (row->way != WAY_NEVER)
        g_ptr_array_add(guard->names, g_strdup(name));
    switch (row->way) {
    case WAY_VALUE:
        put(guard, name, last ? last : row->none);
        break;
    case WAY_LIST:
        put(guard, name, "");
        for (guint i = 0; values && i < values->len; i++)
            put(guard, name, values->pdata[i]);
        break;
    case WAY_SSH:
        guard->ssh = g_strdup(last ? last : "ssh");
        break;
    case WAY_UPLOAD:
        guard->has_upload = guard->has_upload || !last;
        break;
    case WAY_RECEIVE:
        guard->has_receive = guard->has_receive || !last;
        break;
    case WAY_PROXY:
        guard->has_proxy = true;
        break;
    default:
        break;
    }
}

static struct orch_git_guard *find(const char *dir)
{
    struct orch_git_guard *guard = g_new0(struct orch_git_guard, 1);
    guard->names = g_ptr_array_new_with_free_func(g_free);
    guard->settings = g_ptr_array_new_with_free_func(g_free);
    struct settings found = {
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref)};
    orch_git_each_setting(dir, "^(core|gpg|credential|remote|protocol)\\.", note, &found);
    GHashTableIter iter;
    gpointer name;
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    g_hash_table_iter_init(&iter, found.own);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(own, name);
    g_ptr_array_sort(own, orch_compare_texts);
    for (guint i = 0; i < own->len; i++)
        guard_one(guard, &found, own->pdata[i]);
    /* a repository's "user" for all protocols must not enable this one */
    if (g_hash_table_contains(found.own, "protocol.allow") &&
        !g_hash_table_contains(found.outer, "protocol.ext.allow"))
        put(guard, "protocol.ext.allow", "never");
    g_hash_table_unref(found.own);
    g_hash_table_unref(found.outer);
    return guard;
}

const struct orch_git_guard *orch_git_guard(const char *dir)
{
    static GMutex lock;
    static GHashTable *found; /* dir -> struct orch_git_guard *, for the process */
    g_mutex_lock(&lock);
    if (!found)
        found = g_hash_table_new(g_str_hash, g_str_equal);
    struct orch_git_guard *guard = g_hash_table_lookup(found, dir ? dir : ".");
    if (!guard) {
        guard = find(dir);
        g_hash_table_insert(found, g_strdup(dir ? dir : "."), guard);
    }
    g_mutex_unlock(&lock);
    return guard;
}

const GPtrArray *orch_vcs_programs_not_run(const char *dir)
{
    return orch_git_guard(dir)->names;
}

void orch_git_each_setting(const char *dir, const char *pattern,
                           void (*visit)(void *ctx, bool is_own, const char *name,
                                         const char *value),
                           void *ctx)
{
    const char *const args[] = {"config", "--show-scope", "--null", "--get-regexp", pattern, NULL};
    GString *out = NULL;
    const struct orch_git_run run = {
        .dir = dir, .args = args, .max_output = SETTINGS_BYTES_MAX, .quiet_status = STATUS_MISSING};
    if (!orch_git_spawn(&run, &out, NULL, NULL))
        return;
    const char *end = out->str + out->len; /* SCOPE 0 NAME newline VALUE 0 ... */
    for (const char *scope = out->str; scope < end;) {
        const char *entry = scope + strlen(scope) + 1;
        if (entry >= end)
            break;
        const char *newline = strchr(entry, '\n'); /* a name without a value means true */
        g_autofree char *name =
            newline ? g_strndup(entry, (gsize)(newline - entry)) : g_strdup(entry);
        bool is_own = strcmp(scope, "local") == 0 || strcmp(scope, "worktree") == 0;
        visit(ctx, is_own, name, newline ? newline + 1 : "true");
        scope = entry + strlen(entry) + 1;
    }
    g_string_free(out, TRUE);
}

bool orch_git_run(const struct orch_git_run *run, GString **out, int *out_status, GError **error)
{
    struct orch_git_run guarded = *run;
    guarded.guard = orch_git_guard(run->dir);
    return orch_git_spawn(&guarded, out, out_status, error);
}
