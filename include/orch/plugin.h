/* SPDX-License-Identifier: MIT */
/*
 * orch/plugin.h - the binary interface between orch-host and a compiled plugin.
 *
 * A plugin is a shared object that exports one symbol, orch_plugin_v1(), which returns a static
 * descriptor. The symbol's name carries the major version; within a major version structures only
 * grow at their end, and every table carries its stride, so an older plugin runs under a newer host
 * and the other way round. The header needs nothing but C11 (or C++17) and no library: services of
 * the host come as a table of function pointers, so a plugin has no undefined orch_* symbol.
 *
 * Life of a trial, all in one process that runs nothing else:
 *
 *     check(params)            cheap, no side effects, works without a GPU; names what will be read
 *     cost(params)             pure; what the trial will do, in the predictors' terms
 *     open(params) -> state    loads engines and data (heavy libraries: here, and only here)
 *     run(state, params)       does the work, reports through the host
 *     close(state)             frees what open made; called whenever open returned ORCH_OK
 *
 * check and cost may be called many times, in any order, by `orch-host --batch`, never between open
 * and close. All hooks are called on one thread. The host's services may be called from any thread
 * of the plugin.
 *
 * A whole plugin:
 *
 *     struct params { int64_t steps; double lr; };
 *     static const struct orch_param PARAMS[] = {
 *         ORCH_PARAM(struct params, steps, ORCH_INT, .def = "10", .min = "1",
 *                    .label = "steps", .help = "steps to take"),
 *         ORCH_PARAM(struct params, lr, ORCH_REAL, .def = "0.1", .min = "0",
 *                    .label = "learning rate", .help = "step size of SGD"),
 *     };
 *     static const struct orch_metric METRICS[] = {
 *         {.name = "loss", .better = ORCH_BETTER_MIN, .step_unit = "step",
 *          .label = "training loss", .help = "mean of the step's samples"},
 *     };
 *     static int run(void *state, const void *params, const struct orch_host *host)
 *     {
 *         const struct params *p = params;
 *         for (int64_t i = 0; i < p->steps && !host->cancelled(host); i++)
 *             host->metric(host, "loss", i, 1.0 / (1.0 + p->lr * (double)i));
 *         return ORCH_OK;
 *     }
 *     static const struct orch_plugin PLUGIN = {
 *         ORCH_PLUGIN_HEAD, .name = "hello", .version = "1.0.0", .summary = "a falling loss",
 *         .licence = "MIT", .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS),
 *         ORCH_TABLE(metrics, METRICS), .run = run };
 *     ORCH_PLUGIN_EXPORT(PLUGIN)
 */
#ifndef ORCH_PLUGIN_H
#define ORCH_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** First eight bytes of every descriptor: "ORCHPLUG", little endian. */
#define ORCH_PLUGIN_MAGIC UINT64_C(0x47554c504843524f)
#define ORCH_ABI_MAJOR 1
/** 1.1 appended orch_cost.unit to .steps and orch_host.slot; 1.2 appended orch_host.no_effect;
 * 1.3 appended orch_param.label, and orch_metric.label, .min and .max. */
#define ORCH_ABI_MINOR 3
/** The one symbol that the host looks up. */
#define ORCH_PLUGIN_SYMBOL "orch_plugin_v1"

/**
 * Parameter types, and their layout in the plugin's own struct (at `offset`). Strings are UTF-8,
 * owned by the host, valid until the process ends; an optional one without a value is NULL. A list
 * type is `ORCH_LIST | element type` with the layout of a struct orch_list.
 */
enum orch_type {
    ORCH_BOOL = 1,     /* bool */
    ORCH_INT = 2,      /* int64_t */
    ORCH_REAL = 3,     /* double, finite */
    ORCH_STRING = 4,   /* const char * */
    ORCH_ENUM = 5,     /* const char *, one of `choices` */
    ORCH_PATH = 6,     /* const char *, absolute when it reaches the plugin */
    ORCH_ARTIFACT = 7, /* const char *, absolute path of a file that an earlier trial made */
    ORCH_DURATION = 8, /* double, seconds; written 90, 30s, 5min, 2h, 1d */
    ORCH_BYTES = 9,    /* int64_t, bytes; written 4096, 64KiB, 4MiB, 2GB */
    ORCH_MONEY = 10,   /* double, US dollars; written 0.90 or $0.90 */
    ORCH_SECRET = 11,  /* const char *; recorded only as a keyed digest */
    ORCH_LIST = 0x100
};

/** A list parameter: `count` elements of the element type's C type, back to back. */
struct orch_list {
    size_t count;
    const void *items;
};

/** One row of the parameter table. Texts are parsed by the same rules as a recipe's values. */
struct orch_param {
    const char *name; /* [a-z][a-z0-9_]*, at most 63 characters */
    uint32_t type;    /* enum orch_type, perhaps with ORCH_LIST */
    uint32_t flags;   /* ORCH_PARAM_* */
    size_t offset;    /* offsetof in the plugin's parameter struct */
    const char *unit; /* "s", "images/s", ...; NULL: none */
    const char *min;  /* inclusive; of each element for lists; NULL: no bound */
    const char *max;
    const char *def;            /* default as text ("[]" for an empty list); NULL: see flags */
    const char *const *choices; /* NULL-terminated; for ORCH_ENUM, and lists of it */
    const char *help;

    /* Since ABI 1.3. */
    const char *label; /* what people read instead of the name: "learning rate" */
};

/** A parameter without default is required unless it carries this flag; then it is NULL or 0. */
#define ORCH_PARAM_OPTIONAL 1u
/** Does not change what is measured (verbosity, worker threads of a loader whose batches do not
 * depend on their number): excluded from the fingerprint, unless a sweep gives its value. */
#define ORCH_PARAM_NEUTRAL 2u

enum orch_better { ORCH_BETTER_NONE = 0, ORCH_BETTER_MIN = 1, ORCH_BETTER_MAX = 2 };

/** One metric or result. Only declared names may be reported. */
struct orch_metric {
    const char *name;      /* [a-z][a-z0-9_]*, at most 63 characters */
    const char *unit;      /* "s", "images/s", "%"; NULL: a plain number */
    uint32_t better;       /* enum orch_better */
    uint32_t flags;        /* 0 */
    const char *step_unit; /* "epoch", "step", ...; NULL: a result, one value a trial */
    const char *help;

    /* Since ABI 1.3. */
    const char *label; /* what people read instead of the name, without the unit: "training loss" */
    const char *min;   /* values beyond these are impossible: "0" and "1" of an accuracy. NULL: */
    const char *max;   /* no bound */
};

/** One file that a trial leaves for others: `${experiment.name}` in a recipe. */
struct orch_artifact {
    const char *name;
    const char *help;
};

/** What a trial needs at least; a recipe's `resources` may ask for more. */
struct orch_needs {
    uint32_t gpus;
    uint32_t threads;
    uint64_t memory_bytes;
    uint32_t mpi; /* 1: started as `ranks` processes by mpirun or srun (struct orch_slot); 2: built
                     for one process, without MPI, so that trials of several ranks are skipped */
    uint32_t reserved;
};

/** Its metrics are timings: runs alone on its slot, and its `reuse` is `device`. */
#define ORCH_PLUGIN_TIMING 1u

/** Result of `cost`: the trial in the predictors' terms. Zero or NULL: does not apply. */
struct orch_cost {
    uint32_t struct_bytes;
    uint32_t workers;      /* data-parallel learners */
    const char *network;   /* a name of `orch net ls` */
    const char *precision; /* fp32, fp32-ieee, tf32, fp16, bf16, fp64 */
    const char *framework; /* "libtorch 1.13.1" */
    const char *input;     /* CxHxW */
    int64_t images;        /* an epoch */
    int64_t batch;         /* images a step and worker */
    int64_t classes;
    double epochs;
    uint32_t training; /* 1: forward and backward; 0: forward only */
    uint32_t reserved;

    /* Since ABI 1.1. Ask orch_cost_has before writing: an older host has no room for them. */
    const char *unit; /* what a step computes: "samples", "frames", "tokens"; NULL: images */
    int64_t samples;  /* units a step and worker; 0: `batch` */
    int64_t copies;   /* of each sample in its batch (batch augmentation); 0: one */
    int64_t actors;   /* processes that fill a replay buffer beside the learners */
    int64_t steps;    /* updates in all, where there are no epochs or no fixed set of images */
};

/** What a hook returns; any other value counts as ORCH_FAILED. */
enum orch_status {
    ORCH_OK = 0,
    ORCH_FAILED = 1,    /* say why with host->fail */
    ORCH_SKIPPED = 2,   /* cannot run here (no CUDA device): say why with host->fail */
    ORCH_DIVERGED = 3,  /* the loss is not finite: a result, not a fault */
    ORCH_CANCELLED = 4, /* stopped because host->cancelled said so */
};

enum orch_log_level { ORCH_LOG_DEBUG = 0, ORCH_LOG_INFO = 1, ORCH_LOG_WARNING = 2 };

/**
 * What the trial's slot gives to this process. Set struct_bytes to sizeof(struct orch_slot) before
 * calling `slot`. The host fills the members that both sides have, and sets struct_bytes to the
 * bytes that it filled; members beyond those are unchanged.
 */
struct orch_slot {
    uint32_t struct_bytes;
    uint32_t threads;      /* computing threads for this process, at least 1 */
    uint32_t gpus;         /* GPUs of the trial: CUDA's devices 0 to gpus - 1, for all its ranks */
    uint32_t rank;         /* this process, from 0; 0 without needs.mpi */
    uint32_t ranks;        /* processes of the trial; 1 without needs.mpi */
    uint32_t local_rank;   /* this process among the trial's on this machine, from 0 */
    uint64_t memory_bytes; /* limit for all processes of the trial together; 0: none */
    /* Price of an hour of one device: of a GPU where the trial has any, else of the machine. Its
     * source is "aws p2.xlarge, us-east-1, as of 2022-12" or "--price". 0 and NULL: not known. */
    double usd_per_hour;
    const char *price_from;
};

/**
 * Services of the host. Append-only: a service beyond `struct_bytes` does not exist. Every text is
 * copied before the call returns. None of them fails: what cannot be delivered ends the trial.
 */
struct orch_host {
    uint32_t struct_bytes;
    uint32_t abi_minor;
    void *ctx; /* the host's own */

    /** A point of a declared metric. `step` >= 0; a later value of the same step replaces it. NaN
     * and infinities are kept. Batched: costs well under a microsecond. */
    void (*metric)(const struct orch_host *, const char *name, int64_t step, double value);
    /** The value of a declared result, once a trial; a later one replaces it. */
    void (*result)(const struct orch_host *, const char *name, double value);
    /** Progress: `done` of `total` (any unit; total 0: unknown). Shown live, not recorded. */
    void (*progress)(const struct orch_host *, double done, double total);
    /** Names the current activity ("loading data", "training"). Shown live, not recorded. */
    void (*phase)(const struct orch_host *, const char *name);
    /** Hands over a file of the working folder, or an absolute path, under a declared name; it is
     * read when the hook returns and kept by content. The file must not change afterwards. */
    void (*artifact)(const struct orch_host *, const char *name, const char *path);
    /** A sentence about this trial that a reader of its record should see. */
    void (*note)(const struct orch_host *, const char *text);
    /** A line for the trial's log. `level` is an enum orch_log_level. In check, a warning is shown
     * to the user before trials run, once for an experiment. */
    void (*log)(const struct orch_host *, int level, const char *text);
    /** Why the hook is about to return something other than ORCH_OK. The last one is kept. */
    void (*fail)(const struct orch_host *, const char *text);
    /** True once the trial should end: return soon, having saved a checkpoint if that is cheap. */
    bool (*cancelled)(const struct orch_host *);
    /** The seed of a named stream ("init", "shuffle"), the same for one trial seed and name. */
    uint64_t (*derive_seed)(const struct orch_host *, const char *stream);
    /** A folder that survives the attempts of this trial; NULL in check and cost. */
    const char *(*checkpoint_dir)(const struct orch_host *);
    /** In check: names something that will be read, and its SHA-256 (64 hex digits): it becomes
     * part of the fingerprint. */
    void (*input)(const struct orch_host *, const char *name, const char *sha256);
    /** True in a smoke run: two steps on synthetic data of the declared shape, nothing more. */
    bool (*smoke)(const struct orch_host *);
    /** SHA-256 (64 hex digits) of a file for `input`, cached by path, size and time; NULL, with the
     * reason given to `fail`, when it cannot be read. Valid until the hook returns. */
    const char *(*file_digest)(const struct orch_host *, const char *path);

    /* Since ABI 1.1. Ask orch_host_has before calling: an older host does not have them. */

    /** Fills `out`: the threads, GPUs and memory of this trial, and the rank of this process. The
     * values are the same during the whole trial. In check, which belongs to no trial, it describes
     * one process with one thread. */
    void (*slot)(const struct orch_host *, struct orch_slot *out);

    /* Since ABI 1.2. */

    /** In check: reports that a parameter has no effect with the given values of the others, such
     * as the algorithm of an all-reduce with one worker. It is then left out of the fingerprint, so
     * trials that differ only in it run once. */
    void (*no_effect)(const struct orch_host *, const char *param);
};

/** True if the host has a service: `if (orch_host_has(host, slot)) host->slot(host, &slot);` */
#define orch_host_has(host, member)                                                                \
    ((host)->struct_bytes >= offsetof(struct orch_host, member) + sizeof((host)->member))
/** True if the host reads a member of struct orch_cost, and there is room for it in `cost`. */
#define orch_cost_has(cost, member)                                                                \
    ((cost)->struct_bytes >= offsetof(struct orch_cost, member) + sizeof((cost)->member))

/**
 * MPI (needs.mpi = 1): the host starts the plugin as several processes, the ranks, which all run
 * open, run and close with the same parameters and seed. The plugin calls MPI_Init (or
 * MPI_Init_thread) in open or run, and MPI_Finalize in every rank before its last hook returns,
 * also when that fails. Rank 0 reports: metric, result, progress, phase and artifact of other ranks
 * do nothing, and what they pass to log, note and fail carries "rank N: " in front. Every rank
 * should call `cancelled`. A rank that dies, or that returns something other than ORCH_OK while the
 * others go on, ends the trial. check and cost run outside of MPI.
 */

/** The descriptor. Everything it points at is static and constant. */
struct orch_plugin {
    uint64_t magic; /* ORCH_PLUGIN_MAGIC */
    uint32_t abi_major;
    uint32_t abi_minor;       /* of the header it was built with */
    uint32_t struct_bytes;    /* sizeof(struct orch_plugin) */
    uint32_t param_stride;    /* sizeof(struct orch_param) */
    uint32_t metric_stride;   /* sizeof(struct orch_metric) */
    uint32_t artifact_stride; /* sizeof(struct orch_artifact) */

    const char *name;      /* [a-z][a-z0-9_-]*: the file is NAME.so */
    const char *version;   /* semantic version: raise it when results may change */
    const char *build;     /* anything that tells two builds of one version apart; NULL: none */
    const char *summary;   /* one line */
    const char *licence;   /* SPDX identifier */
    uint32_t flags;        /* ORCH_PLUGIN_* */
    uint32_t params_bytes; /* size of the parameter struct */
    struct orch_needs needs;

    const struct orch_param *params;
    size_t param_count;
    const struct orch_metric *metrics;
    size_t metric_count;
    const struct orch_artifact *artifacts;
    size_t artifact_count;

    /** Checks that the parameters are consistent, and names the inputs. No side effects; under 50
     * ms (digests of large files are cached by the host). Optional. */
    int (*check)(const void *params, const struct orch_host *host);
    /** Describes what the trial will do. Pure. `out` is zeroed, struct_bytes set to what the host
     * has room for. Optional. */
    int (*cost)(const void *params, struct orch_cost *out);
    /** Loads what run needs; `*out_state` is passed on. Optional. */
    int (*open)(const void *params, const struct orch_host *host, void **out_state);
    /** The work. `state` is NULL when there is no open. Required. */
    int (*run)(void *state, const void *params, const struct orch_host *host);
    /** Frees `state`. Optional. */
    void (*close)(void *state);
};

#define ORCH_PLUGIN_HEAD                                                                           \
    .magic = ORCH_PLUGIN_MAGIC, .abi_major = ORCH_ABI_MAJOR, .abi_minor = ORCH_ABI_MINOR,          \
    .struct_bytes = sizeof(struct orch_plugin), .param_stride = sizeof(struct orch_param),         \
    .metric_stride = sizeof(struct orch_metric), .artifact_stride = sizeof(struct orch_artifact)

/** A row of the parameter table for member `member` of `struct_type`, of the same name. */
#define ORCH_PARAM(struct_type, member, kind, ...)                                                 \
    {                                                                                              \
        .name = #member, .type = (kind), .offset = offsetof(struct_type, member), __VA_ARGS__      \
    }

/** Sets a table and its count: ORCH_TABLE(metrics, METRICS), after the member's singular. */
#define ORCH_TABLE(member, array)                                                                  \
    .member = (array), ORCH_TABLE_COUNT_##member = sizeof(array) / sizeof((array)[0])
#define ORCH_TABLE_COUNT_params .param_count
#define ORCH_TABLE_COUNT_metrics .metric_count
#define ORCH_TABLE_COUNT_artifacts .artifact_count

#ifdef __cplusplus
#define ORCH_EXTERN_C extern "C"
#else
#define ORCH_EXTERN_C
#endif

/** Exports the descriptor. Once in a plugin, at file scope. */
#define ORCH_PLUGIN_EXPORT(descriptor)                                                             \
    ORCH_EXTERN_C __attribute__((visibility("default"))) const struct orch_plugin *orch_plugin_v1( \
        void);                                                                                     \
    const struct orch_plugin *orch_plugin_v1(void)                                                 \
    {                                                                                              \
        return &(descriptor);                                                                      \
    }

#ifdef __cplusplus
}
#endif

#endif
