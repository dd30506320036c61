/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records a program that orch did not start. The Python package runs `orch record --begin`; a shell
 * pipes its events into `orch record -s lr=0.1`. */
#include "core/cli/cli.h"

#include "features/record/recording.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Maximum size of the first line, which can have many parameters. */
#define BEGIN_BYTES_MAX (4 << 20)

struct record_options {
    const char *experiment, *name, *pid;
    const char **settings, **tags;
    bool begin;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct record_options, experiment, TEXT, "experiment", .letter = 'e',
                .value = "NAME", .help = "experiment of the run (default: run)"),
    ORCH_OPTION(struct record_options, settings, LIST, "set", .letter = 's', .value = "PARAM=VALUE",
                .help = "record a parameter of the program"),
    ORCH_OPTION(struct record_options, name, TEXT, "name", .value = "NAME",
                .help = "name of the run, as in 'orch show NAME'"),
    ORCH_OPTION(struct record_options, tags, LIST, "tag", .value = "TAG",
                .help = "add this tag to the run"),
    ORCH_OPTION(struct record_options, pid, TEXT, "pid", .value = "PID",
                .help = "end the run when this process ends"),
    ORCH_OPTION(struct record_options, begin, FLAG, "begin",
                .help = "read these options as JSON from the input's first line; print JSON"),
    {0}};

/* ---- input ------------------------------------------------------------------------------------
 */

/* Parses a value: true, 3, 0.1 and [1,2] as JSON, everything else as text. */
static json_t *typed_value(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (value && !json_is_object(value) && !json_is_null(value))
        return value;
    json_decref(value);
    return json_string(text);
}

static bool add_settings(const char **settings, json_t *params, GError **error)
{
    for (int i = 0; settings && settings[i]; i++) {
        const char *equals = strchr(settings[i], '=');
        g_autofree char *name =
            equals ? g_strndup(settings[i], (gsize)(equals - settings[i])) : NULL;
        json_t *value = name ? typed_value(equals + 1) : NULL;
        if (!value || json_object_set_new(params, name, value) != 0) {
            orch_error_set(error, ORCH_ERROR_USAGE, "for example -s lr=0.1",
                           "option '--set': '%s' is not of the form PARAM=VALUE", settings[i]);
            return false;
        }
    }
    return true;
}

static json_t *from_options(const struct record_options *o, GError **error)
{
    g_autoptr(json_t) begin = json_pack("{s:{} s:[]}", "params", "tags");
    int64_t pid = 0;
    if (!add_settings(o->settings, json_object_get(begin, "params"), error))
        return NULL;
    for (int i = 0; o->tags && o->tags[i]; i++)
        json_array_append_new(json_object_get(begin, "tags"), json_string(o->tags[i]));
    if (o->pid && (!orch_int_parse(o->pid, &pid) || pid < 1)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --pid $$",
                       "option '--pid': '%s' is not a process ID", o->pid);
        return NULL;
    }
    json_object_set_new(begin, "pid", json_integer(pid));
    if (o->experiment)
        json_object_set_new(begin, "experiment", json_string(o->experiment));
    if (o->name)
        json_object_set_new(begin, "name", json_string(o->name));
    return json_incref(begin);
}

/* Reads the first line byte by byte, because orch-host reads the bytes after it. */
static json_t *from_first_line(GError **error)
{
    g_autoptr(GString) line = g_string_new(NULL);
    char c = 0;
    while (line->len < BEGIN_BYTES_MAX) {
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n == 0 || (n < 0 && errno != EINTR) || (n == 1 && c == '\n'))
            break;
        if (n == 1)
            g_string_append_c(line, c);
    }
    g_autoptr(json_t) begin = orch_json_parse(line->str, line->len, BEGIN_BYTES_MAX, error);
    if (!begin)
        return NULL;
    json_t *params = json_object_get(begin, "params"), *tags = json_object_get(begin, "tags");
    if (c == '\n' && json_is_object(begin) && (!params || json_is_object(params)) &&
        (!tags || json_is_array(tags)))
        return json_incref(begin);
    orch_error_set(error, ORCH_ERROR_PROTOCOL, "'orch help protocol' describes this line",
                   "the first line of standard input is not a JSON object with 'params' (object) "
                   "and 'tags' (array)");
    return NULL;
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Prints one line to stdout and flushes, because the program waits for it. */
static void answer(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    printf("%s\n", text ? text : "{}");
    fflush(stdout);
    free(text);
    json_decref(object);
}

static void print_begin(struct orch_cli *cli, const struct orch_recording *recording, bool in_lines)
{
    if (in_lines)
        answer(json_pack("{s:s s:s s:o s:s s:s s:s}", "event", "recording", "run", recording->key,
                         "seed", orch_json_u64(recording->seed), "checkpoint_dir",
                         recording->checkpoint_dir, "join", recording->join_path, "store",
                         cli->workspace->db_path));
    else
        orch_cli_info(cli, "recording run %s", orch_run_short_key(recording->key));
}

static void print_end(struct orch_cli *cli, const struct orch_recording *recording,
                      const struct orch_collected *end, bool in_lines)
{
    const char *state = orch_verdict_name(end->verdict);
    g_autofree char *duration = orch_duration_format(end->wall_ms / 1e3);
    if (in_lines)
        answer(json_pack("{s:s s:s s:s s:s? s:I}", "event", "recorded", "run", recording->key,
                         "state", state, "reason", end->reason, "points",
                         (json_int_t)end->point_count));
    else if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s s:s? s:I}", "run", recording->key, "state", state,
                                      "reason", end->reason, "points",
                                      (json_int_t)end->point_count));
    else
        orch_cli_info(cli, "run %s %s%s%s after %s, %" G_GINT64_FORMAT " points",
                      orch_run_short_key(recording->key), state, end->reason ? ": " : "",
                      end->reason ? end->reason : "", duration, end->point_count);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct record_options *o = options;
    if (!o->begin && isatty(STDIN_FILENO)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example ./loop.sh | orch record -s lr=0.1",
                       "'orch record' reads events from a pipe, but standard input is a terminal");
        return -1;
    }
    g_autoptr(json_t) begin = o->begin ? from_first_line(error) : from_options(o, error);
    if (!begin || !orch_cli_store(cli, ORCH_STORE_CREATE, error))
        return -1;
    struct orch_recording_spec spec = {
        .experiment = orch_json_text(begin, "experiment", NULL),
        .params = json_object_get(begin, "params"),
        .tags = json_object_get(begin, "tags"),
        .name = orch_json_text(begin, "name", NULL),
        .argv = json_object_get(begin, "argv"),
        .facts = json_object_get(begin, "facts"),
        .pid = orch_json_int(begin, "pid", 0),
    };
    struct orch_recording *recording = orch_recording_begin(cli->workspace, &spec, error);
    if (!recording)
        return -1;
    orch_cli_warn_of_source(cli);
    print_begin(cli, recording, o->begin);
    struct orch_collected end = {0};
    bool ok = orch_recording_finish(cli->workspace, recording, &end, error);
    if (ok)
        print_end(cli, recording, &end, o->begin);
    bool is_fault = ok && orch_verdict_facts(end.verdict)->fault;
    bool is_cancelled = ok && end.verdict == ORCH_VERDICT_CANCELLED;
    orch_collected_clear(&end);
    orch_recording_free(recording);
    return !ok            ? -1
           : is_fault     ? ORCH_EXIT_TRIAL
           : is_cancelled ? ORCH_EXIT_INTERRUPTED
                          : ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_RECORD = {
    .name = "record",
    .group = "Run",
    .summary = "record a program that you start yourself, from the events it writes",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct record_options),
    .about = "Reads events from standard input, one JSON object a line ('orch help protocol'), and "
             "records them as a run. The source files and the machine are recorded, too. The event "
             "'done' ends the run. If the input ends before this event, the run is recorded as "
             "crashed. In Python, 'import orch; run = orch.start(lr=0.1)' does the same without a "
             "pipe ('orch help python').",
    .examples = "  ./loop.sh | orch record -e loop -s lr=0.1\n"
                "  orch record --pid $$ --name base <events.fifo &",
    .run = run,
};
