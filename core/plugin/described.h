/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside core/plugin: plugins known by what somebody says of them, and not here. */
#ifndef ORCH_PLUGIN_DESCRIBED_H
#define ORCH_PLUGIN_DESCRIBED_H

#include "lib/wire/manifest.h"

/** "exp/job.plugin" is called "job". The caller frees. */
char *orch_described_name(const char *name);
/** Does a path lie in a folder (both real)? */
bool orch_described_is_below(const char *folder, const char *path);
/** Is the manifest what the description says, wherever its file lies? */
bool orch_described_is(const struct orch_manifest *manifest, const json_t *description);
/** The plugin as it is described: it can be talked about, and nothing of it can run (it has no
 * path). NULL with an error: the description is not valid, or of another name. The caller frees. */
struct orch_manifest *orch_described_manifest(const char *name, const json_t *description,
                                              GError **error);

#endif
