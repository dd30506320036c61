/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/parts.h"
#include "core/commands/loss_words.h"
#include "core/commands/show.h"
#include "core/feature/feature.h"
#include "core/inputs/inputs.h"
#include "core/stats/tried_command.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { INPUTS_SHOWN = 20, LEFT_SHOWN = 100 }; /* files */

static char *tags_text(const GPtrArray *tags)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < tags->len; i++)
        g_string_append_printf(text, "%s%s", i ? " " : "", (const char *)tags->pdata[i]);
    return g_string_free(text, FALSE);
}

/* Prints the command behind 'orch try --'; a recipe or a manifest says it for other runs. */
static void print_command(const struct orch_run *run)
{
    enum { SHOWN_CHARS = 500 };
    g_auto(GStrv) words = orch_run_tried_words(run);
    if (!words)
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    for (char **word = words; *word; word++) {
        g_autofree char *quoted = orch_cli_shell_word(*word);
        g_string_append_printf(text, "%s%s", text->len ? " " : "", quoted);
    }
    g_autofree char *line = orch_text_line(g_strdup(text->str));
    bool is_cut = g_utf8_strlen(line, -1) > SHOWN_CHARS;
    g_autofree char *shown = is_cut ? g_utf8_substring(line, 0, SHOWN_CHARS) : g_strdup(line);
    orch_cli_show_line("command", "%s%s", shown, is_cut ? "..." : "");
}

static void print_head(const struct orch_whole_run *s)
{
    const struct orch_run *run = s->run;
    g_autofree char *started = orch_time_format(run->started_ns, false);
    g_autofree char *ago = orch_ago_format(run->started_ns);
    g_autofree char *wall = orch_duration_format(run->wall_ms / 1e3);
    g_autofree char *head =
        orch_text_line(g_strdup_printf("%s of recipe %s", run->experiment ? run->experiment : "-",
                                       run->recipe ? run->recipe : "-"));
    orch_cli_print("run %s: %s", orch_run_short_key(run->key), head);
    orch_cli_show_line("key", "%s", run->key);
    if (s->name)
        orch_cli_show_line("name", "%s", s->name);
    g_autofree char *tags = tags_text(s->tags);
    if (*tags)
        orch_cli_show_line("tags", "%s", tags);
    orch_cli_show_line("state", "%s%s%s%s%s", run->state, run->reason ? ": " : "",
                       run->reason ? run->reason : "", run->hidden ? " (removed)" : "",
                       run->purged ? " (points and artifacts purged here)" : "");
    orch_cli_show_line("started", "%s UTC (%s), took %s", started, ago, wall);
    orch_cli_show_line("by", "%s", run->who);
    orch_cli_show_line("plugin", "%s %s", run->plugin, run->plugin_version);
    print_command(run);
    orch_cli_show_line("repeat",
                       "%d, seed %" G_GUINT32_FORMAT " (seed64 %" G_GUINT64_FORMAT "), attempt %d",
                       run->repeat, s->seed31, (guint64)run->seed, run->attempt);
}

/* Prints who hid the run, and how to restore it. */
static void print_hidden(const struct orch_whole_run *s)
{
    const struct orch_hidden *hidden = s->hidden;
    if (!hidden)
        return;
    g_autofree char *name = orch_who_name(hidden->who);
    g_autofree char *ago = orch_ago_format(hidden->made_ns);
    const char *why = hidden->why && *hidden->why ? hidden->why : NULL;
    orch_cli_show_line("removed", "by %s, %s%s%s%s", name, ago,
                       hidden->is_public ? "" : ", only in this store", why ? ": " : "",
                       why ? why : "");
    if (s->is_hidden_by_user)
        orch_cli_show_line("", "'orch rm --undo %s' brings it back",
                           orch_run_short_key(s->run->key));
    else
        orch_cli_show_line("", "%s alone can bring it back", name);
}

static void print_source(const struct orch_whole_run *s)
{
    const struct orch_run *run = s->run;
    if (!run->source_tree) {
        orch_cli_show_line("source", "unversioned (in no git repository)");
    } else {
        orch_cli_show_line(
            "commit", "%s%s%s%s", run->source_commit ? run->source_commit : "none yet",
            run->source_branch ? " on " : "", run->source_branch ? run->source_branch : "",
            run->source_dirty ? ", with uncommitted changes" : "");
        const char *command = orch_advice(ORCH_ADVICE_SOURCE, NULL);
        g_autofree char *back = command ? g_strdup_printf(" ('%s %s' gives it back)", command,
                                                          orch_run_short_key(run->key))
                                        : NULL;
        orch_cli_show_line("tree", "%s%s", run->source_tree, back ? back : "");
    }
    orch_cli_show_line("fingerprint", "%s", run->fingerprint);
    orch_cli_show_line("digest", "%s", run->digest ? run->digest : "-");
}

/* What the trial got of its machine. */
static void print_slot(const json_t *slot)
{
    const char *pinned = orch_json_text(slot, "pinned_to", NULL);
    const json_t *gpus = json_object_get(slot, "gpus");
    int64_t node = orch_json_int(slot, "numa_node", -1);
    double share = 1;
    if (pinned && node >= 0)
        orch_cli_show_line("pinned", "to CPUs %s (NUMA node %d)", pinned, (int)node);
    else if (pinned)
        orch_cli_show_line("pinned", "to CPUs %s", pinned);
    bool is_shared = orch_json_get_real(json_object_get(slot, "gpu_share"), &share);
    const json_t *seen = json_object_get(slot, "gpus_seen");
    for (size_t i = 0; i < json_array_size(seen); i++) {
        const char *name = json_string_value(json_array_get(seen, i));
        orch_cli_show_line("gpu", "%s, visible but not reserved: others may have used it",
                           name ? name : "?");
    }
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const char *name = json_string_value(json_array_get(gpus, i));
        if (is_shared)
            orch_cli_show_line("gpu", "%g of %s, shared: its times are not those of a whole GPU",
                               share, name ? name : "?");
        else
            orch_cli_show_line("gpu", "%s", name ? name : "?");
    }
}

static void print_machine(const struct orch_whole_run *s)
{
    orch_cli_show_line("device", "%s", s->run->device_key ? s->run->device_key : "-");
    const char *vectors = orch_json_text(s->machine, "vectors", NULL);
    orch_cli_show_line("machine", "%s, %s%s%s", orch_json_text(s->machine, "hostname", "?"),
                       orch_json_text(s->machine, "os", "?"), vectors ? ", " : "",
                       vectors ? vectors : "");
    double load = NAN;
    orch_json_get_real(json_object_get(s->facts, "load"), &load);
    int64_t others = orch_json_int(s->facts, "co_runners", 0);
    if (isfinite(load))
        orch_cli_show_line("load", "%.2f when it started, %d other trial%s at the same time", load,
                           (int)others, orch_plural(others));
    if (isfinite(s->foreign_cpu))
        orch_cli_show_line("foreign cpu", "%.0f %% of the CPUs were used by other programs%s",
                           100 * s->foreign_cpu,
                           s->is_disturbed
                               ? ": its times are used only if the setting has no undisturbed run"
                               : "");
    print_slot(json_object_get(s->facts, "slot"));
    int64_t rss = orch_json_int(s->facts, "max_rss_bytes", 0);
    g_autofree char *memory = orch_bytes_format(rss);
    if (rss)
        orch_cli_show_line("memory", "%s at most", memory);
}

/* Prints what the program printed but was not recorded. */
static void print_output(const struct orch_whole_run *s)
{
    struct orch_text_losses losses = {0};
    orch_text_losses_add(&losses, s->facts);
    for (int i = 0, shown = 0; i < ORCH_TEXT_LOSSES; i++) {
        g_autofree char *said = orch_cli_loss_said(i, &losses);
        if (said)
            orch_cli_show_line(shown++ ? "" : "printed", "%s", said);
    }
    orch_text_losses_clear(&losses);
}

/* Prints the files whose values were taken, and those whose were not. */
static void print_logged(const struct orch_whole_run *s)
{
    const json_t *files = json_object_get(s->facts, ORCH_FACT_LOGGED_FILES);
    const json_t *others = json_object_get(s->facts, ORCH_FACT_UNLOGGED_FILES);
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *row = json_array_get(files, i);
        const char *path = json_string_value(json_array_get(row, 0));
        const char *format = json_string_value(json_array_get(row, 1));
        json_int_t points = json_integer_value(json_array_get(row, 2));
        json_int_t replaced = json_integer_value(json_array_get(row, 3));
        g_autofree char *rest = g_strdup_printf(
            ", %" JSON_INTEGER_FORMAT " replaced by a later one of the same step", replaced);
        orch_cli_show_line(i ? "" : "logged", "%s (%s), %" JSON_INTEGER_FORMAT " value%s%s",
                           path ? path : "?", format ? format : "?", points, orch_plural(points),
                           replaced ? rest : "");
    }
    for (size_t i = 0; i < json_array_size(others); i++) {
        const json_t *row = json_array_get(others, i);
        const char *path = json_string_value(json_array_get(row, 0));
        const char *why = json_string_value(json_array_get(row, 1));
        orch_cli_show_line(i ? "" : "not logged", "%s: %s", path ? path : "?", why ? why : "?");
    }
}

/* Prints the runs that belong together, as the program of one trial began them. */
static void print_further(const struct orch_whole_run *s)
{
    const char *trial = orch_json_text(s->facts, ORCH_FACT_TRIAL, NULL);
    const json_t *keys = json_object_get(s->facts, ORCH_FACT_FURTHER_RUNS);
    if (trial)
        orch_cli_show_line("began in", "trial %s, which has a run of its own",
                           orch_run_short_key(trial));
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        orch_cli_show_line(i ? "" : "further runs", "%s", key ? orch_run_short_key(key) : "?");
    }
}

static void print_table(struct orch_cli *cli, struct orch_table *table, const char *title)
{
    g_autofree char *text = orch_cli_table_to_text(table, orch_cli_color(cli, false));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    orch_cli_print("\n%s", title);
    for (int i = 0; lines[i] && *lines[i]; i++)
        orch_cli_print("  %s", lines[i]);
}

static void print_metrics(struct orch_cli *cli, const struct orch_whole_run *s)
{
    if (!s->summaries->len)
        return;
    static const char *const headers[] = {"metric", ">points", ">first", ">last", ">min",
                                          ">at",    ">max",    ">at",    "unit",  NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < s->summaries->len; i++) {
        const struct orch_metric_summary *m = s->summaries->pdata[i];
        orch_table_add(table, m->name, NULL);
        orch_table_add_int(table, m->count);
        orch_table_add_real(table, m->first);
        orch_table_add_real(table, m->last);
        orch_table_add_real(table, m->min);
        orch_table_add_int(table, m->min_step);
        orch_table_add_real(table, m->max);
        orch_table_add_int(table, m->max_step);
        orch_table_add(table, m->unit ? m->unit : "", NULL);
    }
    print_table(cli, table, "metrics");
}

/* Processor, memory, disk and GPUs while the trial ran. */
static void print_system(struct orch_cli *cli, const struct orch_whole_run *s)
{
    if (!s->system->len)
        return;
    static const char *const headers[] = {"metric", ">points", ">mean", ">min",
                                          ">max",   "unit",    NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < s->system->len; i++) {
        const struct orch_metric_summary *m = s->system->pdata[i];
        orch_table_add(table, m->name, NULL);
        orch_table_add_int(table, m->count);
        orch_table_add_real(table, m->mean);
        orch_table_add_real(table, m->min);
        orch_table_add_real(table, m->max);
        orch_table_add(table, m->unit ? m->unit : "", NULL);
    }
    print_table(cli, table, "machine while it ran");
}

static void print_names(const char *title, const json_t *names)
{
    size_t count = json_array_size(names);
    for (size_t i = 0; i < MIN(count, (size_t)INPUTS_SHOWN); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        orch_cli_show_line(i ? "" : title, "%s", name ? name : "");
    }
    if (count > INPUTS_SHOWN)
        orch_cli_show_line("", "%zu more (--json)", count - INPUTS_SHOWN);
}

/* What is noted of the files that the program opened, besides its inputs. */
static void print_opened(const json_t *facts)
{
    g_autofree char *in_part = orch_inputs_in_part(facts);
    if (in_part)
        orch_cli_show_line("", "%s", in_part);
    print_names("changed meanwhile", json_object_get(facts, ORCH_FACT_REWRITTEN));
    print_names("written", json_object_get(facts, ORCH_FACT_WROTE));
    print_names("read and written", json_object_get(facts, ORCH_FACT_READ_AND_WRITTEN));
    const char *name;
    json_t *key;
    json_object_foreach(json_object_get(facts, ORCH_FACT_CARRIED), name,
                        key) if (json_is_string(key))
        orch_cli_show_line("went on from", "%s, which run %s had written", name,
                           orch_run_short_key(json_string_value(key)));
}

static void print_files(const struct orch_whole_run *s)
{
    if (s->inputs->len || json_object_get(s->facts, ORCH_FACT_WROTE) ||
        json_object_get(s->facts, ORCH_FACT_READ_AND_WRITTEN) ||
        json_object_get(s->facts, ORCH_FACT_REWRITTEN) ||
        json_object_get(s->facts, ORCH_FACT_WATCHED) ||
        json_object_get(s->facts, ORCH_FACT_UNWATCHED))
        puts("\nread");
    if (s->inputs->len > INPUTS_SHOWN)
        orch_cli_show_line("", "%u files, of which the first %d are (--json: all)", s->inputs->len,
                           INPUTS_SHOWN);
    for (guint i = 0; i < MIN(s->inputs->len, (guint)INPUTS_SHOWN); i++) {
        const struct orch_stored_input *input = s->inputs->pdata[i];
        orch_cli_show_line(input->name, "%s%s%s%.12s", input->from_key ? "run " : "",
                           input->from_key ? orch_run_short_key(input->from_key) : "",
                           input->from_key ? ", " : "",
                           input->sha256 && *input->sha256 ? input->sha256 : "-");
    }
    print_opened(s->facts);
    if (s->artifacts->len)
        puts("\nartifacts (--artifact NAME prints one)");
    for (guint i = 0; i < s->artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = s->artifacts->pdata[i];
        g_autofree char *bytes = orch_bytes_format(artifact->bytes);
        g_autofree char *other = orch_bytes_format(artifact->here_bytes);
        g_autofree char *lacks =
            artifact->here_bytes < 0
                ? g_strdup(" (not on this machine)")
                : g_strdup_printf(" (the stored file has %s: run 'orch db check')", other);
        orch_cli_show_line(artifact->name, "%s, %.12s%s", bytes, artifact->sha256,
                           artifact->here ? "" : lacks);
    }
}

/* Prints a text of several lines, indented so that no line looks like one of orch's. */
static void print_text(const char *text, const char *between)
{
    g_autofree char *plain = orch_text_plain(g_strdup(text ? text : ""));
    g_auto(GStrv) lines = g_strsplit(g_strchomp(plain), "\n", -1);
    g_autofree char *indented = g_strjoinv(between, lines);
    orch_cli_print("  %s", indented);
}

static void print_note(const char *note)
{
    print_text(note, "\n    ");
}

static void print_left_out(const json_t *pair)
{
    const char *path = json_string_value(json_array_get(pair, 0)),
               *why = json_string_value(json_array_get(pair, 1));
    g_autofree char *line =
        orch_text_line(g_strdup_printf("%s (%s)", path ? path : "?", why ? why : "?"));
    orch_cli_print("  not in the captured tree: %s", line);
}

/* Lists what the trial left in folders of its own. */
static void print_left(const struct orch_left *left)
{
    if (left->count) {
        g_autofree char *all = orch_bytes_format(left->bytes);
        orch_cli_print("\nfiles that it left: %u, %s in '%s' (--file PATH prints one; 'orch gc' "
                       "removes them)",
                       left->count, all, left->folder);
    }
    for (guint i = 0; i < MIN(left->files->len, (guint)LEFT_SHOWN); i++) {
        const struct orch_left_file *file = left->files->pdata[i];
        g_autofree char *bytes = orch_bytes_format(file->bytes);
        g_autofree char *link = file->link ? g_strconcat("link to ", file->link, NULL) : NULL;
        g_autofree char *path = orch_text_line(g_strdup(file->path));
        orch_cli_show_line(path, "%s", link ? orch_text_line(link) : bytes);
    }
    if (left->count > LEFT_SHOWN)
        orch_cli_show_line("", "%u more (--json)", left->count - LEFT_SHOWN);
    if (left->unread)
        orch_cli_show_line("", "'%s' cannot be read", *left->unread ? left->unread : left->folder);
}

static bool has_note(const GPtrArray *notes)
{
    for (guint i = 0; i < notes->len; i++)
        if (strcmp(((const struct orch_stored_note *)notes->pdata[i])->kind, "note") == 0)
            return true;
    return false;
}

static void print_notes(const struct orch_whole_run *s)
{
    json_t *notes = json_object_get(s->facts, "notes"),
           *left_out = json_object_get(s->facts, "left_out");
    if (json_array_size(notes) || has_note(s->notes) || json_array_size(left_out))
        puts("\nnotes");
    for (size_t i = 0; i < json_array_size(notes); i++)
        print_note(json_string_value(json_array_get(notes, i)));
    for (guint i = 0; i < s->notes->len; i++) {
        const struct orch_stored_note *note = s->notes->pdata[i];
        if (strcmp(note->kind, "note") == 0) /* the other kinds are counted above */
            print_note(note->text ? note->text : "");
    }
    for (size_t i = 0; i < json_array_size(left_out); i++)
        print_left_out(json_array_get(left_out, i));
    const char *tail = orch_json_text(s->facts, "stderr_tail", "");
    if (!*tail)
        return;
    orch_cli_print("\nthe end of its stderr ('orch log %s' shows all)",
                   orch_run_short_key(s->run->key));
    print_text(tail, "\n  ");
}

bool orch_cli_show_run(struct orch_cli *cli, struct orch_store *store,
                       const struct orch_whole_run *whole, GError **error)
{
    const struct orch_subject subject = {.store = store, .run = whole->run};
    print_head(whole);
    print_hidden(whole);
    if (!orch_cli_parts_show(cli, &subject, NULL, error))
        return false;
    print_source(whole);
    print_machine(whole);
    print_output(whole);
    print_logged(whole);
    print_further(whole);
    orch_cli_show_values("parameters", whole->params, false);
    orch_cli_show_values("also given to orch.start()",
                         json_object_get(whole->facts, ORCH_FACT_STARTED_WITH), false);
    orch_cli_show_values("logged settings",
                         json_object_get(whole->facts, ORCH_FACT_LOGGED_SETTINGS), false);
    orch_cli_show_values("results", whole->results, true);
    print_metrics(cli, whole);
    print_system(cli, whole);
    print_files(whole);
    print_left(&whole->left);
    print_notes(whole);
    return true;
}
