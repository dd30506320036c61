/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to core/plugin: decides whether a compiled plugin may be loaded, from the location and
 * the bytes of its file, before any of its code runs. */
#ifndef ORCH_CORE_PLUGIN_ADMIT_H
#define ORCH_CORE_PLUGIN_ADMIT_H

#include "core/plugin/plugins.h"

/** A plugin file that may be loaded. */
struct orch_admitted {
    char *sha256;  /* only these bytes may be loaded; NULL: the plugin comes with orch */
    char *code_id; /* see struct orch_manifest; NULL: its code has no id */
};
void orch_admitted_clear(struct orch_admitted *admitted);

/** Admits the compiled plugin at a real path when it comes with orch, its digest is trusted, or
 * `consent` (may be NULL) allows it. Otherwise false with ORCH_ERROR_TRUST, whose hint says how to
 * trust it. */
bool orch_admit(const char *path, orch_plugin_consent_fn consent, void *ctx,
                struct orch_admitted *out, GError **error);

#endif
