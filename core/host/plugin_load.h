/* SPDX-License-Identifier: MIT */
/* Maps a compiled plugin into this process and makes sure, field by field, that it is one. */
#ifndef ORCH_HOST_PLUGIN_LOAD_H
#define ORCH_HOST_PLUGIN_LOAD_H

#include "lib/wire/manifest.h"

/** Loading should not take longer: a plugin's .so links no heavy library. */
#define PLUGIN_LOAD_MS_MAX 20.0

struct loaded_plugin {
    struct orch_plugin plugin; /* a copy; what an older plugin does not have is zero */
    struct orch_manifest *manifest;
    double load_ms; /* of dlopen */
};

/** Maps the file (never to be unmapped) and reads its descriptor. With `sha256` only bytes of that
 * digest are mapped; NULL: whatever the file holds. False with ORCH_ERROR_PLUGIN: what is wrong,
 * expected and found, the path, and the cure. */
bool plugin_load(const char *path, const char *sha256, struct loaded_plugin *out, GError **error);
void loaded_plugin_clear(struct loaded_plugin *loaded);

#endif
