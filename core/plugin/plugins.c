/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loaded plugins stay until the end, keyed by real path: the manifest and, for a compiled plugin,
 * its batch host and all its responses. A plugin that failed to load is tried again the next time.
 * A plugin that hung once gets no more requests, because a hundred trials would take a hundred
 * timeouts. */
#include "core/plugin/plugins.h"

#include "core/plugin/admit.h"
#include "core/plugin/batch.h"
#include "core/plugin/plugins_private.h"
#include "core/plugin/search.h"
#include "core/plugin/trust.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/wire/manifest.h"

#include <string.h>

/* ---- plugins that are described, not loaded -----------------------------------------------------
 */

/* The plugin name for a path: "job" for "exp/job.plugin". The caller frees. */
static char *described_name(const char *name)
{
    char *bare = g_path_get_basename(name);
    char *dot = strrchr(bare, '.');
    if (dot && (strcmp(dot, ".so") == 0 || strcmp(dot, ".plugin") == 0))
        *dot = 0;
    return bare;
}

/* True when a path is below a folder (both real paths). */
static bool described_is_below(const char *folder, const char *path)
{
    return orch_path_below(path, folder);
}

/* True when the manifest equals the description, ignoring the location of its file. */
static bool described_is(const struct orch_manifest *manifest, const json_t *description)
{
    g_autoptr(json_t) mine = orch_manifest_encode(manifest);
    g_autoptr(json_t) theirs = json_copy((json_t *)(uintptr_t)description);
    json_object_del(mine, "path");
    json_object_del(theirs, "path");
    return json_equal(mine, theirs);
}

/* Makes a manifest from a description. The plugin can be referred to but not run, because it has
 * no path. NULL with an error when the description is invalid or has another name. The caller
 * frees. */
static struct orch_manifest *described_manifest(const char *name, const json_t *description,
                                                GError **error)
{
    struct orch_manifest *manifest = orch_manifest_decode(description, error);
    if (!manifest)
        return NULL;
    g_autofree char *problem = orch_manifest_problem(manifest);
    if (problem || g_strcmp0(manifest->name, name) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, NULL,
                       "the description of plugin '%s' is not valid: %s", name,
                       problem ? problem : "it has the name of another plugin");
        orch_manifest_free(manifest);
        return NULL;
    }
    manifest->has_check = manifest->has_cost = false;
    g_clear_pointer(&manifest->path, g_free);
    return manifest;
}

/* ---- the set of plugins -------------------------------------------------------------------------
 */

static void loaded_free(void *pointer)
{
    struct loaded *loaded = pointer;
    orch_manifest_free(loaded->manifest);
    orch_batch_free(loaded->batch);
    g_hash_table_unref(loaded->answers);
    g_clear_error(&loaded->hang);
    g_free(loaded);
}

static struct loaded *loaded_new(void)
{
    struct loaded *loaded = g_new0(struct loaded, 1);
    loaded->answers =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)json_decref);
    return loaded;
}

struct orch_plugins *orch_plugins_new(const char *const *folders)
{
    struct orch_plugins *plugins = g_new0(struct orch_plugins, 1);
    plugins->folders = g_strdupv((char **)(uintptr_t)folders);
    plugins->loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, loaded_free);
    return plugins;
}

GPtrArray *orch_plugins_found(const struct orch_plugins *plugins)
{
    GPtrArray *paths = g_ptr_array_new();
    GHashTableIter iter;
    gpointer path;
    g_hash_table_iter_init(&iter, plugins->loaded);
    while (g_hash_table_iter_next(&iter, &path, NULL))
        g_ptr_array_add(paths, path);
    return paths;
}

void orch_plugins_free(struct orch_plugins *plugins)
{
    if (!plugins)
        return;
    g_hash_table_unref(plugins->loaded);
    g_strfreev(plugins->folders);
    g_free(plugins->host);
    g_free(plugins->apart);
    g_free(plugins);
}

void orch_plugins_set_timeout(struct orch_plugins *plugins, double seconds)
{
    plugins->timeout_s = seconds;
}

void orch_plugins_set_smoke(struct orch_plugins *plugins, bool on)
{
    plugins->smoke = on;
}

void orch_plugins_set_apart(struct orch_plugins *plugins, const char *folder,
                            const json_t *manifests)
{
    g_free(plugins->apart);
    plugins->apart = g_strdup(folder);
    plugins->described = folder ? manifests : NULL;
}

void orch_plugins_set_consent(struct orch_plugins *plugins, orch_plugin_consent_fn consent,
                              void *ctx)
{
    plugins->consent = consent;
    plugins->consent_ctx = ctx;
}

static const char *const *first_folders(const struct orch_plugins *plugins)
{
    return (const char *const *)plugins->folders;
}

/* ---- loading ------------------------------------------------------------------------------ */

struct orch_batch *orch_plugins_start_batch(struct orch_plugins *plugins, const char *path,
                                            const char *sha256, GError **error)
{
    if (!plugins->host)
        plugins->host = orch_program_path("orch-host", error);
    if (!plugins->host)
        return NULL;
    struct orch_batch *batch =
        orch_batch_start(plugins->host, path, sha256, plugins->timeout_s, error);
    if (batch)
        orch_batch_set_smoke(batch, plugins->smoke);
    return batch;
}

/* Checks that the plugin has the same name as its file. */
static bool check_compiled(const struct orch_manifest *manifest, const char *path, GError **error)
{
    g_autofree char *file = g_path_get_basename(path);
    g_autofree char *expected = g_strconcat(manifest->name, ".so", NULL);
    g_autofree char *problem = orch_manifest_problem(manifest);
    if (strcmp(file, expected) != 0) {
        g_autofree char *hint = g_strdup_printf("rename the file to '%s'", expected);
        orch_error_set(error, ORCH_ERROR_PLUGIN, hint,
                       "cannot load plugin '%s': the name in it is '%s'", path, manifest->name);
        return false;
    }
    if (problem)
        orch_error_set(error, ORCH_ERROR_PLUGIN, NULL, "cannot load plugin '%s': %s", path,
                       problem);
    return !problem;
}

/* Gets the plugin's manifest: the stored one when its digest is trusted, else from the plugin. */
static struct orch_manifest *introduce(struct orch_plugins *plugins, struct loaded *loaded,
                                       const char *path, const char *sha256, GError **error)
{
    struct orch_manifest *manifest = sha256 ? orch_trust_manifest(sha256) : NULL;
    if (manifest)
        return manifest;
    loaded->batch = orch_plugins_start_batch(plugins, path, sha256, error);
    manifest = loaded->batch ? orch_batch_manifest(loaded->batch, error) : NULL;
    if (manifest && sha256)
        orch_trust_keep_manifest(sha256, manifest);
    return manifest;
}

static bool load_compiled(struct orch_plugins *plugins, struct loaded *loaded, const char *path,
                          GError **error)
{
    struct orch_admitted admitted;
    if (!orch_admit(path, plugins->consent, plugins->consent_ctx, &admitted, error))
        return false;
    loaded->manifest = introduce(plugins, loaded, path, admitted.sha256, error);
    if (!loaded->manifest) {
        orch_admitted_clear(&admitted);
        return false;
    }
    loaded->manifest->kind = ORCH_PLUGIN_COMPILED;
    g_free(loaded->manifest->path);
    loaded->manifest->path = g_strdup(path);
    loaded->manifest->sha256 = g_steal_pointer(&admitted.sha256);
    loaded->manifest->code_id = g_steal_pointer(&admitted.code_id);
    return check_compiled(loaded->manifest, path, error);
}

static bool load_wrapped(struct loaded *loaded, const char *path, GError **error)
{
    struct orch_diags *diags = orch_diags_new();
    loaded->manifest = orch_manifest_load(path, diags);
    if (!loaded->manifest && !orch_diags_to_error(diags, error) && error && *error)
        (*error)->code = ORCH_ERROR_PLUGIN;
    orch_diags_free(diags);
    return loaded->manifest != NULL;
}

struct loaded *orch_plugins_load(struct orch_plugins *plugins, const char *path, GError **error)
{
    struct loaded *loaded = g_hash_table_lookup(plugins->loaded, path);
    if (loaded)
        return loaded;
    if (!orch_search_is_safe(path, error))
        return NULL;
    loaded = loaded_new();
    bool ok = g_str_has_suffix(path, ".so") ? load_compiled(plugins, loaded, path, error)
                                            : load_wrapped(loaded, path, error);
    if (!ok) {
        loaded_free(loaded);
        return NULL;
    }
    g_hash_table_insert(plugins->loaded, g_strdup(path), loaded);
    return loaded;
}

char *orch_plugins_locate(struct orch_plugins *plugins, const char *name, const char *base,
                          GError **error)
{
    return orch_search_find(first_folders(plugins), name, base, error);
}

/* ---- a stranger's recipe ------------------------------------------------------------------- */

static const struct loaded *load_described(struct orch_plugins *plugins, const char *name,
                                           const json_t *description, GError **error)
{
    g_autofree char *key = g_strconcat("described ", name, NULL);
    struct loaded *loaded = g_hash_table_lookup(plugins->loaded, key);
    if (loaded)
        return loaded;
    struct orch_manifest *manifest = described_manifest(name, description, error);
    if (!manifest)
        return NULL;
    loaded = loaded_new();
    loaded->manifest = manifest;
    g_hash_table_insert(plugins->loaded, g_steal_pointer(&key), loaded);
    return loaded;
}

/* Finds a described plugin: the text manifest in the untrusted folder, else this installation's
 * plugin when it equals the description, else the description itself. */
static const struct loaded *find_described(struct orch_plugins *plugins, const char *name,
                                           const char *bare, const char *base,
                                           const json_t *description, GError **error)
{
    g_autofree char *path = orch_plugins_locate(plugins, name, base, NULL);
    if (path && described_is_below(plugins->apart, path) && g_str_has_suffix(path, ".plugin"))
        return orch_plugins_load(plugins, path, error);
    g_autofree char *installed =
        strchr(name, '/') ? NULL : orch_plugins_locate(plugins, bare, NULL, NULL);
    const struct loaded *loaded = installed ? orch_plugins_load(plugins, installed, NULL) : NULL;
    if (loaded && described_is(loaded->manifest, description))
        return loaded;
    return load_described(plugins, bare, description, error);
}

static const struct orch_manifest *find_apart(struct orch_plugins *plugins, const char *name,
                                              const char *base, GError **error)
{
    g_autofree char *bare = described_name(name);
    const json_t *description = json_object_get(plugins->described, bare);
    const struct loaded *loaded = NULL;
    if (description) {
        loaded = find_described(plugins, name, bare, base, description, error);
    } else if (strchr(name, '/')) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, NULL,
                       "the pack does not describe plugin '%s', a file on its author's machine",
                       name);
    } else {
        g_autofree char *path = orch_plugins_locate(plugins, name, NULL, error);
        loaded = path ? orch_plugins_load(plugins, path, error) : NULL;
    }
    return loaded ? loaded->manifest : NULL;
}

const struct orch_manifest *orch_plugins_find(struct orch_plugins *plugins, const char *name,
                                              const char *base, GError **error)
{
    if (plugins->apart)
        return find_apart(plugins, name, base, error);
    g_autofree char *path = orch_plugins_locate(plugins, name, base, error);
    const struct loaded *loaded = path ? orch_plugins_load(plugins, path, error) : NULL;
    return loaded ? loaded->manifest : NULL;
}

/* ---- listing ------------------------------------------------------------------------------ */

static void entry_free(void *pointer)
{
    struct orch_plugin_entry *entry = pointer;
    g_free(entry->path);
    orch_manifest_free(entry->manifest);
    g_free(entry->problem);
    g_free(entry->shadowed_by);
    g_free(entry);
}

static struct orch_manifest *manifest_copy(const struct orch_manifest *manifest)
{
    g_autoptr(json_t) json = orch_manifest_encode(manifest);
    return orch_manifest_decode(json, NULL);
}

static struct orch_plugin_entry *entry_new(struct orch_plugins *plugins,
                                           const struct orch_search_hit *hit)
{
    struct orch_plugin_entry *entry = g_new0(struct orch_plugin_entry, 1);
    entry->path = g_strdup(hit->path);
    entry->shadowed_by = g_strdup(hit->shadowed_by);
    g_autoptr(GError) error = NULL;
    const struct loaded *loaded = orch_plugins_load(plugins, hit->path, &error);
    entry->is_untrusted = error && error->code == ORCH_ERROR_TRUST;
    if (loaded)
        entry->manifest = manifest_copy(loaded->manifest);
    else
        entry->problem = g_strdup(error->message);
    return entry;
}

GPtrArray *orch_plugins_list(struct orch_plugins *plugins, const char *base)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);
    g_autoptr(GPtrArray) hits = orch_search_list(first_folders(plugins), base);
    for (guint i = 0; i < hits->len; i++)
        g_ptr_array_add(entries, entry_new(plugins, hits->pdata[i]));
    return entries;
}

bool orch_plugin_is_ours(const struct orch_manifest *manifest)
{
    return manifest->path && orch_search_is_own(manifest->path);
}

char *orch_plugins_python_path(void)
{
    g_autofree char *share = orch_program_path("share", NULL);
    if (!share)
        return NULL;
    g_autofree char *folder = g_build_filename(share, "python", NULL);
    return g_file_test(folder, G_FILE_TEST_IS_DIR) ? g_steal_pointer(&folder) : NULL;
}
