/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiled plugins that the user trusts, by the SHA-256 of their bytes. A plugin can do all
 * that the user can, so one from outside this installation is loaded only when its digest is on
 * this list. The list is $XDG_STATE_HOME/orch/trusted-plugins.json, mode 0600; the manifests of
 * trusted plugins are stored beside it, so that reading a recipe need not load them again. */
#ifndef ORCH_CORE_PLUGIN_TRUST_H
#define ORCH_CORE_PLUGIN_TRUST_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Larger files are not accepted as plugins. */
#define ORCH_PLUGIN_BYTES_MAX ((size_t)1 << 30)

/** An entry of the list. */
struct orch_trusted {
    char *sha256;
    char *path; /* absolute path of the file when it was trusted */
    int64_t when_ns;
};

/** Entries in the order in which they were added: struct orch_trusted *. The caller unrefs. NULL
 * with ORCH_ERROR_IO when others than the user may write to the list, or it cannot be read. */
GPtrArray *orch_trust_list(GError **error);
/** True when the digest is on the list. An unusable list counts as empty. */
bool orch_trust_has(const char *sha256);
/** True when the list has an entry for this path. If the file's present digest is not on the list,
 * the file has changed since it was trusted. */
bool orch_trust_had(const char *path);
/** Adds a digest. Beyond 2,000 entries the oldest are removed. False with ORCH_ERROR_IO. */
bool orch_trust_add(const char *path, const char *sha256, GError **error);
/** Removes the entries of an absolute path, or of the digest that begins with these 8 or more hex
 * digits. Returns how many; -1 with ORCH_ERROR_IO. */
int orch_trust_remove(const char *which, GError **error);

/** The stored manifest of the plugin with this digest, or NULL. The caller frees. */
struct orch_manifest *orch_trust_manifest(const char *sha256);
/** Stores a plugin's manifest when its digest is on the list. Failures are ignored. */
void orch_trust_keep_manifest(const char *sha256, const struct orch_manifest *manifest);

#endif
