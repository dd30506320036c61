/* SPDX-License-Identifier: MIT */
/* Metrics of a wrapped program that knows nothing of orch, found in the lines of its standard
 * output: as "name value" pairs and JSON objects, or by each metric's regular expression. A line
 * that holds none is ordinary log text, never an error. */
#ifndef ORCH_HOST_TEXT_METRICS_H
#define ORCH_HOST_TEXT_METRICS_H

#include "core/host/intake.h"

struct text_metrics;

/** NULL for programs that speak the protocol. */
struct text_metrics *text_metrics_new(const struct orch_manifest *manifest, struct intake *intake);
void text_metrics_free(struct text_metrics *metrics);

/** Takes output as it comes; lines may be cut anywhere. NULL is allowed for `metrics`. */
void text_metrics_feed(struct text_metrics *metrics, const char *bytes, size_t length);
/** A last line without line end counts too. */
void text_metrics_finish(struct text_metrics *metrics);

#endif
