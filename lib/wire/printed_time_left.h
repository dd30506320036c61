/* SPDX-License-Identifier: MIT */
/* Values that programs print about their progress and that measure nothing. */
#ifndef ORCH_LIB_WIRE_PRINTED_TIME_LEFT_H
#define ORCH_LIB_WIRE_PRINTED_TIME_LEFT_H

#include <stdbool.h>

/** True for a time that is left ("ETA: 3s", "time remaining 5 min", eta_seconds=12) and for the
 * number of a log ("v_num=0" of Lightning). `name` is as in orch_printed_value. A name such as eta
 * is one of these only with a unit of time, as it is also that of a learning rate. */
bool orch_printed_is_time_left(const char *name, const char *unit);

#endif
