/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugins that a recipe can name: their locations, their manifests, and their responses to
 * check and cost. Plugin code never runs in this process: each compiled plugin is queried through
 * its own `orch-host --batch` process, started on first use and kept until the end. */
#ifndef ORCH_CORE_PLUGIN_PLUGINS_H
#define ORCH_CORE_PLUGIN_PLUGINS_H

#include "lib/base/diag.h"
#include "lib/wire/manifest.h"

struct orch_plugins;

/** `folders`: searched first (--plugin-path), NULL-terminated or NULL. Then come $ORCH_PLUGIN_PATH,
 * the user's folder ($XDG_DATA_HOME/orch/plugins) and the one of this installation. The current
 * folder is never searched. */
struct orch_plugins *orch_plugins_new(const char *const *folders);
/** Called for a compiled plugin that neither comes with orch nor is on the user's list of trusted
 * plugins (core/plugin/trust.h). Returns true when the file with this digest may be loaded. */
typedef bool (*orch_plugin_consent_fn)(const char *path, const char *sha256, void *ctx);
/** Sets the consent function. Without one (NULL, the default) such plugins are not loaded
 * (ORCH_ERROR_TRUST). */
void orch_plugins_set_consent(struct orch_plugins *plugins, orch_plugin_consent_fn consent,
                              void *ctx);

/** Ends the batch hosts. */
void orch_plugins_free(struct orch_plugins *plugins);

/** Sets how long a response to check or cost may take before it counts as a hang. Commands use the
 * default, 10 s (docs/plugins.md); tests of hanging plugins shorten it. */
void orch_plugins_set_timeout(struct orch_plugins *plugins, double seconds);
/** Sets whether requests are for smoke runs, for which data need not exist. Call it before the
 * first request. */
void orch_plugins_set_smoke(struct orch_plugins *plugins, bool on);

/** Treats all later recipes as untrusted and confined to `folder` (real path; NULL ends this mode).
 * None of their compiled plugins is loaded, and no path may leave the folder. A plugin described in
 * `manifests` (name -> manifest as JSON; borrowed) is taken from a NAME.plugin in the folder, else
 * from that description; any other plugin must be one of this installation. */
void orch_plugins_set_apart(struct orch_plugins *plugins, const char *folder,
                            const json_t *manifests);

/** Real path of the plugin file for `name`, found as by orch_plugins_find but not loaded. The
 * caller frees; NULL with ORCH_ERROR_PLUGIN. */
char *orch_plugins_locate(struct orch_plugins *plugins, const char *name, const char *base,
                          GError **error);

/** Finds a plugin by bare name, or by path (with a '/'; relative to `base`, a recipe's folder; ends
 * in .so or .plugin). A bare name is also looked for in `base` and in `base`/plugins, after
 * --plugin-path. In each folder NAME.so comes first, then NAME.plugin, then the same in a subfolder
 * NAME. The result is borrowed and stays valid until orch_plugins_free. Returns NULL with
 * ORCH_ERROR_PLUGIN, which says what is missing or incompatible, where it was searched, the nearest
 * known name and a hint, or with ORCH_ERROR_TRUST when the user does not trust the plugin. The bare
 * name of a plugin that comes with orch always means that plugin; another file of that name on the
 * search path is an error that names both. Failures are not cached. */
const struct orch_manifest *orch_plugins_find(struct orch_plugins *plugins, const char *name,
                                              const char *base, GError **error);

/** Real paths of the plugins that orch_plugins_find has found so far, in any order. The caller
 * unrefs; the plugins own the texts. */
GPtrArray *orch_plugins_found(const struct orch_plugins *plugins);

/** One file seen on the search path. */
struct orch_plugin_entry {
    char *path;
    struct orch_manifest *manifest; /* NULL: see problem */
    char *problem;
    bool is_untrusted; /* not loaded because the user does not trust it */
    char *shadowed_by; /* path of the file of the same name that takes precedence, or NULL */
};
/** All plugin files on the search path, sorted by name: struct orch_plugin_entry *. The caller
 * unrefs. */
GPtrArray *orch_plugins_list(struct orch_plugins *plugins, const char *base);

/** True for the plugins that come with orch. */
bool orch_plugin_is_ours(const struct orch_manifest *manifest);

/** Reads a NAME.plugin (YAML). NULL when the findings hold an error. The caller frees. */
struct orch_manifest *orch_manifest_load(const char *path, struct orch_diags *diags);
struct orch_yaml;
/** Reads the map of metrics of a NAME.plugin, or `node` like it in `file`, into a manifest. */
void orch_manifest_read_metrics(const char *file, const struct orch_yaml *node,
                                struct orch_manifest *manifest, struct orch_diags *diags);

struct orch_checked_input {
    char *name;
    char sha256[65];
    bool is_word; /* the name is the plugin's word for it ("images"), no path */
};
/** What a plugin's check says of parameters that it accepts. */
struct orch_checked {
    GPtrArray *inputs;    /* struct orch_checked_input *: what will be read */
    GPtrArray *no_effect; /* char *: names of parameters without effect */
    GPtrArray *warnings;  /* char * */
};
/** Unrefs the arrays that are still there, and forgets them. */
void orch_checked_clear(struct orch_checked *checked);
/** Calls the plugin's check(params). On success returns true and fills `out` (may be NULL; the
 * caller clears). Otherwise false with ORCH_ERROR_RECIPE and the plugin's reason, or
 * ORCH_ERROR_PLUGIN when it crashed or hung (10 s), and `out` is not touched. Wrapped programs and
 * plugins without check succeed with empty arrays. Responses are cached by parameters. */
bool orch_plugins_check(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                        const json_t *params, struct orch_checked *out, GError **error);

/** Prefetches check and cost for many parameter sets, so that later single requests are answered
 * from the cache. Errors are not reported here but by the single requests. */
void orch_plugins_prefetch(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                           json_t *const *params, size_t count);

/** Calls the plugin's cost(params). Returns an object with the members of struct orch_cost that are
 * set (network, precision, framework, input, images, batch, workers, classes, epochs, training,
 * unit, samples, copies, actors, steps).
 * JSON null when the plugin has no cost. New reference; NULL on error. */
json_t *orch_plugins_cost(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                          const json_t *params, GError **error);

/** Folder of the Python helper (share/python), for PYTHONPATH of wrapped programs. The caller
 * frees; NULL when it is not installed. */
char *orch_plugins_python_path(void);

#endif
