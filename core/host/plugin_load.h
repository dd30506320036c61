/* SPDX-License-Identifier: MIT */
/* Loads a compiled plugin into this process and validates its descriptor field by field. */
#ifndef ORCH_HOST_PLUGIN_LOAD_H
#define ORCH_HOST_PLUGIN_LOAD_H

#include "lib/wire/manifest.h"

/** Maximum load time before a warning; a plugin's .so should not link heavy libraries. */
#define PLUGIN_LOAD_MS_MAX 20.0

struct loaded_plugin {
    struct orch_plugin plugin; /* a copy; fields that an older plugin lacks are zero */
    struct orch_manifest *manifest;
    double load_ms; /* of dlopen */
};

/** Loads the file (it is never unloaded) and reads its descriptor. With `sha256` only contents with
 * that digest are loaded; NULL: any. Fails with ORCH_ERROR_PLUGIN, naming the problem with expected
 * and found values, the path, and a hint. */
bool orch_plugin_load(const char *path, const char *sha256, struct loaded_plugin *out,
                      GError **error);
void orch_loaded_plugin_clear(struct loaded_plugin *loaded);

#endif
