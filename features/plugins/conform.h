/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plugin check`: runs a plugin in a scratch folder and checks that it fulfils the plugin
 * contract. The steps are the same for every language; docs/plugins.md describes them. */
#ifndef ORCH_FEATURES_PLUGINS_CONFORM_H
#define ORCH_FEATURES_PLUGINS_CONFORM_H

#include "core/plugin/plugins.h"

enum orch_conform_outcome { ORCH_CONFORM_PASSED, ORCH_CONFORM_FAILED, ORCH_CONFORM_SKIPPED };

struct orch_conform_step {
    char *name; /* "manifest", "load time", "check", "cost", "smoke run", "equal seeds",
                   "declared names", "cancel" */
    enum orch_conform_outcome outcome;
    char *detail;
};

/** Runs all steps on the plugin `name` (found as by orch_plugins_find), with its defaults and the
 * `settings` ("parameter=value", NULL-terminated; NULL: none). Returns struct orch_conform_step *,
 * in order; the caller unrefs. NULL when there is no such plugin, a setting is invalid, or the
 * scratch folder cannot be used. */
GPtrArray *orch_conform_run(struct orch_plugins *plugins, const char *name, const char *base,
                            const char *const *settings, GError **error);

#endif
