/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One `orch-host --batch PLUGIN.so` as seen from the program: questions go out, answers come back
 * by number, in any order and many at a time. A plugin that crashes or hangs takes its host along
 * and nothing else. */
#ifndef ORCH_CORE_PLUGIN_BATCH_H
#define ORCH_CORE_PLUGIN_BATCH_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

/** An answer that takes longer than this counts as a hang. */
#define ORCH_BATCH_TIMEOUT_S 10.0

struct orch_batch;

/** Starts the program `host` on the shared object `plugin` and says hello, without waiting. Only
 * the bytes with digest `sha256` are loaded (NULL: whatever the file holds: a plugin that comes
 * with orch). ORCH_ERROR_PLUGIN when it cannot be started. */
struct orch_batch *orch_batch_start(const char *host, const char *plugin, const char *sha256,
                                    double timeout_s, GError **error);
/** Ends the host, by force after a moment. Accepts NULL. */
void orch_batch_free(struct orch_batch *batch);

/** Waits for what the plugin says of itself. The caller frees; NULL with ORCH_ERROR_PLUGIN. */
struct orch_manifest *orch_batch_manifest(struct orch_batch *batch, GError **error);

/** The questions that follow are about smoke runs. */
void orch_batch_set_smoke(struct orch_batch *batch, bool on);

/** Sends a question ("check" or "cost") without waiting; returns its number, or -1 with
 * ORCH_ERROR_RECIPE when the parameters do not fit into a line. */
int64_t orch_batch_ask(struct orch_batch *batch, const char *what, const json_t *params,
                       GError **error);
/** Waits for the answer to a number. New reference; NULL with ORCH_ERROR_PLUGIN when the plugin
 * crashed or hung: the host is then gone, and every later call fails the same way. */
json_t *orch_batch_wait(struct orch_batch *batch, int64_t id, GError **error);

/** True once the host is gone. */
bool orch_batch_is_dead(const struct orch_batch *batch);
/** True when it is gone because it did not answer in time. */
bool orch_batch_has_hung(const struct orch_batch *batch);

#endif
