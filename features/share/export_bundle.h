/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch export --bundle': results in one file, to send or copy. */
#ifndef ORCH_FEATURES_SHARE_EXPORT_BUNDLE_H
#define ORCH_FEATURES_SHARE_EXPORT_BUNDLE_H

#include "core/cli/cli.h"

struct orch_cli_export_bundle {
    const char *path;
    const char *artifacts; /* a value for orch_artifact_bytes_parse */
    const char **datasets; /* names, or NULL */
    const char *where, *recipe, *experiment;
    bool dry_run;
};

/** The recipes and runs that arguments name: char * (names, keys), each list ended by NULL. */
struct orch_cli_export_named {
    GPtrArray *recipes, *runs;
};
/** Reads the cli's arguments: recipe files, and runs by key, name or @last. The caller clears with
 * orch_cli_export_named_clear, also on failure. */
bool orch_cli_export_named_read(struct orch_cli *cli, struct orch_store *store,
                                struct orch_cli_export_named *out, GError **error);
void orch_cli_export_named_clear(struct orch_cli_export_named *named);

/** Writes the bundle of the cli's arguments (runs, or recipe files), or lists what it would
 * contain. */
bool orch_cli_export_bundle(struct orch_cli *cli, const struct orch_cli_export_bundle *what,
                            GError **error);

#endif
