/* SPDX-License-Identifier: MIT */
/* TRIALDIR/trial.json: everything orch-host needs to run one trial, locally or on a cluster node.
 *
 * TRIALDIR contains trial.json (written by the runner), journal (by the host), work/ (the trial's
 * current folder, where artifacts are made), files/ (a program's {trial_dir}), runs/, stdout and
 * stderr (captured, bounded). */
#ifndef ORCH_WIRE_TRIAL_H
#define ORCH_WIRE_TRIAL_H

#include "lib/base/ident.h"
#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

#define ORCH_TRIAL_FORMAT 1

/** A file in TRIALDIR, written by the host: what the trial's processes opened
 * (core/host/opened_files.h). */
#define ORCH_OPENED_FILES "opened.json"

/** Folders in TRIALDIR: the current folder of a plugin, and what ${trial_dir} and ORCH_TRIAL_DIR
 * name for a program. What a trial leaves there is kept (core/inputs/left_files.h), so the host's
 * own files are not among it. */
#define ORCH_TRIAL_WORK "work"
#define ORCH_TRIAL_FILES "files"

/** The folder in TRIALDIR through which a program's processes reach the host, and where its further
 * runs are (ORCH_RUNS; core/host/join_pipe.h, core/record/further_runs.h). */
#define ORCH_TRIAL_RUNS "runs"

/** A file in TRIALDIR, written by the host: a line for each alert that has fired
 * (lib/wire/alert.h). */
#define ORCH_TRIAL_ALERTS "alerts"

struct orch_trial_spec {
    char *key;                 /* run key (UUID) */
    char *recipe, *experiment; /* names for messages; recipe may be NULL (orch try) */
    uint64_t seed;
    int repeat; /* from 1 */
    bool smoke;
    struct orch_manifest *manifest;
    char *plugin_sha256; /* only this content of a compiled plugin may be loaded; NULL: any */
    json_t *params;      /* object of canonical values; paths and artifacts are absolute */
    char *cwd;     /* wrapped programs: folder where the command starts: the user's (absolute), or a
                      copy of the captured tree (relative to TRIALDIR); NULL: TRIALDIR/work */
    json_t *apart; /* the folder apart in which it runs (core/host/apart_view.h); NULL: none */
    json_t *watch; /* which opened files are noted (core/host/opened_files.h); NULL: none */
    json_t
        *alerts; /* [{"when": a condition, "stop": whether it ends the trial}, ...]; NULL: none */
    char *checkpoint_dir; /* absolute; made by the runner */
    char **env;      /* NAME=value, added to the inherited environment; NULL-terminated or NULL */
    char **launcher; /* words in front of a program's command; "%env" among them stands for --env
                        NAME of each variable of the trial, "%folder" for its current folder; NULL:
                        none */
    int *cpus;       /* CPU numbers to pin to */
    unsigned cpu_count;         /* 0: not pinned */
    unsigned threads, gpus;     /* of its slot; threads 0: not known */
    unsigned ranks;             /* processes that MPI starts; 0: the plugin does not use MPI */
    double usd_per_hour;        /* of a device of the slot: a GPU, else the machine; 0: not known */
    char *price_from;           /* source of that price; NULL: not known */
    double limit_s;             /* wall time; 0: none */
    int64_t limit_memory_bytes; /* 0: none */
    int64_t limit_log_bytes;  /* for each of stdout and stderr; 0: 16 MiB. The first and last halves
                                 are kept; a note marks the dropped middle */
    double system_interval_s; /* between samples of processor, memory and GPUs; 0: none are made */
    double grace_s;   /* between cancel and SIGTERM, and between SIGTERM and SIGKILL; 0: half of
                         limit_s within 0.5 to 5 s, or 5 s without limit_s */
    bool detached;    /* continue if the runner dies */
    bool is_followed; /* start nothing: events arrive on the host's standard input, from a program
                         that orch did not start (orch record) */
    struct orch_process follow; /* that program; pid 0: unknown, events end with the input */
    int64_t past_started_ns, past_ended_ns; /* when its events come from a file; 0: now */
};

/** The 31-bit seed for programs: the low 31 bits of the trial's seed (0 to 2^31 - 1), which
 * numpy.random.seed, srand and a C int accept. `seed64` is the whole seed. */
static inline uint32_t orch_trial_seed31(uint64_t seed)
{
    return (uint32_t)(seed & 0x7fffffffu);
}

struct orch_trial_spec *orch_trial_new(void);
void orch_trial_free(struct orch_trial_spec *trial);

/** New reference. */
json_t *orch_trial_encode(const struct orch_trial_spec *trial);
/** Fails with NULL and ORCH_ERROR_PROTOCOL. */
struct orch_trial_spec *orch_trial_decode(const json_t *json, GError **error);
/** Reads TRIALDIR/trial.json; a relative `cwd` is resolved against the trial's folder. NULL on
 * error. */
struct orch_trial_spec *orch_trial_read(const char *trial_dir, GError **error);

#endif
