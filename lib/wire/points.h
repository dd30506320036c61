/* SPDX-License-Identifier: MIT */
/* Fast path for lines of metric points in the exact form that orch_event_encode_points writes,
 * decoded without a JSON tree. Internal to lib/wire; use lib/wire/event.h. */
#ifndef ORCH_WIRE_POINTS_H
#define ORCH_WIRE_POINTS_H

#include "lib/wire/event.h"

/** Fills points, point_count and names of a zeroed event. Returns false if the line has any other
 * form, including spaces or escapes; the caller then uses jansson, which also reports errors. */
bool orch_points_decode(const char *line, size_t length, struct orch_event *out);

#endif
