/* SPDX-License-Identifier: MIT */
/* Dates and times of day as logs print them, which measure nothing. */
#ifndef ORCH_WIRE_PRINTED_TIME_H
#define ORCH_WIRE_PRINTED_TIME_H

/** The position after a date, a time of day, or both, with its zone and its half of the day, at
 * `at`: "2026-11-22T09:00:05.123Z", "22/Nov/2026:09:00:05 +0100", "Sun Nov 22 09:00:05 UTC 2026",
 * "9:05 PM". NULL if there is none. */
const char *orch_printed_time_end(const char *at, const char *end);

#endif
