/* SPDX-License-Identifier: MIT */
/* Identities: run keys, points in time, processes that may be told from a later one of the same
 * number. */
#ifndef ORCH_BASE_IDENT_H
#define ORCH_BASE_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ORCH_KEY_CHARS 37 /* a UUID as text with its NUL */

/** Writes a new UUIDv7 (RFC 9562): time-ordered, rising within a process. */
void orch_key_make(char out[ORCH_KEY_CHARS]);
/** True for a UUID as orch_key_make writes it: 36 characters, lower case. */
bool orch_key_is_valid(const char *key);

/** Wall-clock time, UTC, nanoseconds since 1970. */
int64_t orch_now_ns(void);
/** Monotonic time, nanoseconds, for durations. */
int64_t orch_mono_ns(void);

/** A process on this machine since it booted. */
struct orch_process {
    char boot_id[ORCH_KEY_CHARS];
    int64_t pid;
    int64_t start; /* clock ticks since boot, field 22 of /proc/PID/stat */
};

/** Describes process `pid`; false when there is none. */
bool orch_process_get(pid_t pid, struct orch_process *out);
/** True when that very process still runs (a zombie does not). A process of another boot is dead.
 */
bool orch_process_is_alive(const struct orch_process *process);

/** Who runs this: $ORCH_USER, else the login name. Never NULL. */
const char *orch_user_name(void);

#endif
