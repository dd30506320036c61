/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/show.h"

#include "core/stats/group.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

struct ls_options {
    const char *where, *recipe, *experiment, *state;
    const char **metrics, **tags;
    const char *limit;
    bool all, reverse;
};

static const struct orch_option OPTIONS[] = {
    {"where", 'w', "FILTER", ORCH_OPT_TEXT, offsetof(struct ls_options, where),
     "only runs that match, e.g. 'lr>=0.01 and state=ok and started>2d' (docs/where.md)"},
    {"recipe", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct ls_options, recipe),
     "only of this recipe"},
    {"experiment", 'e', "NAME", ORCH_OPT_TEXT, offsetof(struct ls_options, experiment),
     "only of this experiment"},
    {"tag", 0, "TAG", ORCH_OPT_LIST, offsetof(struct ls_options, tags),
     "only runs with this tag; given again, with all of them"},
    {"state", 0, "STATE", ORCH_OPT_TEXT, offsetof(struct ls_options, state),
     "only runs that ended so: ok, failed, crashed, ..."},
    {"metric", 'm', "NAME", ORCH_OPT_LIST, offsetof(struct ls_options, metrics),
     "add a column with the last value of a metric, or a result"},
    {"limit", 'n', "N", ORCH_OPT_TEXT, offsetof(struct ls_options, limit),
     "show at most N runs (default 30; 0: all)"},
    {"all", 'a', NULL, ORCH_OPT_FLAG, offsetof(struct ls_options, all), "include removed runs"},
    {"reverse", 'r', NULL, ORCH_OPT_FLAG, offsetof(struct ls_options, reverse), "oldest first"},
    {0}};

/* Appends the -s settings for this experiment on the command line that made the run. */
static void append_set(GString *text, const char *argv_json, const char *experiment)
{
    g_autoptr(json_t) argv = argv_json ? json_loads(argv_json, 0, NULL) : NULL;
    for (size_t i = 2; i < json_array_size(argv); i++) { /* after "orch run" */
        const char *word = json_string_value(json_array_get(argv, i));
        const char *set = NULL;
        if (!word || strcmp(word, "--") == 0)
            break;
        if (strcmp(word, "-s") == 0 || strcmp(word, "--set") == 0)
            set = json_string_value(json_array_get(argv, ++i));
        else if (g_str_has_prefix(word, "--set="))
            set = word + strlen("--set=");
        else if (g_str_has_prefix(word, "-s"))
            set = word + 2;
        const char *dot = set ? strchr(set, '.') : NULL, *equals = set ? strchr(set, '=') : NULL;
        bool is_scoped = dot && equals && dot < equals;
        size_t length = is_scoped ? (size_t)(dot - set) : 0;
        if (!equals ||
            (is_scoped && (strlen(experiment) != length || strncmp(set, experiment, length) != 0)))
            continue;
        g_string_append_printf(text, "%s%s", text->len ? " " : "", is_scoped ? dot + 1 : set);
    }
}

/* Formats what was swept, then what the command line set, then the repeat. */
char *orch_cli_setting_text(const json_t *coords, const struct orch_run *run, int repeat)
{
    GString *text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)coords, name, value)
    {
        g_autofree char *one = orch_value_format_json(value);
        g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", name, one);
    }
    if (run && run->experiment)
        append_set(text, run->argv, run->experiment);
    if (repeat > 1)
        g_string_append_printf(text, "%s#%d", text->len ? " " : "", repeat);
    return g_string_free(text, FALSE);
}

/* Name and tags of a run; each may be NULL. */
struct labels {
    char *name;
    GPtrArray *tags;
};

static void labels_clear(void *pointer)
{
    struct labels *labels = pointer;
    g_free(labels->name);
    if (labels->tags)
        g_ptr_array_unref(labels->tags);
}

/* Reads the labels of each run. `*out_any`: some run has a name or tag. NULL on error. */
static GArray *read_labels(struct orch_store *store, const GPtrArray *runs, bool *out_any,
                           GError **error)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(struct labels));
    g_array_set_clear_func(all, labels_clear);
    *out_any = false;
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        GError *problem = NULL;
        struct labels labels = {.name = orch_store_name(store, run->key, &problem)};
        labels.tags = problem ? NULL : orch_store_tags(store, run->key, &problem);
        g_array_append_val(all, labels);
        *out_any = *out_any || labels.name || (labels.tags && labels.tags->len);
        if (problem) {
            g_propagate_error(error, problem);
            g_array_unref(all);
            return NULL;
        }
    }
    return all;
}

static void add_labels(struct orch_table *table, const struct labels *labels)
{
    json_t *tags = json_array();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; labels && i < labels->tags->len; i++) {
        const char *tag = labels->tags->pdata[i];
        json_array_append_new(tags, json_string(tag));
        g_string_append_printf(text, "%s%s", i ? " " : "", tag);
    }
    const char *name = labels ? labels->name : NULL;
    orch_table_add(table, name ? name : "", orch_json_text_or_null(name));
    orch_table_add(table, text->str, tags);
}

static struct orch_table *new_table(const char **metrics, bool with_labels)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    static const char *const fixed[] = {"run", "state", "experiment", "setting"};
    static const struct {
        const char *header, *name;
    } names[] = {{"run", "key"}, {"time", "wall_s"}, {"when", "started"}}; /* names in JSON */
    static const char *const said[] = {"name", "tags"};
    for (unsigned i = 0; i < G_N_ELEMENTS(fixed); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)fixed[i]);
    for (unsigned i = 0; with_labels && i < G_N_ELEMENTS(said); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)said[i]);
    g_autoptr(GPtrArray) right = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; metrics && metrics[i]; i++) {
        g_ptr_array_add(right, g_strconcat(">", metrics[i], NULL));
        g_ptr_array_add(headers, right->pdata[right->len - 1]);
    }
    static const char *const last[] = {">time", "who", "when", "commit"};
    for (unsigned i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)last[i]);
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    unsigned metrics_from =
        (unsigned)(G_N_ELEMENTS(fixed) + (with_labels ? G_N_ELEMENTS(said) : 0));
    for (unsigned i = 0; i < orch_table_columns(table); i++)
        for (unsigned n = 0; n < G_N_ELEMENTS(names); n++)
            if ((i < metrics_from || i >= metrics_from + right->len) &&
                strcmp(orch_table_header(table, i), names[n].header) == 0)
                orch_table_set_name(table, i, names[n].name);
    return table;
}

static bool add_run(struct orch_store *store, struct orch_table *table, const struct orch_run *run,
                    const struct labels *labels, const char **metrics, GError **error)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    g_autofree char *setting =
        orch_cli_setting_text(json_object_get(facts, "coords"), run, run->repeat);
    g_autofree char *wall = orch_duration_format(run->wall_ms / 1e3);
    g_autofree char *when = orch_cli_ago(run->started_ns);
    g_autofree char *iso = orch_time_format(run->started_ns, true);
    g_autofree char *commit = run->source_commit ? g_strdup_printf("%.8s%s", run->source_commit,
                                                                   run->source_dirty ? "+" : "")
                              : run->source_tree ? g_strdup("uncommitted")
                                                 : g_strdup("unversioned");
    orch_table_add(table, orch_cli_short_key(run->key), json_string(run->key));
    orch_table_add(table, run->hidden ? "removed" : run->state, json_string(run->state));
    orch_table_add(table, run->experiment, NULL);
    json_t *coords = json_object_get(facts, "coords");
    orch_table_add(table, setting, coords ? json_incref(coords) : json_object());
    if (labels)
        add_labels(table, labels);
    for (int i = 0; metrics && metrics[i]; i++) {
        double value;
        if (!orch_run_number(store, run, metrics[i], ORCH_AGGREGATE_LAST, &value, NULL, NULL,
                             error))
            return false;
        orch_table_add_real(table, value);
    }
    orch_table_add(table, wall, orch_json_finite(run->wall_ms / 1e3));
    orch_table_add_who(table, run->who);
    orch_table_add(table, when, json_string(iso));
    orch_table_add(table, commit, orch_json_text_or_null(run->source_commit));
    return true;
}

static bool add_actives(struct orch_store *store, struct orch_table *table, bool with_labels,
                        const char **metrics, GError **error)
{
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    for (guint i = 0; actives && i < actives->len; i++) {
        const struct orch_active_row *row = actives->pdata[i];
        g_autoptr(json_t) record = json_loads(row->record ? row->record : "{}", 0, NULL);
        bool alive = orch_process_is_alive(&row->runner);
        json_t *coords = json_object_get(json_object_get(record, "facts"), "coords");
        g_autofree char *setting =
            orch_cli_setting_text(coords, NULL, (int)orch_json_int(record, "repeat", 1));
        g_autofree char *when = orch_cli_ago(row->started_ns);
        g_autofree char *iso = orch_time_format(row->started_ns, true);
        g_autofree char *time =
            orch_duration_format((double)(orch_now_ns() - row->started_ns) / 1e9);
        orch_table_add(table, orch_cli_short_key(row->key), json_string(row->key));
        orch_table_add(table, alive ? "running" : "interrupted", NULL);
        orch_table_add(table, orch_json_text(record, "experiment", "?"), NULL);
        orch_table_add(table, setting, coords ? json_incref(coords) : json_object());
        if (with_labels)
            add_labels(table, NULL);
        for (int j = 0; metrics && metrics[j]; j++)
            orch_table_add_real(table, NAN);
        orch_table_add(table, time, json_null());
        orch_table_add_who(table, orch_json_text(record, "who", NULL));
        orch_table_add(table, when, json_string(iso));
        const char *commit = orch_json_text(json_object_get(record, "source"), "commit", NULL);
        g_autofree char *short_commit = commit ? g_strndup(commit, 8) : g_strdup("-");
        orch_table_add(table, short_commit, orch_json_text_or_null(commit));
    }
    return actives != NULL;
}

/* Warns of a metric that no listed run has, whose column would contain only dashes. */
static bool warn_of_metrics(struct orch_cli *cli, struct orch_store *store, const GPtrArray *runs,
                            const char **metrics, GError **error)
{
    for (int i = 0; metrics && metrics[i]; i++) {
        double value = NAN;
        for (guint k = 0; isnan(value) && k < runs->len; k++)
            if (!orch_run_number(store, runs->pdata[k], metrics[i], ORCH_AGGREGATE_LAST, &value,
                                 NULL, NULL, error))
                return false;
        g_autofree char *hint = orch_store_metric_hint(store, metrics[i]);
        if (isnan(value) && runs->len)
            orch_cli_warn(cli, "no run in the list has a metric or result '%s'\n  hint: %s",
                          metrics[i], hint);
    }
    return true;
}

/* Combines the filter with a condition for each --tag. The caller frees; NULL: no filter. */
static char *whole_filter(const struct ls_options *o)
{
    if (!o->tags)
        return g_strdup(o->where);
    GString *text = g_string_new(NULL);
    if (o->where)
        g_string_append_printf(text, "(%s)", o->where);
    for (int i = 0; o->tags[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(o->tags[i], "'", -1);
        g_autofree char *quoted = g_strjoinv("''", parts);
        g_string_append_printf(text, "%stag = '%s'", text->len ? " and " : "", quoted);
    }
    return g_string_free(text, FALSE);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct ls_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (!store)
        return -1;
    if (o->state && orch_verdict_parse(o->state) == ORCH_VERDICT_UNKNOWN) {
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "ok, failed, skipped, cancelled, diverged, crashed, timeout, lost, preempted, "
            "protocol-error",
            "unknown state '%s'", o->state);
        return -1;
    }
    struct orch_where *where = NULL;
    g_autofree char *filter = whole_filter(o);
    if (filter && !(where = orch_where_parse(filter, error)))
        return -1;
    int64_t limit = 30;
    if (o->limit && (!orch_int_parse(o->limit, &limit) || limit < 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "0 shows all",
                       "option '--limit': '%s' is not a number", o->limit);
        orch_where_free(where);
        return -1;
    }
    struct orch_run_query query = {.recipe = o->recipe,
                                   .experiment = o->experiment,
                                   .state = o->state,
                                   .where = where,
                                   .with_hidden = o->all,
                                   .oldest_first = o->reverse,
                                   .limit = limit};
    int64_t total = 0;
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, &total, error);
    orch_where_free(where);
    if (!runs)
        return -1;
    bool has_labels;
    g_autoptr(GArray) labels = read_labels(store, runs, &has_labels, error);
    if (!labels)
        return -1;
    has_labels = has_labels || cli->json; /* JSON always contains the labels */
    struct orch_table *table = new_table(o->metrics, has_labels);
    bool filtered = filter || o->state || o->recipe || o->experiment;
    bool ok = filtered || add_actives(store, table, has_labels, o->metrics, error);
    for (guint i = 0; ok && i < runs->len; i++)
        ok = add_run(store, table, runs->pdata[i],
                     has_labels ? &g_array_index(labels, struct labels, i) : NULL, o->metrics,
                     error);
    if (!ok || !warn_of_metrics(cli, store, runs, o->metrics, error))
        return -1;
    orch_table_print(cli, table, "runs");
    if (!cli->json && total > runs->len) {
        fflush(stdout);
        orch_cli_say(cli, "%u of %" G_GINT64_FORMAT " runs (-n 0 shows all)", runs->len, total);
    } else if (!runs->len && !cli->json) {
        orch_cli_say(cli, filtered ? "no run matches" : "no run yet: 'orch run RECIPE' makes some");
    }
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_LS = {
    .name = "ls",
    .group = "Looking",
    .summary = "list runs, newest first",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct ls_options),
    .about =
        "The filter compares names with = != < <= > >= and ~ (contains), joined by and, or, not "
        "and "
        "parentheses. Names: state experiment recipe plugin who repeat seed attempt commit branch "
        "tree gpu cpu host machine started ended wall_s key, else a parameter, a result, or a "
        "metric's last value. docs/where.md has all of it.",
    .examples = "  orch ls --where 'experiment=finetune and lr<0.1' -m val_accuracy\n"
                "  orch ls --state failed\n"
                "  orch ls -n 0 --json | jq '.runs[].key'",
    .run = run,
};
