/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first pass over the fields determines each column's type, the second finds bad rows. The data
 * set is then made of the remaining rows. */
#include "features/imports/import.h"

#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

/** A column of the file. */
struct column {
    const char *own;  /* its name in the file */
    const char *name; /* its name in the set */
    bool is_dropped, is_target, is_text, left_out;
};

struct reading {
    const char *path;
    const struct orch_import_options *o;
    struct orch_csv *csv;
    struct column *columns;
    int count, target;
    bool *bad; /* by row */
    size_t skipped;
    GPtrArray *notes;
    char *first_bad; /* message */
};

static void add_note(struct reading *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_note(struct reading *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(r->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static bool fail_utf8(const char *path, const char *text, const char *bad, GError **error)
{
    int line = 1;
    const char *start = text;
    for (const char *c = text; c < bad; c++) {
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    }
    orch_error_set(error, ORCH_ERROR_RECIPE, "save the table as UTF-8 ('iconv -t UTF-8')",
                   "table is not UTF-8: byte 0x%02x\n  at: %s:%d:%d", (unsigned char)*bad, path,
                   line, (int)(bad - start) + 1);
    return false;
}

static bool read_file(struct reading *r, char out_sha256[ORCH_SHA256_CHARS], GError **error)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    const char *bad;
    if (!orch_file_read(r->path, ORCH_CSV_BYTES_MAX, &text, &length, error))
        return false;
    orch_sha256(text, length, out_sha256);
    /* the parser reports a NUL byte and UTF-16 */
    if (!memchr(text, '\0', length) && !g_utf8_validate(text, (gssize)length, &bad))
        return fail_utf8(r->path, text, bad, error);
    r->csv = orch_csv_parse(r->path, text, length, error);
    if (!r->csv)
        return false;
    if (orch_csv_separator(r->csv) == '\t')
        add_note(r, "the table's columns are separated by tabs");
    if (orch_csv_rows(r->csv) == 0) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write one row for each measurement",
                       "table has a header but no rows\n  at: %s:2:1", r->path);
        return false;
    }
    return true;
}

/* ---- names -------------------------------------------------------------------------------------
 */

static bool find_own(const struct reading *r, const char *name, const char *option, int *out,
                     GError **error)
{
    *out = orch_csv_find(r->csv, name);
    if (*out >= 0)
        return true;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (int i = 0; i < r->count; i++)
        g_ptr_array_add(names, (char *)(uintptr_t)r->columns[i].own);
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
    g_autofree char *hint = near ? g_strdup(near) : g_strdup_printf("it has %s", all);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': there is no column '%s' in '%s'",
                   option, name, r->path);
    return false;
}

static bool is_target_name(const char *name)
{
    for (const struct orch_feature_name *t = orch_target_names(); t->name; t++)
        if (strcmp(t->name, name) == 0)
            return true;
    return false;
}

static bool map_one(struct reading *r, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --map ms=step_ms,prec=precision",
                       "option '--map': '%s' is not of the form COLUMN=FEATURE", text);
        return false;
    }
    g_autofree char *own = g_strndup(text, (size_t)(equals - text));
    const char *feature = equals + 1;
    int column;
    if (!find_own(r, own, "--map", &column, error))
        return false;
    if (!orch_feature_name_find(feature) && !is_target_name(feature) &&
        strcmp(feature, r->o->target) != 0) {
        g_autofree char *hint = orch_feature_name_hint(feature);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--map': unknown feature '%s'",
                       feature);
        return false;
    }
    if (r->columns[column].name != r->columns[column].own) {
        orch_error_set(error, ORCH_ERROR_USAGE, "map it once",
                       "option '--map': column '%s' is mapped to '%s' and to '%s'", own,
                       r->columns[column].name, feature);
        return false;
    }
    r->columns[column].name = feature;
    return true;
}

static bool check_names(const struct reading *r, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; i < r->count; i++) {
        const struct column *c = &r->columns[i];
        if (c->is_dropped)
            continue;
        if (!*c->name) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "name the column in the first line, or remove it",
                           "column %d has no name\n  at: %s:1:1", i + 1, r->path);
            return false;
        }
        const struct column *other = g_hash_table_lookup(seen, c->name);
        if (other) {
            orch_error_set(error, ORCH_ERROR_USAGE, "leave one of the two columns out with --drop",
                           "columns '%s' and '%s' would both be called '%s'", other->own, c->own,
                           c->name);
            return false;
        }
        g_hash_table_insert(seen, (char *)(uintptr_t)c->name, (void *)(uintptr_t)c);
    }
    return true;
}

static bool find_target(struct reading *r, GError **error)
{
    r->target = -1;
    for (int i = 0; i < r->count; i++)
        if (!r->columns[i].is_dropped && strcmp(r->columns[i].name, r->o->target) == 0)
            r->target = i;
    if (r->target < 0 && !find_own(r, r->o->target, "--target", &r->target, error))
        return false;
    if (r->columns[r->target].is_dropped) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "column '%s' is the target and cannot be dropped", r->o->target);
        return false;
    }
    r->columns[r->target].is_target = true;
    return true;
}

static bool name_columns(struct reading *r, GError **error)
{
    r->count = orch_csv_columns(r->csv);
    r->columns = g_new0(struct column, r->count);
    for (int i = 0; i < r->count; i++)
        r->columns[i].own = r->columns[i].name = orch_csv_name(r->csv, i);
    for (int i = 0; r->o->map && r->o->map[i]; i++)
        if (!map_one(r, r->o->map[i], error))
            return false;
    for (int i = 0; r->o->drop && r->o->drop[i]; i++) {
        int column;
        if (!find_own(r, r->o->drop[i], "--drop", &column, error))
            return false;
        r->columns[column].is_dropped = true;
    }
    return find_target(r, error) && check_names(r, error);
}

/* ---- what a column is --------------------------------------------------------------------------
 */

enum cell { CELL_EMPTY, CELL_NUMBER, CELL_NOT_FINITE, CELL_TEXT, CELL_KINDS };

static bool looks_infinite(const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity", NULL};
    text += *text == '-' || *text == '+';
    for (int i = 0; words[i]; i++)
        if (g_ascii_strcasecmp(text, words[i]) == 0)
            return true;
    char *end = NULL; /* 1e999 */
    return g_ascii_isdigit(*text) && isinf(g_ascii_strtod(text, &end)) && !*end;
}

static enum cell cell_of(const struct reading *r, size_t row, int column, double *out)
{
    const char *text = orch_csv_text(r->csv, row, column);
    if (!*text)
        return CELL_EMPTY;
    if (orch_real_parse(text, out))
        return CELL_NUMBER;
    return looks_infinite(text) ? CELL_NOT_FINITE : CELL_TEXT;
}

/* A column is numeric unless it contains texts. A few texts among numbers are reported, because
 * they are often typing errors. */
static void judge_unknown(struct reading *r, int column)
{
    size_t counts[CELL_KINDS] = {0}, first_text = 0;
    size_t rows = orch_csv_rows(r->csv);
    double value;
    for (size_t i = 0; i < rows; i++) {
        enum cell cell = cell_of(r, i, column, &value);
        if (cell == CELL_TEXT && counts[CELL_TEXT] == 0)
            first_text = i;
        counts[cell]++;
    }
    struct column *c = &r->columns[column];
    c->is_text = counts[CELL_TEXT] > 0 || counts[CELL_NUMBER] == 0;
    if (counts[CELL_EMPTY] == rows) {
        add_note(r, "column '%s' is empty: left out", c->own);
        c->is_dropped = true;
    } else if (counts[CELL_TEXT] && counts[CELL_NUMBER] > counts[CELL_TEXT]) {
        add_note(r,
                 "column '%s' has %zu numbers and %zu other texts, '%s' first (row %zu): it is "
                 "used as a category",
                 c->own, counts[CELL_NUMBER], counts[CELL_TEXT],
                 orch_csv_text(r->csv, first_text, column), first_text + 1);
    }
    const char *text = counts[CELL_TEXT] ? orch_csv_text(r->csv, first_text, column) : "";
    const char *hint = orch_csv_number_hint(text);
    if (hint)
        add_note(r, "column '%s' is used as a category, because '%s' is not a number: %s", c->own,
                 text, hint);
}

/* Suggests the feature name of a column that has a known alias, unless that name is taken. */
static void suggest_names(struct reading *r)
{
    g_autoptr(GString) list = g_string_new(NULL);
    for (int i = 0; i < r->count; i++) {
        const struct column *c = &r->columns[i];
        const struct orch_feature_name *known =
            orch_feature_name_find(c->name) ? NULL : orch_feature_name_of_other(c->name);
        bool taken = !known || c->is_dropped || c->is_target || c->left_out;
        for (int k = 0; k < r->count && !taken; k++)
            taken = strcmp(r->columns[k].name, known->name) == 0;
        if (!taken)
            g_string_append_printf(list, "%s%s=%s", list->len ? "," : "", c->own, known->name);
    }
    if (list->len)
        add_note(r, "some columns may be known features under other names: --map %s", list->str);
}

static void judge_columns(struct reading *r)
{
    g_autoptr(GString) leaks = g_string_new(NULL);
    for (int i = 0; i < r->count; i++) {
        struct column *c = &r->columns[i];
        if (c->is_dropped || c->is_target)
            continue;
        const struct orch_feature_name *known = orch_feature_name_find(c->name);
        if (known)
            c->is_text = !known->is_number;
        else
            judge_unknown(r, i);
        c->left_out = !c->is_dropped && orch_feature_reveals(c->name, r->o->target);
        if (c->left_out)
            g_string_append_printf(leaks, "%s%s", leaks->len ? "," : "", c->own);
    }
    if (leaks->len)
        add_note(r,
                 "columns that reveal the target '%s' are kept, but not used for training; --drop "
                 "%s leaves them out",
                 r->o->target, leaks->str);
    suggest_names(r);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static bool check_target(const struct reading *r, size_t row, GError **error)
{
    double value = 0;
    enum cell cell = cell_of(r, row, r->target, &value);
    if (cell == CELL_NUMBER && value > 0)
        return true;
    const char *hint = orch_csv_number_hint(orch_csv_text(r->csv, row, r->target));
    return orch_csv_fail(
        r->csv, row, r->target, hint ? hint : "skip such rows with --skip-bad", error,
        cell == CELL_EMPTY ? "target '%s' is missing%s"
                           : "target '%s' must be a finite number above 0, not '%s'",
        r->columns[r->target].own, orch_csv_text(r->csv, row, r->target));
}

static bool check_row(const struct reading *r, size_t row, GError **error)
{
    if (!check_target(r, row, error))
        return false;
    for (int i = 0; i < r->count; i++) {
        const struct column *c = &r->columns[i];
        double value;
        if (c->is_dropped || c->is_target || c->is_text)
            continue;
        enum cell cell = cell_of(r, row, i, &value);
        if (cell == CELL_NUMBER || cell == CELL_EMPTY)
            continue;
        const char *other = orch_csv_number_hint(orch_csv_text(r->csv, row, i));
        return orch_csv_fail(r->csv, row, i, other ? other : "skip such rows with --skip-bad",
                             error,
                             cell == CELL_TEXT ? "'%s' in column '%s' is not a number"
                                               : "'%s' in column '%s' is not a finite number",
                             orch_csv_text(r->csv, row, i), c->own);
    }
    return true;
}

static bool check_rows(struct reading *r, GError **error)
{
    size_t rows = orch_csv_rows(r->csv);
    r->bad = g_new0(bool, rows);
    for (size_t i = 0; i < rows; i++) {
        GError *problem = NULL;
        if (check_row(r, i, &problem))
            continue;
        if (!r->o->skip_bad) {
            g_propagate_error(error, problem);
            return false;
        }
        r->bad[i] = true;
        r->skipped++;
        if (!r->first_bad)
            r->first_bad = g_strdup(problem->message);
        g_error_free(problem);
    }
    if (r->skipped < rows)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "choose another column with --target",
                   "none of the %zu rows is valid; the first error: %s", rows, r->first_bad);
    return false;
}

/* ---- the set -----------------------------------------------------------------------------------
 */

static char *name_of_file(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.');
    if (dot && dot > base)
        *dot = '\0';
    GString *name = g_string_new(g_ascii_isalpha(base[0]) ? NULL : "d");
    for (const char *c = base; *c && name->len < 60; c++) {
        char lower = g_ascii_tolower(*c);
        g_string_append_c(name, g_ascii_isalnum(lower) || lower == '-' ? lower : '_');
    }
    return g_string_free(name, FALSE);
}

static json_t *make_about(const struct reading *r, const char *sha256)
{
    g_autofree char *base = g_path_get_basename(r->path);
    json_t *mapping = json_object(), *dropped = json_array();
    for (int i = 0; i < r->count; i++) {
        const struct column *c = &r->columns[i];
        if (c->is_dropped)
            json_array_append_new(dropped, json_string(c->own));
        else if (c->name != c->own)
            json_object_set_new(mapping, c->own, json_string(c->name));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:s}", "file",
                     g_utf8_validate(base, -1, NULL) ? base : "?", "file_sha256", sha256, "mapping",
                     mapping, "dropped", dropped, "skipped", (json_int_t)r->skipped, "imported",
                     (json_int_t)orch_now_ns(), "who", orch_user_name());
}

static void fill_column(const struct reading *r, struct orch_dataset *set, int column)
{
    const struct column *c = &r->columns[column];
    double *numbers = c->is_target ? set->targets
                      : c->is_text ? NULL
                                   : orch_dataset_add_numbers(set, c->name);
    const char **texts = numbers ? NULL : orch_dataset_add_texts(set, c->name);
    for (size_t i = 0, out = 0; i < orch_csv_rows(r->csv); i++) {
        const char *text = orch_csv_text(r->csv, i, column);
        if (!r->bad[i] && *text && numbers)
            orch_real_parse(text, &numbers[out]);
        else if (!r->bad[i] && *text)
            texts[out] = orch_dataset_keep(set, text);
        out += !r->bad[i];
    }
    if (!c->is_target)
        g_array_index(set->columns, struct orch_dataset_column, set->columns->len - 1).left_out =
            c->left_out;
}

static struct orch_dataset *make_set(const struct reading *r, const char *sha256)
{
    g_autofree char *name = r->o->name ? g_strdup(r->o->name) : name_of_file(r->path);
    const char *target = r->columns[r->target].name;
    struct orch_dataset *set =
        orch_dataset_new(name, target, r->o->unit ? r->o->unit : orch_target_unit(target),
                         orch_csv_rows(r->csv) - r->skipped);
    for (int i = 0; i < r->count; i++)
        if (!r->columns[i].is_dropped)
            fill_column(r, set, i);
    json_decref(set->about);
    set->about = make_about(r, sha256);
    g_autofree char *source = NULL, *licence = NULL;
    orch_import_provenance(r->path, &source, &licence);
    set->source = g_strdup(r->o->source ? r->o->source : source);
    set->licence = g_strdup(r->o->licence ? r->o->licence : licence);
    return set;
}

void orch_import_clear(struct orch_import *import)
{
    orch_dataset_free(import->set);
    if (import->notes)
        g_ptr_array_unref(import->notes);
    *import = (struct orch_import){0};
}

bool orch_import_csv(const char *path, const struct orch_import_options *options,
                     struct orch_import *out, GError **error)
{
    struct reading r = {
        .path = path, .o = options, .notes = g_ptr_array_new_with_free_func(g_free)};
    char sha256[ORCH_SHA256_CHARS];
    bool ok = read_file(&r, sha256, error) && name_columns(&r, error);
    if (ok)
        judge_columns(&r);
    ok = ok && check_rows(&r, error);
    if (ok && r.skipped)
        add_note(&r, "%zu bad row%s left out; the first: %s", r.skipped, orch_plural(r.skipped),
                 r.first_bad);
    if (ok)
        *out = (struct orch_import){make_set(&r, sha256), g_ptr_array_ref(r.notes), r.skipped};
    orch_csv_free(r.csv);
    g_free(r.columns);
    g_free(r.bad);
    g_free(r.first_bad);
    g_ptr_array_unref(r.notes);
    return ok;
}
