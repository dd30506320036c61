/* SPDX-License-Identifier: MIT */
/* How a trial ended: one closed table. A word that this version does not know is kept as text. */
#ifndef ORCH_WIRE_VERDICT_H
#define ORCH_WIRE_VERDICT_H

#include <stdbool.h>

enum orch_verdict {
    ORCH_VERDICT_OK,
    ORCH_VERDICT_FAILED,
    ORCH_VERDICT_SKIPPED,
    ORCH_VERDICT_CANCELLED,
    ORCH_VERDICT_DIVERGED,
    ORCH_VERDICT_CRASHED,
    ORCH_VERDICT_TIMEOUT,
    ORCH_VERDICT_LOST,
    ORCH_VERDICT_PREEMPTED,
    ORCH_VERDICT_PROTOCOL,
    ORCH_VERDICT_UNKNOWN, /* a word of another version */
};

/** What the rest of the program asks of a verdict. */
struct orch_verdict_facts {
    const char *name;    /* as stored: "ok", "failed", ..., "protocol-error" */
    const char *meaning; /* for people, one line */
    bool spares;         /* a run with this verdict spares an equal trial (ok, diverged) */
    bool retried; /* may be tried again: lost and preempted by default, timeout where asked */
    bool fault;   /* counts as "some trial failed" (exit 1) */
};

const struct orch_verdict_facts *orch_verdict_facts(enum orch_verdict verdict);
const char *orch_verdict_name(enum orch_verdict verdict);
/** ORCH_VERDICT_UNKNOWN for a word that is not in the table. */
enum orch_verdict orch_verdict_parse(const char *name);

/** All that a host knows when a trial's processes have ended. */
struct orch_ending {
    enum orch_verdict stopped; /* why the host stopped it; ORCH_VERDICT_OK: it did not. PROTOCOL: it
                                  broke the protocol and was ended for that */
    bool has_done;             /* a `done` event came */
    bool done_first;           /* it came before the host began to stop the trial */
    enum orch_verdict done;    /* what it said */
    bool needs_done;           /* ending without `done` breaks the protocol */
    bool has_error;            /* an `error` event came */
    int exit_code;             /* when signal is 0 */
    int signal;                /* that ended the process; 0: it exited */
};

/** `done` and exit status together: the one table of how a trial ended. A trial that says ok after
 * it was told to stop was stopped: what it did is not the whole of it. */
enum orch_verdict orch_verdict_judge(const struct orch_ending *ending);

#endif
