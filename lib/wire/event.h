/* SPDX-License-Identifier: MIT */
/*
 * Messages from a plugin to its host, and the host's journal: one JSON object per line, at most 64
 * KiB including the line end. "event" holds the type. Unknown keys are ignored; unknown events are
 * counted but not written to the journal. Full list in docs/protocol.md.
 *
 *   plugin to host (descriptor $ORCH_EVENTS):
 *     {"event":"metric","name":"loss","step":3,"value":0.5}            t_ms is the host's when
 * absent
 *     {"event":"metrics","points":[["loss",3,12.5,0.5],...]}           name, step, t_ms or null,
 * value
 *     {"event":"result","name":"accuracy","value":0.93}
 *     {"event":"progress","done":3,"total":10}
 *     {"event":"phase","name":"training"}
 *     {"event":"artifact","name":"weights","path":"weights.safetensors"}
 *     {"event":"note","text":"..."}      {"event":"log","level":"info","text":"..."}
 *     {"event":"error","text":"..."}     reason for a status other than ok
 *     {"event":"run","name":"base","tags":["a"],"params":{"fold":1}}   what start() was given
 *     {"event":"output","stream":"stdout","text":"..."}   printed by a program under orch record
 *     {"event":"manifest",...}           answer to hello (batch)
 *     {"event":"checked","id":1,"ok":true,"inputs":[{"name":"train","sha256":"..."}]}
 *     {"event":"cost","id":1,"cost":{...}}
 *     {"event":"done","status":"ok"}     exactly once: ok, failed, skipped, diverged, cancelled
 *
 *   host to plugin (stdin):
 *     {"do":"hello","protocol":1}
 *     {"do":"check","id":1,"params":{...}}   {"do":"cost","id":1,"params":{...}}
 *     {"do":"run","params":{...},"seed":"123","smoke":false,"checkpoint_dir":"/..."}
 *     {"do":"cancel"}
 *
 *   host to journal, in addition to metrics, result, progress, phase, note, log and error as above:
 *     {"event":"progress","t_ms":...,...}   time of arrival since the trial's start
 *     {"event":"start","t_ns":...,"host":{boot_id,pid,start},"child":{...}}
 *     {"event":"reported","name":"loss"}    from here on the program reports the metric itself;
 *                                           points of it before were printed and do not count;
 *                                           with "from":3 those from that step on
 *     {"event":"artifact","name":"weights","path":"/abs","sha256":"...","bytes":123}
 *     {"event":"end","verdict":"ok","reason":null,"exit_code":0,"signal":null,"started_ns":...,
 *      "ended_ns":...,"wall_ms":...,"stderr_tail":"...","facts":{"max_rss_bytes":...,...}}
 */
#ifndef ORCH_WIRE_EVENT_H
#define ORCH_WIRE_EVENT_H

#include "lib/wire/verdict.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_WIRE_PROTOCOL 1
#define ORCH_WIRE_LINE_MAX 65536 /* bytes of a line including its line end */

/** One point of a metric. `t_ms` is relative to the trial's start; NAN: not given. */
struct orch_point {
    const char *name;
    int64_t step;
    double t_ms;
    double value;
};

enum orch_event_kind {
    ORCH_EVENT_METRICS, /* one or more points; "metric" is decoded as one point */
    ORCH_EVENT_RESULT,
    ORCH_EVENT_PROGRESS,
    ORCH_EVENT_PHASE,
    ORCH_EVENT_ARTIFACT,
    ORCH_EVENT_NOTE,
    ORCH_EVENT_LOG,
    ORCH_EVENT_ERROR,
    ORCH_EVENT_RUN,
    ORCH_EVENT_OUTPUT,
    ORCH_EVENT_MANIFEST,
    ORCH_EVENT_CHECKED,
    ORCH_EVENT_COST,
    ORCH_EVENT_DONE,
    ORCH_EVENT_START,
    ORCH_EVENT_END,
    ORCH_EVENT_REPORTED,
    ORCH_EVENT_UNKNOWN, /* from a later version */
};

/** A decoded event. Pointers are borrowed from `json` or the event's own buffers. */
struct orch_event {
    enum orch_event_kind kind;
    json_t *json;              /* the whole object, owned; NULL for METRICS in the usual form */
    struct orch_point *points; /* METRICS: owned array */
    size_t point_count;
    const char *name;          /* RESULT, PHASE, ARTIFACT, REPORTED; OUTPUT: the stream */
    double value;              /* RESULT; PROGRESS: done */
    double total;              /* PROGRESS */
    double t_ms;               /* PROGRESS in a journal: since the trial's start; otherwise NAN */
    const char *text;          /* NOTE, LOG, ERROR, OUTPUT; ARTIFACT: path; END: reason */
    const char *sha256;        /* ARTIFACT in a journal */
    int64_t bytes;             /* ARTIFACT in a journal */
    int64_t id;                /* CHECKED, COST */
    enum orch_verdict verdict; /* DONE, END */
    const char *verdict_word;  /* as written */
    char *names;               /* METRICS decoded without jansson (json is NULL): owned */
};

/** Decodes one line, with or without its line end. Fails with ORCH_ERROR_PROTOCOL and the problem
 * ("metric without a name"), leaving `*out` untouched. Release with orch_event_clear. */
bool orch_event_decode(const char *line, size_t length, struct orch_event *out, GError **error);
void orch_event_clear(struct orch_event *event);

/** Appends `count` points to `out`, as one line or, if it would be too long, several. */
void orch_event_encode_points(GString *out, const struct orch_point *points, size_t count);
/** Appends any JSON object as a line. */
void orch_event_encode_json(GString *out, const json_t *object);

#endif
