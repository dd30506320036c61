/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/space/observed_space.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const double LOG_RATIO = 50;
/* A column with a value of its own for each run decides everything, and means nothing. */
static const double RUNS_A_VALUE = 2;

static const char *text_at(const struct orch_observed *o, size_t row, unsigned column)
{
    return o->rows[row][column];
}

/* The different values of a column: a set of borrowed texts. */
static GHashTable *values_of(const struct orch_observed *o, unsigned column)
{
    GHashTable *values = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < o->count; i++)
        if (*text_at(o, i, column))
            g_hash_table_add(values, (gpointer)(uintptr_t)text_at(o, i, column));
    return values;
}

/* ---- ranges -------------------------------------------------------------------------------------
 */

char *orch_observed_range(const struct orch_observed *o, unsigned column)
{
    double low = INFINITY, high = -INFINITY, value;
    bool is_number = true;
    g_autoptr(GHashTable) words = values_of(o, column);
    for (size_t i = 0; i < o->count; i++) {
        const char *text = text_at(o, i, column);
        if (!*text)
            continue;
        is_number = is_number && orch_real_parse(text, &value) && isfinite(value);
        low = is_number ? fmin(low, value) : low;
        high = is_number ? fmax(high, value) : high;
    }
    const guint count = g_hash_table_size(words);
    if (count < 2 || (is_number && !(high > low)) || (!is_number && count > ORCH_SPACE_CHOICES_MAX))
        return NULL;
    if (!is_number)
        return g_strdup("words");
    char a[ORCH_REAL_CHARS], b[ORCH_REAL_CHARS];
    return g_strdup_printf("%s(%s, %s)",
                           low > 0 && high / low >= LOG_RATIO ? "loguniform" : "uniform",
                           orch_real_format(low, a), orch_real_format(high, b));
}

/* ---- conditions ---------------------------------------------------------------------------------
 */

/* Whether the value of `by` decides if a column exists; `*out_values`: how many values `by` has.
 * Where `by` does not exist, the other does not. */
static bool decides(const struct orch_observed *o, unsigned by, const bool *exists,
                    guint *out_values)
{
    g_autoptr(GHashTable) decided = g_hash_table_new(g_str_hash, g_str_equal);
    size_t having = 0;
    for (size_t i = 0; i < o->count; i++) {
        const char *text = text_at(o, i, by);
        void *known;
        if (!*text && exists[i])
            return false;
        if (!*text)
            continue;
        having++;
        if (!g_hash_table_lookup_extended(decided, text, NULL, &known))
            g_hash_table_insert(decided, (gpointer)(uintptr_t)text, GINT_TO_POINTER(exists[i]));
        else if (GPOINTER_TO_INT(known) != exists[i])
            return false;
    }
    *out_values = g_hash_table_size(decided);
    return *out_values > 1 && *out_values <= ORCH_SPACE_CHOICES_MAX &&
           RUNS_A_VALUE * *out_values <= (double)having;
}

/* As orch_observed_decider, among the columns that are `allowed` (NULL: all). */
static int find_decider(const struct orch_observed *o, unsigned column, const bool *exists,
                        const bool *allowed)
{
    int found = -1;
    guint fewest = 0, values;
    for (unsigned by = 0; by < o->columns; by++) {
        if (by == column || (allowed && !allowed[by]) || !decides(o, by, exists, &values))
            continue;
        if (found < 0 || values < fewest ||
            (values == fewest && strcmp(o->names[by], o->names[found]) < 0)) {
            found = (int)by;
            fewest = values;
        }
    }
    return found;
}

int orch_observed_decider(const struct orch_observed *o, unsigned column, const bool *exists)
{
    return find_decider(o, column, exists, NULL);
}

/* ---- the space ----------------------------------------------------------------------------------
 */

/* A space while it is made. */
struct making {
    const struct orch_observed *o;
    struct orch_observed_space *out;
    unsigned *order; /* the columns by name */
    bool *is_placed; /* by column: it is in the space */
    int *parents;    /* by column: the one that decides whether it exists; -1: none */
    bool *is_parent;
};

static int compare_words(gconstpointer a, gconstpointer b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    double p, q;
    const bool has_p = orch_real_parse(x, &p), has_q = orch_real_parse(y, &q);
    if (has_p && has_q && (p < q || p > q))
        return (p > q) - (p < q);
    return has_p != has_q ? has_q - has_p : strcmp(x, y);
}

/* The values of a column in their order. Borrowed texts; the caller unrefs. */
static GPtrArray *words_of(const struct orch_observed *o, unsigned column)
{
    g_autoptr(GHashTable) values = values_of(o, column);
    GPtrArray *words = g_ptr_array_new();
    GHashTableIter iter;
    void *word;
    g_hash_table_iter_init(&iter, values);
    while (g_hash_table_iter_next(&iter, &word, NULL))
        g_ptr_array_add(words, word);
    g_ptr_array_sort(words, compare_words);
    return words;
}

/* " if p2 in [w0, w3]" */
static void append_condition(const struct making *m, unsigned column, GString *text)
{
    const unsigned by = (unsigned)m->parents[column];
    g_autoptr(GPtrArray) words = words_of(m->o, by);
    g_string_append_printf(text, " if p%u in [", by);
    bool is_first = true;
    for (guint k = 0; k < words->len; k++)
        for (size_t i = 0; i < m->o->count; i++)
            if (*text_at(m->o, i, column) && strcmp(text_at(m->o, i, by), words->pdata[k]) == 0) {
                g_string_append_printf(text, "%sw%u", is_first ? "" : ", ", k);
                is_first = false;
                break;
            }
    g_string_append_c(text, ']');
}

/* The text of a column's range. A column that decides about others is one of choices. NULL: it has
 * none. */
static char *range_of(const struct making *m, unsigned column)
{
    g_autofree char *range = orch_observed_range(m->o, column);
    if (!range)
        return NULL;
    GString *text = g_string_new(NULL);
    if (strcmp(range, "words") == 0 || m->is_parent[column]) {
        g_autoptr(GPtrArray) words = words_of(m->o, column);
        for (guint k = 0; k < words->len; k++)
            g_string_append_printf(text, "%sw%u", k ? ", " : "choice(", k);
        g_string_append_c(text, ')');
    } else {
        g_string_append(text, range);
    }
    if (m->parents[column] >= 0)
        append_condition(m, column, text);
    return g_string_free(text, FALSE);
}

static bool add(const struct making *m, unsigned column)
{
    struct orch_space *space = m->out->space;
    g_autofree char *range = range_of(m, column), *name = g_strdup_printf("p%u", column);
    const unsigned index = space->params->len;
    if (!range || index == ORCH_SPACE_PARAMS_MAX || !orch_space_add(space, name, range, NULL, NULL))
        return false;
    m->out->columns[index] = column;
    return true;
}

/* Finds for each column which one decides whether it exists; those that all runs have come first.
 */
static void find_parents(struct making *m)
{
    const struct orch_observed *o = m->o;
    g_autofree bool *exists = g_new0(bool, o->count + 1);
    bool has_new = true;
    for (int round = 0; has_new; round++) {
        has_new = false;
        for (unsigned k = 0; k < o->columns; k++) {
            const unsigned column = m->order[k];
            bool is_whole = true;
            for (size_t i = 0; i < o->count; i++) {
                exists[i] = *text_at(o, i, column);
                is_whole = is_whole && exists[i];
            }
            if (m->is_placed[column] || is_whole != (round == 0))
                continue;
            m->parents[column] = is_whole ? -1 : find_decider(o, column, exists, m->is_placed);
            m->is_placed[column] = is_whole || m->parents[column] >= 0;
            has_new = has_new || m->is_placed[column];
            if (m->parents[column] >= 0)
                m->is_parent[m->parents[column]] = true;
        }
        has_new = has_new || round == 0;
    }
}

/* Adds a column after the one that decides about it. */
static void place(struct making *m, unsigned column, bool *is_added)
{
    if (is_added[column])
        return;
    is_added[column] = true;
    if (m->parents[column] >= 0)
        place(m, (unsigned)m->parents[column], is_added);
    add(m, column);
}

static int compare_columns(const void *a, const void *b, void *observed)
{
    const struct orch_observed *o = observed;
    return strcmp(o->names[*(const unsigned *)a], o->names[*(const unsigned *)b]);
}

static void fill_units(const struct making *m)
{
    const struct orch_observed *o = m->o;
    const struct orch_space *space = m->out->space;
    const unsigned width = space->params->len;
    for (unsigned p = 0; p < width; p++) {
        const struct orch_space_param *param = orch_space_param(space, p);
        const unsigned column = m->out->columns[p];
        g_autoptr(GPtrArray) words =
            param->kind == ORCH_SPACE_CHOICE ? words_of(o, column) : g_ptr_array_new();
        for (size_t i = 0; i < o->count; i++) {
            const char *text = text_at(o, i, column);
            double unit = (double)NAN;
            guint k;
            if (param->kind == ORCH_SPACE_CHOICE &&
                g_ptr_array_find_with_equal_func(words, text, g_str_equal, &k))
                unit = orch_space_level_unit(param, k);
            else if (param->kind != ORCH_SPACE_CHOICE && *text &&
                     !orch_space_unit(param, text, &unit))
                unit = (double)NAN;
            m->out->units[i * width + p] = unit;
        }
    }
}

struct orch_observed_space *orch_observed_space_new(const struct orch_observed *observed)
{
    struct making m = {.o = observed,
                       .out = g_new0(struct orch_observed_space, 1),
                       .order = g_new0(unsigned, observed->columns + 1),
                       .is_placed = g_new0(bool, observed->columns + 1),
                       .parents = g_new0(int, observed->columns + 1),
                       .is_parent = g_new0(bool, observed->columns + 1)};
    g_autofree bool *is_added = g_new0(bool, observed->columns + 1);
    m.out->space = orch_space_new();
    for (unsigned k = 0; k < observed->columns; k++) {
        m.order[k] = k;
        m.parents[k] = -1;
    }
    g_qsort_with_data(m.order, (int)observed->columns, sizeof *m.order, compare_columns,
                      (void *)(uintptr_t)observed);
    find_parents(&m);
    for (unsigned k = 0; k < observed->columns; k++)
        place(&m, m.order[k], is_added);
    m.out->units = g_new(double, observed->count *m.out->space->params->len + 1);
    fill_units(&m);
    g_free(m.order);
    g_free(m.is_placed);
    g_free(m.parents);
    g_free(m.is_parent);
    return m.out;
}

void orch_observed_space_free(struct orch_observed_space *space)
{
    if (!space)
        return;
    orch_space_free(space->space);
    g_free(space->units);
    g_free(space);
}
