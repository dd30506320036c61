/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The client of one `orch-host --batch PLUGIN.so` process. Numbered requests are sent without
 * waiting, and responses arrive in any order. A plugin that crashes or hangs affects only its host
 * process. */
#ifndef ORCH_CORE_PLUGIN_BATCH_H
#define ORCH_CORE_PLUGIN_BATCH_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

/** A response that takes longer than this counts as a hang. */
#define ORCH_BATCH_TIMEOUT_S 10.0

struct orch_batch;

/** Starts the program `host` on the shared object `plugin` and sends the greeting without waiting
 * for a response. Only a file with digest `sha256` is loaded; NULL accepts any content, for plugins
 * that come with orch. ORCH_ERROR_PLUGIN when the host cannot be started. */
struct orch_batch *orch_batch_start(const char *host, const char *plugin, const char *sha256,
                                    double timeout_s, GError **error);
/** Ends the host, and kills it after a short wait. Accepts NULL. */
void orch_batch_free(struct orch_batch *batch);

/** Waits for the plugin's manifest. The caller frees; NULL with ORCH_ERROR_PLUGIN. */
struct orch_manifest *orch_batch_manifest(struct orch_batch *batch, GError **error);

/** Sets whether later requests are for smoke runs. */
void orch_batch_set_smoke(struct orch_batch *batch, bool on);

/** Sends a request ("check" or "cost") without waiting. Returns its number, or -1 with
 * ORCH_ERROR_RECIPE when the parameters do not fit into a line. */
int64_t orch_batch_request(struct orch_batch *batch, const char *what, const json_t *params,
                           GError **error);
/** Waits for the response to the request with number `id`. New reference; NULL with
 * ORCH_ERROR_PLUGIN when the plugin crashed or hung. The host is then gone, and every later call
 * fails the same way. */
json_t *orch_batch_wait(struct orch_batch *batch, int64_t id, GError **error);

/** True once the host is gone. */
bool orch_batch_is_dead(const struct orch_batch *batch);
/** True when it is gone because it did not answer in time. */
bool orch_batch_has_hung(const struct orch_batch *batch);

#endif
