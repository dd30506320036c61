/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugins that can be named in a recipe: where they lie, what they say of themselves, and their
 * answers to check and cost. Plugin code never runs in this process: compiled plugins are asked
 * through one `orch-host --batch` each, started when first needed and kept until the end. */
#ifndef ORCH_CORE_PLUGIN_PLUGINS_H
#define ORCH_CORE_PLUGIN_PLUGINS_H

#include "lib/base/diag.h"
#include "lib/wire/manifest.h"

struct orch_plugins;

/** `folders`: searched first (--plugin-path), NULL-terminated or NULL. Then $ORCH_PLUGIN_PATH, the
 * user's own ($XDG_DATA_HOME/orch/plugins), and the program's. Never the current folder. */
struct orch_plugins *orch_plugins_new(const char *const *folders);
/** Asked about a compiled plugin that neither comes with orch nor is on the user's list of trusted
 * plugins (core/plugin/trust.h): may these bytes be loaded? */
typedef bool (*orch_plugin_consent_fn)(const char *path, const char *sha256, void *ctx);
/** Without one (NULL, as at first) such a plugin is not loaded: ORCH_ERROR_TRUST. */
void orch_plugins_set_consent(struct orch_plugins *plugins, orch_plugin_consent_fn consent,
                              void *ctx);

/** Ends the batch hosts. */
void orch_plugins_free(struct orch_plugins *plugins);

/** How long an answer to check or cost may take before it counts as a hang (default 10 s). */
void orch_plugins_set_timeout(struct orch_plugins *plugins, double seconds);
/** The questions that follow are about smoke runs: data need not be there. Before any is asked. */
void orch_plugins_set_smoke(struct orch_plugins *plugins, bool on);

/** From now on the recipes are a stranger's, in `folder` (real path, or NULL: back to normal). No
 * compiled plugin of theirs is loaded, and no path leads out of the folder: a plugin that
 * `manifests` (name -> manifest as JSON; borrowed) describes is taken from a NAME.plugin in the
 * folder, else from that description; any other must be this installation's. */
void orch_plugins_set_apart(struct orch_plugins *plugins, const char *folder,
                            const json_t *manifests);

/** Real path of the file that `name` stands for, found as orch_plugins_find does and nothing
 * loaded. The caller frees; NULL with ORCH_ERROR_PLUGIN. */
char *orch_plugins_locate(struct orch_plugins *plugins, const char *name, const char *base,
                          GError **error);

/** Finds a plugin by bare name, or by path (with a '/'; relative to `base`, a recipe's folder; ends
 * in .so or .plugin). A bare name is also looked for in `base` and in `base`/plugins, after
 * --plugin-path. In each folder NAME.so comes first, then NAME.plugin, then the same in its folder
 * NAME. The answer is borrowed and stays. NULL with ORCH_ERROR_PLUGIN: what is missing or
 * incompatible, where it was looked for, the nearest known name, and the cure; ORCH_ERROR_TRUST: it
 * was not loaded, because the user has not trusted it. A bare name that comes with orch means
 * orch's plugin; a file of that name elsewhere on the search path is an error that names both. A
 * failure is not remembered. */
const struct orch_manifest *orch_plugins_find(struct orch_plugins *plugins, const char *name,
                                              const char *base, GError **error);

/** One file seen on the search path. */
struct orch_plugin_entry {
    char *path;
    struct orch_manifest *manifest; /* NULL: see problem */
    char *problem;
    bool is_untrusted; /* it was not loaded, because the user has not trusted it */
    char *shadowed_by; /* path of the file of the same name that wins, or NULL */
};
/** All of them, by name: struct orch_plugin_entry *. The caller unrefs. */
GPtrArray *orch_plugins_list(struct orch_plugins *plugins, const char *base);

/** Reads a NAME.plugin (YAML). NULL when the findings hold an error. The caller frees. */
struct orch_manifest *orch_manifest_load(const char *path, struct orch_diags *diags);

struct orch_checked_input {
    char *name;
    char sha256[65];
};
/** Asks check(params). True: fine; `out_inputs` gets struct orch_checked_input * (the caller
 * unrefs; NULL: not wanted). False: ORCH_ERROR_RECIPE with the plugin's reason, ORCH_ERROR_PLUGIN
 * when it crashed or hung (10 s). Wrapped programs and plugins without check: fine, no inputs.
 * Answers are remembered by parameters. */
bool orch_plugins_check(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                        const json_t *params, GPtrArray **out_inputs, GError **error);

/** Asks check and cost of many parameter sets at once, so that the single questions that follow are
 * answered from memory. Tells nothing: what goes wrong is told by the single questions. */
void orch_plugins_ask_ahead(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                            json_t *const *params, size_t count);

/** Asks cost(params): an object with the members of struct orch_cost that are set (network,
 * precision, framework, input, images, batch, workers, classes, epochs, training). JSON null when
 * the plugin has no cost. New reference; NULL on error. */
json_t *orch_plugins_cost(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                          const json_t *params, GError **error);

/** Folder of the Python helper (share/python), for PYTHONPATH of wrapped programs. The caller
 * frees; NULL when it is not installed. */
char *orch_plugins_python_path(void);

#endif
