/* SPDX-License-Identifier: MIT */
/* A condition on the metrics of a running trial: "val_loss is nan or train_loss > 3 * first". The
 * grammar is that of filters (lib/base/condition.h). A value is a formula of numbers and names: a
 * metric's last value, or its `first`, `min` or `max` ("2 * min val_loss"); without a name these
 * are those of the metric on the left. A comparison with a metric that has no value does not hold,
 * and neither does its `not`. */
#ifndef ORCH_WIRE_ALERT_H
#define ORCH_WIRE_ALERT_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/** Alerts of a trial at most. */
#define ORCH_ALERTS_MAX 100

struct orch_alert;
/** Fails with ORCH_ERROR_USAGE and the column. The caller frees. */
struct orch_alert *orch_alert_parse(const char *text, GError **error);
void orch_alert_free(void *alert);

/** The alerts of a trial. `rows`: [{"when": a condition, "stop": whether it ends the trial}, ...];
 * conditions of another version are left out. The caller frees. */
struct orch_alerts *orch_alerts_new(const json_t *rows);
void orch_alerts_free(struct orch_alerts *alerts);
bool orch_alerts_is_empty(const struct orch_alerts *alerts);
/** Gives a value to all of them. `alerts`: struct orch_alerts *. */
void orch_alerts_take(void *alerts, const char *metric, int64_t step, double value);
/** What happened when one fired that was not told yet; NULL: none. The caller frees. */
char *orch_alerts_next(struct orch_alerts *alerts, bool *out_stops);

#endif
