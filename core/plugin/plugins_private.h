/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the set of plugins (plugins.c) shares with the questions to them (plugin_questions.c). */
#ifndef ORCH_CORE_PLUGIN_PLUGINS_PRIVATE_H
#define ORCH_CORE_PLUGIN_PLUGINS_PRIVATE_H

#include "core/plugin/batch.h"
#include "core/plugin/plugins.h"

struct orch_plugins {
    char **folders;                 /* --plugin-path */
    char *host;                     /* program orch-host; located on first use */
    double timeout_s;               /* 0: the default */
    bool smoke;                     /* requests are for smoke runs */
    GHashTable *loaded;             /* real path -> struct loaded * */
    char *apart;                    /* folder of untrusted recipes, or NULL */
    const json_t *described;        /* plugins described by untrusted recipes: name -> manifest */
    orch_plugin_consent_fn consent; /* or NULL */
    void *consent_ctx;
};

struct loaded {
    struct orch_manifest *manifest;
    struct orch_batch *batch; /* NULL: not started, or gone */
    GHashTable *answers;      /* "check {...}" -> json_t *: the event with the response */
    GError *hang;             /* set when the plugin once did not respond */
};

/** Loads the file at a real path, or returns the plugin loaded before. Borrowed; NULL with an
 * error. */
struct loaded *orch_plugins_load(struct orch_plugins *plugins, const char *path, GError **error);
/** Starts the batch host of a compiled plugin. The caller frees; NULL with an error. */
struct orch_batch *orch_plugins_start_batch(struct orch_plugins *plugins, const char *path,
                                            const char *sha256, GError **error);

#endif
