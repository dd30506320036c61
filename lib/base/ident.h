/* SPDX-License-Identifier: MIT */
/* Identities: run keys, points in time, users, and processes distinguishable from later ones with
 * the same pid. */
#ifndef ORCH_BASE_IDENT_H
#define ORCH_BASE_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define ORCH_KEY_CHARS 37 /* a UUID as text with its NUL */

/** Writes a new UUIDv7 (RFC 9562): time-ordered, and ascending within a process. */
void orch_key_make(char out[ORCH_KEY_CHARS]);
/** True for a UUID as orch_key_make writes it: 36 characters, lower case. */
bool orch_key_is_valid(const char *key);

/** Wall-clock time, UTC, nanoseconds since 1970. */
int64_t orch_now_ns(void);
/** A time of the kernel, as of a file, in nanoseconds since 1970. */
int64_t orch_timespec_ns(struct timespec time);
/** How far the times of files may lag behind orch_now_ns(): a tick of the kernel's clock, 10 ms at
 * most. */
#define ORCH_FILE_TIME_LAG_NS INT64_C(10000000)
/** Formats the age of a wall-clock time: "42 s ago", "2 d ago". Caller frees. */
char *orch_ago_format(int64_t utc_ns);
/** Monotonic time, nanoseconds, for durations. */
int64_t orch_mono_ns(void);
/** Nanoseconds since this machine started, with the time in which it slept. No clock setting
 * changes it, and all processes of the machine have the same. */
int64_t orch_boot_ns(void);

/** A process on this machine, unique across reboots. */
struct orch_process {
    char boot_id[ORCH_KEY_CHARS];
    int64_t pid;
    int64_t start; /* clock ticks since boot, field 22 of /proc/PID/stat */
};

/** Describes process `pid`; false if there is none. */
bool orch_process_get(pid_t pid, struct orch_process *out);
/** True if exactly this process is still running (a zombie is not). False for one of another
 * boot. */
bool orch_process_is_alive(const struct orch_process *process);

/** When a process started, as orch_boot_ns, cut to a clock tick. */
int64_t orch_process_start_ns(const struct orch_process *process);
/** The effective user of a process; false if there is none, or it is hidden. */
bool orch_process_owner(pid_t pid, uid_t *out_uid);

/** True if a process is stopped by a signal (SIGSTOP, Ctrl-Z). */
bool orch_process_is_stopped(pid_t pid);

/* ---- people ------------------------------------------------------------------------------------
 * A person is written "Ada Lovelace <ada@example.org>", or as a bare name ("ada"). */

/** Name of the current user: the name that was set, else $ORCH_USER, else the finder's result, else
 * the login name. One line, never NULL. */
const char *orch_user_name(void);
/** Sets the user's name (cleaned with orch_who_clean); NULL or "" unsets it. */
void orch_user_set(const char *who);
/** Sets a function that finds the user's name if neither a set name nor $ORCH_USER exists. It is
 * called once, when first needed, and returns NULL or a string that the caller frees. */
void orch_user_set_finder(char *(*find)(void *ctx), void *ctx);

/** Turns text into a one-line name, in place: valid UTF-8 without control characters or surrounding
 * spaces, at most 200 bytes. Returns `who`. */
char *orch_who_clean(char *who);
/** The name before the address ("Ada Lovelace"), for tables; the whole text if there is no address
 * or no name before it. NULL for NULL. Caller frees. */
char *orch_who_name(const char *who);
/** The address ("ada@example.org"), also if the text is only an address; NULL if there is none.
 * Caller frees. */
char *orch_who_address(const char *who);
/** True if `text` names this person by the full text, the name, or the address (ignoring case). */
bool orch_who_matches(const char *who, const char *text);
/** True if both are the same person: equal full texts, names, or addresses (ignoring case). Also
 * true for the current user and their login name, if the user has an address, because runs made
 * before git knew the user's name are recorded with the login name. False for two NULLs. */
bool orch_who_is_same(const char *a, const char *b);

#endif
