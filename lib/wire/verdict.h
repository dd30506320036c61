/* SPDX-License-Identifier: MIT */
/* How a trial ended: a closed table. A word unknown to this version is kept as text. */
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
    ORCH_VERDICT_PRUNED,  /* its metrics count as far as they go, its last value is no result */
    ORCH_VERDICT_UNKNOWN, /* a word from another version */
};

/** Properties of a verdict. */
struct orch_verdict_facts {
    const char *name;    /* as stored: "ok", "failed", ..., "pruned" */
    const char *meaning; /* one line for people */
    bool is_reused;      /* a run with this verdict is reused for an equal trial (ok, diverged) */
    bool retried;        /* may be retried: lost and preempted by default, timeout on request */
    bool fault;          /* counts as a failed trial (exit 1) */
};

/** Name of a run's fact: the name (as in CUDA_VISIBLE_DEVICES) of a GPU that was lost while it
 * ran. */
#define ORCH_FACT_LOST_GPU "lost_gpu"
/** Fact of a run: the files that it depends on and that somebody else wrote, replaced or removed
 * while it ran, a list of names. Such a run is not reused. */
#define ORCH_FACT_REWRITTEN "rewritten"
/** Fact of a run: the names of the artifacts that its manifest declares with a path at which it has
 * written no file, a list. */
#define ORCH_FACT_UNMADE "unmade"
/** Facts of a run whose opened files were noted (core/inputs/opened.h): {read, gaps}, the number of
 * files that it read and a list of texts, which say what may be missing (absent: nothing); the
 * names of files that it wrote and had not read before, and of those that it had. Or why they were
 * not noted. */
#define ORCH_FACT_WATCHED "watched"
#define ORCH_WATCHED_GAPS "gaps"
#define ORCH_FACT_WROTE "wrote"
#define ORCH_FACT_READ_AND_WRITTEN "read_and_written"
#define ORCH_FACT_UNWATCHED "unwatched"
/** Fact of such a run: the numbers of the words of its command, from 0, that name a file or folder
 * which it wrote and did not read. */
#define ORCH_FACT_WRITTEN_WORDS "written_words"
/** Fact of such a run: a digest of the path of the folder in which the names of files begin, which
 * tells clones apart on one machine. */
#define ORCH_FACT_PLACE "place"
/** Fact of a run: the files that it read and wrote and that another run had written before, with
 * the key of that run, an object of at most ORCH_CARRIED_MAX members. */
#define ORCH_FACT_CARRIED "carried"
#define ORCH_CARRIED_MAX 50
/** Facts of a run that tell a changed comment from changed code (core/inputs/scripts.h): its
 * fingerprint with Python scripts without their comments, and the digests of such scripts among the
 * files that it read, by name. */
#define ORCH_FACT_CODE_FINGERPRINT "code_fingerprint"
#define ORCH_FACT_READ_CODE "read_code"

/** Facts that a trial's program called start() several times: of the trial the keys of its further
 * runs, a list of at most ORCH_FURTHER_MAX; of such a run the key of the trial. */
#define ORCH_FACT_FURTHER_RUNS "further_runs"
#define ORCH_FURTHER_MAX 50
#define ORCH_FACT_TRIAL "trial"
/** Fact of a trial: the parameters that its program gave to start() and that are none of the
 * trial's. */
#define ORCH_FACT_STARTED_WITH "started_with"
/** Facts of what a trial's program logged to files: its settings (an object), the files whose
 * values were taken ([path, format, points]) and those whose were not ([path, why]). */
#define ORCH_FACT_LOGGED_SETTINGS "logged_settings"
#define ORCH_FACT_LOGGED_FILES "logged_files"
#define ORCH_FACT_UNLOGGED_FILES "unlogged_files"

const struct orch_verdict_facts *orch_verdict_facts(enum orch_verdict verdict);
const char *orch_verdict_name(enum orch_verdict verdict);
/** Returns ORCH_VERDICT_UNKNOWN for a word that is not in the table. */
enum orch_verdict orch_verdict_parse(const char *name);

/** What a host knows when a trial's processes have ended. */
struct orch_ending {
    enum orch_verdict stopped; /* why the host stopped it; ORCH_VERDICT_OK: it did not. PROTOCOL: it
                                  violated the protocol */
    bool has_done;             /* a `done` event arrived */
    bool done_first;           /* it arrived before the host began to stop the trial */
    enum orch_verdict done;    /* status of the `done` event */
    bool needs_done;           /* ending without `done` violates the protocol */
    bool has_error;            /* an `error` event arrived */
    int exit_code;             /* if signal is 0 */
    int signal;                /* that ended the process; 0: it exited */
};

/** Combines `done` and the exit status into the verdict. A trial that reports ok after it was told
 * to stop counts as stopped, because its work may be incomplete. */
enum orch_verdict orch_verdict_judge(const struct orch_ending *ending);

#endif
