/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to core/plugin: plugins that are known only from a description (a manifest as JSON) and
 * are not installed. */
#ifndef ORCH_PLUGIN_DESCRIBED_H
#define ORCH_PLUGIN_DESCRIBED_H

#include "lib/wire/manifest.h"

/** The plugin name for a path: "job" for "exp/job.plugin". The caller frees. */
char *orch_described_name(const char *name);
/** True when a path is below a folder (both real paths). */
bool orch_described_is_below(const char *folder, const char *path);
/** True when the manifest equals the description, ignoring the location of its file. */
bool orch_described_is(const struct orch_manifest *manifest, const json_t *description);
/** Makes a manifest from a description. The plugin can be referred to but not run, because it has
 * no path. NULL with an error when the description is invalid or has another name. The caller
 * frees. */
struct orch_manifest *orch_described_manifest(const char *name, const json_t *description,
                                              GError **error);

#endif
