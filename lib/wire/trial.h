/* SPDX-License-Identifier: MIT */
/* TRIALDIR/trial.json: all that orch-host needs to run one trial, here or on a cluster node.
 *
 * In TRIALDIR: trial.json (written by the runner), journal (by the host), work/ (the trial's
 * current folder; artifacts are made there), stdout and stderr (captured, bounded). */
#ifndef ORCH_WIRE_TRIAL_H
#define ORCH_WIRE_TRIAL_H

#include "lib/base/ident.h"
#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

#define ORCH_TRIAL_FORMAT 1

struct orch_trial {
    char *key;                 /* run key (UUID) */
    char *recipe, *experiment; /* names, for messages; recipe may be NULL (orch try) */
    uint64_t seed;
    int repeat; /* from 1 */
    bool smoke;
    struct orch_manifest *manifest;
    char *plugin_sha256; /* only these bytes of a compiled plugin may be loaded; NULL: any */
    json_t *params;      /* object of canonical values; paths and artifacts are absolute */
    char *cwd; /* wrapped programs: where the command starts (a work copy of the source tree);
                  NULL: TRIALDIR/work */
    char *checkpoint_dir; /* absolute; made by the runner */
    char **env; /* NAME=value, added to the inherited environment; NULL-terminated or NULL */
    int *cpus;  /* CPU numbers to pin to */
    unsigned cpu_count;         /* 0: not pinned */
    double limit_s;             /* wall time; 0: none */
    int64_t limit_memory_bytes; /* 0: none */
    int64_t limit_log_bytes; /* of stdout and of stderr each; 0: 16 MiB. First and last halves are
                                kept, the middle is dropped and said */
    double grace_s; /* between cancel and SIGTERM, and between SIGTERM and SIGKILL; 0: half of
                       limit_s, from 0.5 to 5 s; without limit_s 5 s */
    bool detached;    /* go on when the runner dies */
    bool is_followed; /* nothing is started: events come on the host's standard input, from a
                         program that orch did not start (orch record) */
    struct orch_process follow; /* that program; pid 0: not known, its events end with the input */
};

/** The seed as programs get it: the low 31 bits of the trial's (0 to 2^31 - 1). numpy.random.seed,
 * srand and a C int take it as it is; the whole 64 bits, which they refuse or cut, are `seed64`. */
static inline uint32_t orch_trial_seed31(uint64_t seed)
{
    return (uint32_t)(seed & 0x7fffffffu);
}

struct orch_trial *orch_trial_new(void);
void orch_trial_free(struct orch_trial *trial);

/** New reference. */
json_t *orch_trial_encode(const struct orch_trial *trial);
/** NULL with ORCH_ERROR_PROTOCOL. */
struct orch_trial *orch_trial_decode(const json_t *json, GError **error);

#endif
