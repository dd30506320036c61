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

/** True when a process is stopped by a signal (SIGSTOP, Ctrl-Z). */
bool orch_process_is_stopped(pid_t pid);

/* ---- people ------------------------------------------------------------------------------------
 * A person is written "Ada Lovelace <ada@example.org>", or as a bare name ("ada"). */

/** Who runs this: what was set, else $ORCH_USER, else what the finder knows, else the login name.
 * Never NULL, of one line. */
const char *orch_user_name(void);
/** From now on it is `who` (cleaned as orch_who_clean does); NULL or nothing: not set. */
void orch_user_set(const char *who);
/** Who knows the user's name where neither set nor $ORCH_USER do: asked once, when first needed.
 * Answers NULL or a text that the caller frees. */
void orch_user_set_finder(char *(*find)(void *ctx), void *ctx);

/** A text as a name of one line: no control characters, no spaces at its ends, valid UTF-8, at most
 * 200 bytes. Changes it in place and returns it. */
char *orch_who_clean(char *who);
/** What stands before the address ("Ada Lovelace"), for tables; the whole where there is no address
 * or nothing before it. The caller frees; NULL for NULL. */
char *orch_who_name(const char *who);
/** The address ("ada@example.org"), also of a text that is nothing else. The caller frees; NULL:
 * there is none. */
char *orch_who_address(const char *who);
/** Does `text` name this person: the full text, the name, or the address (whatever its case)? */
bool orch_who_matches(const char *who, const char *text);
/** Are both the same person? Equal full texts, equal names, or equal addresses (whatever their
 * case). And, as runs from before somebody told git a name carry a login name: when who runs this
 * has an address, the login name is the same person, here. Two NULLs are not. */
bool orch_who_is_same(const char *a, const char *b);

#endif
