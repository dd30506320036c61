/* SPDX-License-Identifier: MIT */
/* The hot path of the wire: lines of metric points in the exact shape that orch_event_encode_points
 * writes, read without a JSON tree. Within lib/wire only; use lib/wire/event.h. */
#ifndef ORCH_WIRE_POINTS_H
#define ORCH_WIRE_POINTS_H

#include "lib/wire/event.h"

/** Fills points, point_count and names of a zeroed event. False when the line has any other shape,
 * spaces or escapes included: the caller then asks jansson, which also knows what is wrong. */
bool orch_points_decode(const char *line, size_t length, struct orch_event *out);

#endif
