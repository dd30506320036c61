/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/imported.h"

#include "lib/base/json.h"
#include "lib/base/label_from.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

struct orch_imported_run *orch_imported_run_new(const char *tool, const char *id)
{
    struct orch_imported_run *run = g_new0(struct orch_imported_run, 1);
    run->tool = tool;
    run->id = g_utf8_make_valid(id, (gssize)strnlen(id, 200));
    run->verdict = ORCH_VERDICT_OK;
    run->params = json_object();
    run->results = json_object();
    run->labels = json_object();
    run->tags = g_ptr_array_new_with_free_func(g_free);
    run->names = g_ptr_array_new_with_free_func(g_free);
    run->notes = g_ptr_array_new_with_free_func(g_free);
    run->name_index = g_hash_table_new(g_str_hash, g_str_equal);
    run->points = g_array_new(FALSE, FALSE, sizeof(struct orch_imported_point));
    return run;
}

void orch_imported_run_free(void *pointer)
{
    struct orch_imported_run *run = pointer;
    if (!run)
        return;
    g_free(run->id);
    g_free(run->name);
    g_free(run->experiment);
    g_free(run->user);
    g_free(run->status);
    g_free(run->fault);
    json_decref(run->params);
    json_decref(run->results);
    json_decref(run->labels);
    g_ptr_array_unref(run->tags);
    g_ptr_array_unref(run->names);
    g_ptr_array_unref(run->notes);
    g_hash_table_unref(run->name_index);
    g_array_unref(run->points);
    g_free(run);
}

void orch_imported_set_text(char **text, const char *bytes)
{
    g_free(*text);
    *text =
        bytes ? g_utf8_make_valid(bytes, (gssize)strnlen(bytes, ORCH_IMPORTED_MESSAGE_MAX)) : NULL;
}

/* ---- adding content ---------------------------------------------------------------------------
 */

/* The tool's name as UTF-8, bounded: the form in which names are kept until orch_imported_settle.
 * The caller frees. */
static char *kept_name(const char *name)
{
    return g_utf8_make_valid(name, (gssize)strnlen(name, ORCH_IMPORTED_MESSAGE_MAX));
}

/* True for digits without a leading zero, and for "0" itself. */
static size_t whole_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 1 && *text == '0' ? 0 : digits;
}

/* True for a number as programs print it: no sign before zero or a positive number, no leading
 * zeros, no zeros at the end of a fraction (but "1.0"), one digit before an exponent. Anything else
 * that could be read as a number ("00123", "1.10", "72225e2") may be a text: a postcode, a version,
 * a commit. */
static bool is_printed_number(const char *text)
{
    const char *p = text + (*text == '-');
    size_t whole = whole_digits(p);
    if (!whole || strcmp(text, "-0") == 0)
        return false;
    p += whole;
    if (*p == '.') {
        size_t fraction = strspn(++p, "0123456789");
        if (!fraction || (fraction > 1 && p[fraction - 1] == '0'))
            return false;
        p += fraction;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        size_t exponent = strspn(p, "0123456789");
        if (!exponent || whole > 1)
            return false;
        p += exponent;
    }
    return !*p;
}

static bool has_room(struct orch_imported_run *run, json_t *object, const char *text)
{
    bool fits = json_object_size(object) < ORCH_IMPORTED_NAMES_MAX &&
                (!text || strnlen(text, ORCH_IMPORTED_TEXT_MAX + 1) <= ORCH_IMPORTED_TEXT_MAX);
    run->is_cut = run->is_cut || !fits;
    return fits;
}

static json_t *typed(const char *text)
{
    int64_t whole;
    double real;
    bool is_number = is_printed_number(text), is_whole = !strpbrk(text, ".eE");
    if (is_number && is_whole && orch_int_parse(text, &whole))
        return json_integer(whole);
    if (is_number && !is_whole && orch_real_parse(text, &real))
        return orch_json_real(real);
    if (g_ascii_strcasecmp(text, "true") == 0 || g_ascii_strcasecmp(text, "false") == 0)
        return json_boolean(g_ascii_tolower(*text) == 't');
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

void orch_imported_param(struct orch_imported_run *run, const char *name, const char *text)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->params, text))
        json_object_set_new(run->params, kept, typed(text));
}

void orch_imported_param_json(struct orch_imported_run *run, const char *name, json_t *value)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->params, json_string_value(value)))
        json_object_set(run->params, kept, value);
    json_decref(value);
}

void orch_imported_note(struct orch_imported_run *run, const char *format, ...)
{
    enum { NOTES_MAX = 20 };
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (run->notes->len < NOTES_MAX)
        g_ptr_array_add(run->notes, g_utf8_make_valid(text, -1));
}

void orch_imported_result(struct orch_imported_run *run, const char *name, double value)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->results, NULL))
        json_object_set_new(run->results, kept, orch_json_real(value));
}

void orch_imported_label(struct orch_imported_run *run, const char *name, const char *text)
{
    g_autofree char *label = orch_label_from(name);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (has_room(run, run->labels, text))
        json_object_set_new(run->labels, label, json_string(valid));
}

void orch_imported_point(struct orch_imported_run *run, const char *name, int64_t step,
                         int64_t time_ns, double value)
{
    g_autofree char *kept = kept_name(name);
    gpointer found = NULL;
    if (!g_hash_table_lookup_extended(run->name_index, kept, NULL, &found)) {
        if (run->names->len >= ORCH_IMPORTED_METRICS_MAX) {
            run->has_more_metrics = true;
            return;
        }
        found = GUINT_TO_POINTER(run->names->len);
        g_hash_table_insert(run->name_index, kept, found);
        g_ptr_array_add(run->names, g_steal_pointer(&kept));
    }
    if (run->points->len >= ORCH_IMPORTED_POINTS_MAX) {
        run->is_cut = true;
        return;
    }
    /* MLflow accepts any step number, and TensorBoard's own summaries start at -1 */
    struct orch_imported_point point = {GPOINTER_TO_UINT(found), MAX(step, 0), time_ns, value};
    if (!run->fault)
        run->fault = orch_bound_fault(ORCH_BOUNDED_STEP, (double)point.step);
    g_array_append_val(run->points, point);
}

void orch_imported_purge(struct orch_imported_run *run, int64_t step)
{
    struct orch_imported_point *points = (struct orch_imported_point *)(void *)run->points->data;
    guint kept = 0;
    if (run->purges >= ORCH_IMPORTED_PURGES_MAX) {
        run->is_cut = true;
        return;
    }
    for (guint i = 0; i < run->points->len; i++)
        if (points[i].step < step)
            points[kept++] = points[i];
    run->purges += kept < run->points->len;
    g_array_set_size(run->points, kept);
}

int64_t orch_imported_ns(struct orch_imported_run *run, enum orch_bounded which, double time,
                         double unit_ns)
{
    char *fault = orch_bound_fault(which, time * unit_ns);
    if (!fault) /* integer arithmetic keeps whole milliseconds exact */
        return time == floor(time) ? (int64_t)time * (int64_t)unit_ns : (int64_t)(time * unit_ns);
    if (run->fault)
        g_free(fault);
    else
        run->fault = fault;
    return 0;
}

/* ---- labels -----------------------------------------------------------------------------------
 */

/* Returns the labels of `names` (char *), parallel to them. A name that is a label itself keeps it;
 * then the others get theirs, with a number where another name has the label. */
static GPtrArray *labels_of(struct orch_imported_run *run, const char *what, const GPtrArray *names)
{
    GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    /* the last number behind a label: all below it are taken */
    g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < names->len; i++) {
        g_ptr_array_add(labels, orch_label_from(names->pdata[i]));
        if (strcmp(labels->pdata[i], names->pdata[i]) == 0)
            g_hash_table_add(taken, labels->pdata[i]);
    }
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *plain = g_strdup(labels->pdata[i]);
        if (strcmp(plain, names->pdata[i]) == 0)
            continue;
        unsigned n = MAX(1, GPOINTER_TO_UINT(g_hash_table_lookup(numbers, plain)));
        while (g_hash_table_contains(taken, labels->pdata[i])) {
            g_free(labels->pdata[i]);
            labels->pdata[i] = g_strdup_printf("%s_%u", plain, ++n);
        }
        g_hash_table_insert(numbers, g_strdup(plain), GUINT_TO_POINTER(n));
        g_hash_table_add(taken, labels->pdata[i]);
        if (strcmp(plain, labels->pdata[i]) != 0)
            orch_imported_note(run, "its %s '%s' is stored as '%s': the name '%s' is taken", what,
                               (const char *)names->pdata[i], (const char *)labels->pdata[i],
                               plain);
    }
    return labels;
}

/* Renames the entries of an object to their labels. */
static void settle_object(struct orch_imported_run *run, const char *what, json_t **object)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *name;
    json_t *value, *out = json_object();
    json_object_foreach(*object, name, value) g_ptr_array_add(names, (gpointer)(uintptr_t)name);
    g_autoptr(GPtrArray) labels = labels_of(run, what, names);
    for (guint i = 0; i < names->len; i++)
        json_object_set(out, labels->pdata[i], json_object_get(*object, names->pdata[i]));
    json_decref(*object);
    *object = out;
}

void orch_imported_settle(struct orch_imported_run *run)
{
    if (run->is_settled)
        return;
    run->is_settled = true;
    settle_object(run, "parameter", &run->params);
    settle_object(run, "result", &run->results);
    GPtrArray *labels = labels_of(run, "metric", run->names);
    g_hash_table_remove_all(run->name_index);
    g_ptr_array_unref(run->names);
    run->names = labels;
    if (run->has_more_metrics)
        orch_imported_note(run, "it has more than %d metrics: the rest is left out",
                           ORCH_IMPORTED_METRICS_MAX);
}
