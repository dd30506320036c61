/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch export --bundle': results in one file, for mail and USB. */
#ifndef ORCH_CORE_CLI_EXPORT_BUNDLE_H
#define ORCH_CORE_CLI_EXPORT_BUNDLE_H

#include "core/cli/cli.h"

struct export_bundle {
    const char *path;
    const char *artifacts; /* as cli_artifact_bytes takes it */
    const char **datasets; /* names, or NULL */
    const char *where, *recipe, *experiment;
    bool dry_run;
};

/** False with ORCH_ERROR_USAGE when a file lies at `path` that is neither a bundle nor a pack: what
 * one would not want to lose by a slip. */
bool cli_may_write_bundle(const char *path, GError **error);
/** Writes it (the cli's arguments: runs, or recipe files), or lists what would go into it. */
bool export_bundle(struct orch_cli *cli, const struct export_bundle *what, GError **error);

#endif
