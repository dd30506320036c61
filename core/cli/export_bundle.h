/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch export --bundle': results in one file, to send or copy. */
#ifndef ORCH_CORE_CLI_EXPORT_BUNDLE_H
#define ORCH_CORE_CLI_EXPORT_BUNDLE_H

#include "core/cli/cli.h"

struct export_bundle {
    const char *path;
    const char *artifacts; /* a value for cli_artifact_bytes */
    const char **datasets; /* names, or NULL */
    const char *where, *recipe, *experiment;
    bool dry_run;
};

/** Checks that `path` may be overwritten. False with ORCH_ERROR_USAGE when a file exists that is
 * neither a bundle nor a pack, so that a typing error does not destroy it. */
bool cli_may_write_bundle(const char *path, GError **error);
/** Writes the bundle of the cli's arguments (runs, or recipe files), or lists what it would
 * contain. */
bool export_bundle(struct orch_cli *cli, const struct export_bundle *what, GError **error);

#endif
