/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/class.h"

#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* Equal times prove a copy from this many bits on: 20 for the million pairs of a thousand runs, and
 * 20 so that one such class in a million has a pair that is equal by chance. */
static const double PROOF_BITS = 40;

struct orch_submission *orch_submission_new(const char *file)
{
    struct orch_submission *submission = g_new0(struct orch_submission, 1);
    submission->file = g_strdup(file);
    return submission;
}

void orch_submission_free(struct orch_submission *submission)
{
    if (!submission)
        return;
    g_free(submission->file);
    g_free(submission->why);
    json_decref(submission->outcome);
    g_free(submission);
}

static void in_common_free(struct orch_in_common *common)
{
    g_free(common->experiment);
    g_free(common->run);
    g_free(common->other_run);
    g_free(common->what);
    g_free(common);
}

/* A run in a hand-in. */
struct row {
    struct orch_submission *submission;
    const json_t *facts;
};

static const char *text(const struct row *row, const char *name)
{
    return orch_json_text(row->facts, name, "");
}

static const char *packer(const struct orch_submission *submission)
{
    return orch_json_text(submission->outcome, "who", "");
}

static bool declares(const struct orch_submission *submission, const char *who)
{
    const json_t *list = json_object_get(submission->outcome, "collaborators");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (g_strcmp0(json_string_value(json_array_get(list, i)), who) == 0)
            return true;
    return false;
}

/* The state of the comparison. */
struct gathering {
    GArray *rows;         /* struct row */
    GPtrArray *found;     /* struct orch_in_common * */
    GHashTable *reported; /* "file key file key": pairs already reported */
};

static void add_common(struct gathering *g, const char *kind, const struct row *row,
                       const struct row *other, char *what)
{
    struct orch_in_common *common = g_new0(struct orch_in_common, 1);
    *common = (struct orch_in_common){
        .kind = kind,
        .file = row->submission->file,
        .other = other ? other->submission->file : NULL,
        .experiment = g_strdup(text(row, "experiment")),
        .run = g_strdup(text(row, "key")),
        .other_run = other ? g_strdup(text(other, "key")) : NULL,
        .what = what,
    };
    g_ptr_array_add(g->found, common);
}

/* ---- runs of others ----------------------------------------------------------------------------
 */

static void look_at_maker(struct gathering *g, const struct row *row)
{
    const char *who = text(row, "who");
    if (orch_who_is_same(who, packer(row->submission)))
        return;
    bool declared = declares(row->submission, who);
    row->submission->shared += declared;
    row->submission->undeclared += !declared;
    add_common(g, declared ? "shared run" : "undeclared run", row, NULL,
               g_strdup_printf("made by %s, handed in by %s, %s", who, packer(row->submission),
                               declared ? "declared" : "not declared"));
}

/* ---- one name on two hand-ins -------------------------------------------------------------------
 */

/* Reports two hand-ins in one name. Either the person handed in twice, or a whole file was copied;
 * only people can decide. */
static void look_at_packers(struct gathering *g, const GPtrArray *handins)
{
    g_autoptr(GHashTable) first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < handins->len; i++) {
        struct orch_submission *submission = handins->pdata[i];
        const char *who = packer(submission);
        char *name = g_strjoin("\n", orch_json_text(submission->outcome, "recipe", ""), who, NULL);
        struct orch_submission *other = *who ? g_hash_table_lookup(first, name) : NULL;
        if (other) {
            struct row row = {submission, NULL}, with = {other, NULL};
            add_common(g, "same name", &row, &with, g_strdup_printf("both are by %s", who));
        }
        if (*who && !other)
            g_hash_table_insert(first, g_steal_pointer(&name), submission);
        g_free(name);
    }
}

/* ---- copies ------------------------------------------------------------------------------------
 */

static bool is_already_reported(struct gathering *g, const struct row *a, const struct row *b)
{
    char *pair = g_strjoin(" ", a->submission->file, text(a, "key"), b->submission->file,
                           text(b, "key"), NULL);
    return !g_hash_table_add(g->reported, pair);
}

static bool same(const struct row *a, const struct row *b, const char *name)
{
    return strcmp(text(a, name), text(b, name)) == 0;
}

/* Bits of surprise in the times of a run's points; 0 without a time. Source: orch_pack_facts. */
static double times_bits(const struct row *row)
{
    return json_number_value(json_object_get(row->facts, "times_bits"));
}

/* Bits of surprise in a run's duration, which is in nanoseconds and varies by 1 % at least. */
static double wall_bits(const struct row *row)
{
    return log2(1 + 1e4 * json_number_value(json_object_get(row->facts, "wall_ms")));
}

/* Describes which times of two runs are bit-identical; NULL when the evidence is too weak.
 * `*out_is_copy`: chance is ruled out. An equal duration alone is no proof, because among many
 * short runs two are sometimes equally long; nor are the equal times of a few points in a burst. */
static char *what_is_equal(const struct row *a, const struct row *b, bool *out_is_copy)
{
    gint64 points = orch_json_int(a->facts, "points", 0);
    bool started = same(a, b, "started"), wall = same(a, b, "wall");
    wall = wall && json_number_value(json_object_get(a->facts, "wall_ms")) > 0;
    started = started && strcmp(text(a, "started"), "0") != 0;
    bool times = points && times_bits(a) > 0 && same(a, b, "times");
    bool values = points && same(a, b, "values");
    double bits = (times ? times_bits(a) : 0) + (times && wall ? wall_bits(a) : 0);
    *out_is_copy = started || bits >= PROOF_BITS;
    if (!*out_is_copy && !(wall && !points))
        return NULL;
    GString *out = g_string_new("exactly equal: the fingerprint");
    if (started)
        g_string_append(out, ", when it began");
    if (wall)
        g_string_append_printf(out, ", its %.6f ms",
                               json_number_value(json_object_get(a->facts, "wall_ms")));
    if (times)
        g_string_append_printf(out, ", the times of its %" G_GINT64_FORMAT " points", points);
    if (values)
        g_string_append_printf(out, ", the values of its %" G_GINT64_FORMAT " points", points);
    g_string_append_printf(out, "; made by %s and by %s", text(a, "who"), text(b, "who"));
    return g_string_free(out, FALSE);
}

static void report_copy(struct gathering *g, const struct row *a, const struct row *b, char *what)
{
    a->submission->copies++;
    b->submission->copies++;
    add_common(g, "copied run", a, b, what);
}

/* Compares two runs that share a key, or a fingerprint and a time. */
static void look_at_pair(struct gathering *g, const struct row *a, const struct row *b)
{
    if (a->submission == b->submission ||
        orch_who_is_same(packer(a->submission), packer(b->submission)))
        return;
    if (same(a, b, "key")) {
        if (same(a, b, "digest") || is_already_reported(g, a, b))
            return; /* the same run in two packs; its author is recorded in it */
        report_copy(g, a, b,
                    g_strdup_printf("same run key but different contents: made by %s and by %s",
                                    text(a, "who"), text(b, "who")));
        return;
    }
    bool is_copy = false;
    char *what = same(a, b, "fingerprint") ? what_is_equal(a, b, &is_copy) : NULL;
    if (what && is_already_reported(g, a, b))
        g_free(what);
    else if (what && is_copy)
        report_copy(g, a, b, what);
    else if (what)
        add_common(g, "equal time", a, b, what);
}

/* Compares all pairs of rows with equal values of member `name` (and equal fingerprints). */
static void look_at_equals(struct gathering *g, const char *name)
{
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint i = 0; i < g->rows->len; i++) {
        const struct row *row = &g_array_index(g->rows, struct row, i);
        bool is_key = strcmp(name, "key") == 0;
        if (strcmp(name, "times") == 0 && times_bits(row) <= 0)
            continue;
        char *group = g_strjoin(" ", is_key ? "" : text(row, "fingerprint"), text(row, name), NULL);
        GArray *others = g_hash_table_lookup(groups, group);
        if (!others) {
            others = g_array_new(FALSE, FALSE, sizeof(guint));
            g_hash_table_insert(groups, group, others);
        } else {
            g_free(group);
        }
        for (guint j = 0; j < others->len; j++)
            look_at_pair(g, &g_array_index(g->rows, struct row, g_array_index(others, guint, j)),
                         row);
        g_array_append_val(others, i);
    }
}

static int rank(const struct orch_in_common *common)
{
    static const char *const order[] = {"copied run", "undeclared run", "same name", "shared run",
                                        "equal time"};
    int at = 0;
    while (at < (int)G_N_ELEMENTS(order) - 1 && strcmp(order[at], common->kind) != 0)
        at++;
    return at;
}

static int compare_found(const void *a, const void *b)
{
    const struct orch_in_common *x = *(const struct orch_in_common *const *)a;
    const struct orch_in_common *y = *(const struct orch_in_common *const *)b;
    int order = rank(x) - rank(y);
    order = order ? order : strcmp(x->file, y->file);
    return order ? order : strcmp(x->run, y->run);
}

GPtrArray *orch_class_compare(GPtrArray *handins)
{
    struct gathering g = {
        g_array_new(FALSE, FALSE, sizeof(struct row)),
        g_ptr_array_new_with_free_func((GDestroyNotify)in_common_free),
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    for (guint i = 0; i < handins->len; i++) {
        struct orch_submission *submission = handins->pdata[i];
        const json_t *facts = json_object_get(submission->outcome, "facts");
        for (size_t j = 0; j < json_array_size(facts); j++) {
            struct row row = {submission, json_array_get(facts, j)};
            g_array_append_val(g.rows, row);
            look_at_maker(&g, &row);
        }
    }
    look_at_packers(&g, handins);
    static const char *const names[] = {"key", "started", "wall", "times"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        look_at_equals(&g, names[i]);
    g_ptr_array_sort(g.found, compare_found);
    g_array_unref(g.rows);
    g_hash_table_unref(g.reported);
    return g.found;
}
