/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside core/plugin: whether a compiled plugin may be loaded, decided from its file's place and
 * bytes before any of its code runs. */
#ifndef ORCH_CORE_PLUGIN_ADMIT_H
#define ORCH_CORE_PLUGIN_ADMIT_H

#include "core/plugin/plugins.h"

/** What is known of a plugin's file that may be loaded. */
struct orch_admitted {
    char *sha256;  /* only these bytes may be loaded; NULL: the plugin comes with orch */
    char *code_id; /* see struct orch_manifest; NULL: nothing stands for its code */
};
void orch_admitted_clear(struct orch_admitted *admitted);

/** Decides about the compiled plugin at a real path: it comes with orch, or its digest is trusted,
 * or `consent` (may be NULL) allows it. False with ORCH_ERROR_TRUST, which says how to trust it. */
bool orch_admit(const char *path, orch_plugin_consent_fn consent, void *ctx,
                struct orch_admitted *out, GError **error);

#endif
