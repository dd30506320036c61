/* SPDX-License-Identifier: MIT */
/* Readers of the files in which the loggers of other tools keep metrics. A reader is given the
 * bytes of a file as they are appended, in parts of any size, and calls a sink with what they hold.
 * 'orch import --runs' gives it a whole file; orch-host, while a trial writes it
 * (core/host/logged_files.h).
 *
 * One table lists them (loggers.c). Files are untrusted: every buffer has an upper bound, and a
 * reader that meets damage says why and reads no more of that file. */
#ifndef ORCH_LOGGERS_H
#define ORCH_LOGGERS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes from the beginning of a file that orch_logger_of looks at. */
#define ORCH_LOGGER_HEAD_BYTES 4096

/** A run of a file that may hold several. Borrowed; a text that the file does not have is "". */
struct orch_log_run {
    const char *id, *name, *experiment, *user, *status; /* status: the tool's own word */
    double started_ms, ended_ms;                        /* since 1970, UTC; 0: unknown */
};

/** Receives what a file holds, in its order. A hook that is NULL is not called. */
struct orch_log_sink {
    void *ctx;
    /** A value of a series. `time_s` in seconds since 1970, which may be out of range; NAN: the
     * file does not say. */
    void (*point)(void *ctx, const char *name, int64_t step, double time_s, double value);
    /** A value without a step, as of the end of a run. */
    void (*result)(void *ctx, const char *name, double value);
    /** An image at a step, as the bytes of a file (PNG, JPEG, GIF). Borrowed. */
    void (*image)(void *ctx, const char *name, int64_t step, const uint8_t *bytes, size_t length);
    /** A run was resumed: the points of this file's folder from `step` on do not count. */
    void (*purge)(void *ctx, int64_t step);
    /** A value of the script's settings, a number, boolean or text. Borrowed. */
    void (*setting)(void *ctx, const char *name, json_t *value);
    /** How the run ended: "success", "failure" or "running". */
    void (*ended)(void *ctx, const char *status);
    /** What the file calls its run: `what` is "name", "experiment" or "tag". */
    void (*about)(void *ctx, const char *what, const char *text);
    /** A label that the run has in its tool. */
    void (*label)(void *ctx, const char *name, const char *text);
    /** When the run began, in seconds since 1970. */
    void (*started)(void *ctx, double time_s);
    /** Begins a run of a file that may hold several. Returns the ctx for what the file says of it;
     * NULL: nothing of it is wanted. Every such sink needs this hook. */
    void *(*run)(void *ctx, const struct orch_log_run *run);
};

/** A row of the table. */
struct orch_logger {
    const char *name;        /* "tensorboard"; several rows may read one format */
    const char *const *ends; /* of the names of its files; NULL-terminated; NULL: any */
    const char *stand_in;    /* a file that the user names is recognised as if it had this path;
                                NULL: never */
    /** Whether a file, whose name has one of those ends, is one of this format. `head`: its first
     * `length` bytes, at most ORCH_LOGGER_HEAD_BYTES; it may be called again when there are more.
     */
    bool (*knows)(const char *path, const char *head, size_t length);
    /** The path that stands for all files of one run; the caller frees. NULL: each file is one. */
    char *(*place)(const char *path);
    /** The file of this format that a process which orch cannot observe writes beside a file that
     * it has seen; the caller frees. NULL: there is none. */
    char *(*beside)(const char *path);
    /** A reader. `sink` outlives it. */
    void *(*open)(const struct orch_log_sink *sink, const char *path);
    /** The next bytes. Returns NULL, or why nothing more is read. Must not be called again then. */
    const char *(*feed)(void *reader, const uint8_t *bytes, size_t length);
    /** The file has no more bytes. Returns NULL, or why its end was not read. */
    const char *(*finish)(void *reader);
    /** In place of feed and finish, of a database: passes on rows that are new, of runs that began
     * at `since_ns` (UTC) or later. False when it cannot be read, or not now; the rows may be read
     * later. `*out_has_more`: there are more. */
    bool (*read)(void *reader, int64_t since_ns, bool *out_has_more, GError **error);
    void (*close)(void *reader);
    bool is_rewritten;  /* its writers may write it anew from the beginning, with the same rows */
    bool is_document;   /* the whole of it is read whenever it has changed */
    bool has_folders;   /* one run is a tree of folders, whose names are part of those of metrics */
    bool defaults_to_0; /* a value that was logged without a step has step 0 */
    bool is_apart;      /* every run has a folder of its own, which no other one writes */
};

/** False for a path that no row knows, whatever the file holds. */
bool orch_logger_may_know(const char *path);
/** The file that a process which cannot be observed writes beside one that was seen, by any row.
 * The caller frees; NULL: none. */
char *orch_logger_beside(const char *path);
/** The row whose format a file has; NULL: none, or not yet. `is_named`: the user says that it is a
 * log, whatever its name. */
const struct orch_logger *orch_logger_of(const char *path, bool is_named, const char *head,
                                         size_t length);
/** True when a file with this beginning may get another format's content than it has now: tables of
 * a database are made one by one. */
bool orch_logger_is_unsure(const char *head, size_t length);

extern const struct orch_logger ORCH_LOGGER_TENSORBOARD, ORCH_LOGGER_WANDB, ORCH_LOGGER_SWANLAB,
    ORCH_LOGGER_MLRUNS, ORCH_LOGGER_MLRUNS_PARAM, ORCH_LOGGER_MLFLOW_DB, ORCH_LOGGER_TRACKIO,
    ORCH_LOGGER_DVCLIVE, ORCH_LOGGER_CSV, ORCH_LOGGER_JSON_LINES, ORCH_LOGGER_JSON,
    ORCH_LOGGER_YAML, ORCH_LOGGER_YAML_SETTINGS;

/** Whether a column or key of this name holds the step of a row: "step", "iteration", "epoch" and
 * the like. The lower of two ranks is the better choice; -1: it does not. */
int orch_log_step_rank(const char *name);
/** Parses a number as loggers write it, also "nan", "inf", "-Infinity" in any case. */
bool orch_log_number(const char *text, double *out);

#endif
