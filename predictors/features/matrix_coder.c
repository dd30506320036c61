/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encoding of a matrix's features as numeric columns for a model. */
#include "predictors/features/matrix.h"

#include "lib/base/random.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PULL_LEAST 0.1 /* weight of the overall mean in a level's mean, in rows */
#define PULL_MOST 20.0
#define TWIN_REACH 4
#define SIGNS 24
/* Two levels differ in about 12 of 24 signs, by 1 each: more distant than one-hot levels. */
#define SIGN 0.5
#define MEAN_FOLDS 5  /* folds of the training rows for the means of levels */
#define LEVELS_MAX 64 /* limit for one-hot columns */

enum part_kind { AS_IS, LEVEL_MEAN, LEVEL_IS, LEVEL_SIGN, SCALED, LOG_SCALED, IS_MISSING };

/* An output column. */
struct part {
    enum part_kind kind;
    int source;
    char *name, *feature;
    char *level;           /* LEVEL_IS */
    int bit;               /* LEVEL_SIGN: bit of the level's hash */
    GHashTable *means;     /* LEVEL_MEAN: level -> double * */
    double centre, spread; /* SCALED, LOG_SCALED */
};

struct orch_coder {
    GPtrArray *parts; /* struct part * */
};

static void free_part(gpointer data)
{
    struct part *p = data;
    g_free(p->name);
    g_free(p->feature);
    g_free(p->level);
    if (p->means)
        g_hash_table_unref(p->means);
    g_free(p);
}

static struct part *add_part(struct orch_coder *coder, const struct orch_matrix *m, int source,
                             enum part_kind kind, char *name)
{
    struct part *p = g_new0(struct part, 1);
    p->kind = kind;
    p->source = source;
    p->name = name;
    p->feature = g_strdup(orch_matrix_feature(m, source)->name);
    p->spread = 1;
    g_ptr_array_add(coder->parts, p);
    return p;
}

static int mean_fold(size_t row)
{
    uint64_t random = row;
    return (int)orch_random_below(&random, MEAN_FOLDS);
}

/* Sums and counts of the target by level, without one fold of the rows (-1: all rows). */
struct level_sums {
    double *sums, *counts, all;
    double shrinkage; /* weight of the overall mean in a level's mean, in rows: variance within
                    levels over variance between them (empirical Bayes) */
};

static double shrinkage_of(const struct level_sums *s, guint levels, double squares)
{
    double used = 0, rows = 0, sum = 0, of_means = 0;
    for (guint k = 0; k < levels; k++) {
        if (!(s->counts[k] > 0))
            continue;
        used++;
        rows += s->counts[k];
        sum += s->sums[k];
        of_means += s->sums[k] * s->sums[k] / s->counts[k];
    }
    if (used < 2 || rows <= used)
        return 1;
    double within = (squares - of_means) / (rows - used);
    double all = (of_means - sum * sum / rows) / (used - 1); /* between levels, including chance */
    double between = (all - within) / (rows / used);
    return between > 0 ? CLAMP(within / between, PULL_LEAST, PULL_MOST) : PULL_MOST;
}

static struct level_sums sum_levels(const struct orch_matrix *m, int column, const double *target,
                                    int fold)
{
    guint levels = orch_matrix_feature(m, column)->levels->len;
    const double *values = orch_matrix_column(m, column);
    struct level_sums s = {g_new0(double, levels + 1), g_new0(double, levels + 1), 0, 0};
    double rows = 0, squares = 0;
    for (size_t i = 0; i < m->rows; i++) {
        if (fold >= 0 && mean_fold(i) == fold)
            continue;
        s.all += target[i];
        rows++;
        if (!isnan(values[i])) {
            s.sums[(int)values[i]] += target[i];
            s.counts[(int)values[i]] += 1;
            squares += target[i] * target[i];
        }
    }
    s.all = rows > 0 ? s.all / rows : 0;
    s.shrinkage = shrinkage_of(&s, levels, squares);
    return s;
}

static double level_mean(const struct level_sums *s, int level)
{
    return (s->sums[level] + s->shrinkage * s->all) / (s->counts[level] + s->shrinkage);
}

static void fit_means(struct part *p, const struct orch_matrix *m, const double *target)
{
    const struct orch_matrix_feature *f = orch_matrix_feature(m, p->source);
    struct level_sums s = sum_levels(m, p->source, target, -1);
    p->means = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    p->centre = s.all;
    double squares = 0, used = 0;
    for (guint i = 0; i < f->levels->len; i++) {
        double *mean = g_new(double, 1);
        *mean = level_mean(&s, (int)i);
        squares += s.counts[i] * (*mean - s.all) * (*mean - s.all);
        used += s.counts[i];
        if (s.counts[i] > 0)
            g_hash_table_insert(p->means, g_strdup(f->levels->pdata[i]), mean);
        else
            g_free(mean);
    }
    p->spread = squares > 1e-24 * used ? sqrt(squares / used) : 1;
    g_free(s.sums);
    g_free(s.counts);
}

static double shown(const struct part *p, double value)
{
    return p->kind == LOG_SCALED ? log(value) : value;
}

/* Sets mean and standard deviation of the values that are not missing. */
static void fit_scale(struct part *p, const double *column, size_t rows)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < rows; i++) {
        double v = shown(p, column[i]);
        if (isfinite(v)) {
            sum += v;
            squares += v * v;
            count++;
        }
    }
    p->centre = count > 0 ? sum / count : 0;
    double variance = count > 1 ? squares / count - p->centre * p->centre : 0;
    p->spread = variance > 1e-24 * (1 + p->centre * p->centre) ? sqrt(variance) : 1;
}

struct column_facts {
    bool has_missing, is_there, is_positive, varies;
};

static struct column_facts look(const double *column, size_t rows)
{
    struct column_facts facts = {.is_positive = true};
    double first = (double)NAN;
    for (size_t i = 0; i < rows; i++) {
        if (isnan(column[i])) {
            facts.has_missing = true;
            continue;
        }
        facts.is_there = true;
        facts.is_positive &= column[i] > 0;
        facts.varies |= !isnan(first) && !(column[i] <= first && column[i] >= first);
        first = isnan(first) ? column[i] : first;
    }
    return facts;
}

/* By level of a category, whether a row has it. The caller frees. */
static bool *levels_with_rows(const struct orch_matrix *m, int c)
{
    bool *has_rows = g_new0(bool, orch_matrix_feature(m, c)->levels->len + 1);
    for (size_t i = 0; i < m->rows; i++)
        if (!isnan(orch_matrix_column(m, c)[i]))
            has_rows[(int)orch_matrix_column(m, c)[i]] = true;
    return has_rows;
}

static void code_category(struct orch_coder *coder, const struct orch_matrix *m, int c,
                          const double *target, enum orch_coding coding)
{
    const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
    if (!look(orch_matrix_column(m, c), m->rows).varies)
        return;
    for (int bit = 0; coding == ORCH_CODING_NEAR && f->levels->len > LEVELS_MAX && bit < SIGNS;
         bit++)
        add_part(coder, m, c, LEVEL_SIGN, g_strdup_printf("%s sign %d", f->name, bit))->bit = bit;
    if (coding == ORCH_CODING_NEAR && f->levels->len > LEVELS_MAX)
        return;
    if (coding == ORCH_CODING_MEAN || f->levels->len > LEVELS_MAX) {
        fit_means(add_part(coder, m, c, LEVEL_MEAN, g_strdup(f->name)), m, target);
        return;
    }
    g_autofree bool *is_known = levels_with_rows(m, c);
    for (guint i = 0; i < f->levels->len; i++) {
        const char *level = f->levels->pdata[i];
        if (!is_known[i])
            continue;
        struct part *p = add_part(coder, m, c, LEVEL_IS, g_strdup_printf("%s=%s", f->name, level));
        p->level = g_strdup(level);
    }
}

/* True if the column equals one of the columns just before it (a GPU's facts may occur twice). */
static bool is_twin(const struct orch_matrix *m, int c)
{
    for (int other = MAX(0, c - TWIN_REACH); other < c; other++)
        if (!orch_matrix_feature(m, other)->levels &&
            memcmp(orch_matrix_column(m, other), orch_matrix_column(m, c),
                   m->rows * sizeof(double)) == 0)
            return true;
    return false;
}

static void code_number(struct orch_coder *coder, const struct orch_matrix *m, int c,
                        enum orch_coding coding)
{
    if (is_twin(m, c))
        return;
    const char *name = orch_matrix_feature(m, c)->name;
    const double *column = orch_matrix_column(m, c);
    struct column_facts facts = look(column, m->rows);
    if (coding == ORCH_CODING_MEAN) {
        if (facts.varies || (facts.has_missing && facts.is_there))
            add_part(coder, m, c, AS_IS, g_strdup(name));
        return;
    }
    if (facts.varies) {
        fit_scale(add_part(coder, m, c, SCALED, g_strdup(name)), column, m->rows);
        if (facts.is_positive)
            fit_scale(add_part(coder, m, c, LOG_SCALED, g_strdup_printf("log %s", name)), column,
                      m->rows);
    }
    if (facts.has_missing && facts.is_there)
        add_part(coder, m, c, IS_MISSING, g_strdup_printf("no %s", name));
}

struct orch_coder *orch_coder_fit(const struct orch_matrix *m, const double *target,
                                  enum orch_coding coding)
{
    struct orch_coder *coder = g_new0(struct orch_coder, 1);
    coder->parts = g_ptr_array_new_with_free_func(free_part);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        if (orch_matrix_feature(m, c)->levels)
            code_category(coder, m, c, target, coding);
        else
            code_number(coder, m, c, coding);
    }
    return coder;
}

void orch_coder_free(struct orch_coder *coder)
{
    if (!coder)
        return;
    g_ptr_array_unref(coder->parts);
    g_free(coder);
}

int orch_coder_cols(const struct orch_coder *coder)
{
    return (int)coder->parts->len;
}

int orch_coder_source(const struct orch_coder *coder, int column)
{
    return ((struct part *)coder->parts->pdata[column])->source;
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return orch_random_next(&h);
}

/* Reads "2.9.1" as 2.009001, so that numbers go with the order of versions. */
static double read_version(const char **inout_at)
{
    double sum = 0, unit = 1;
    const char *at = *inout_at;
    for (char *end; g_ascii_isdigit(*at); at = *end == '.' ? end + 1 : end, unit /= 1000)
        sum += unit * (double)strtoul(at, &end, 10);
    *inout_at = at;
    return sum;
}

/* How far two versions of one software are apart; infinite if they differ in more than a number. */
static double between_versions(const char *a, const char *b)
{
    size_t name = strcspn(a, "0123456789");
    if (g_ascii_strncasecmp(a, b, name) != 0 || !g_ascii_isdigit(a[name]) ||
        !g_ascii_isdigit(b[name]))
        return (double)INFINITY;
    a += name;
    b += name;
    double distance = fabs(read_version(&a) - read_version(&b));
    return g_ascii_strcasecmp(a, b) == 0 ? distance : (double)INFINITY;
}

/* Keeps the nearer of two known levels; of two equally near ones the older. */
static void take_nearer(const char *level, const char *known, const char **best, double *least)
{
    double distance = strcmp(known, level) ? between_versions(level, known) : -1;
    if (distance < *least ||
        (distance < (double)INFINITY && distance <= *least && strcmp(known, *best) < 0)) {
        *least = distance;
        *best = known;
    }
}

/* The level itself, or, of a version of software that has no rows, the nearest one that has. */
static const char *known_level(const struct orch_coder *coder, const struct part *p,
                               const char *level)
{
    const char *best = level;
    double least = (double)INFINITY;
    GHashTableIter means;
    gpointer known;
    if (!orch_feature_is_software(p->feature))
        return level;
    if (p->means)
        g_hash_table_iter_init(&means, p->means);
    while (p->means && g_hash_table_iter_next(&means, &known, NULL))
        take_nearer(level, known, &best, &least);
    for (guint k = 0; p->level && k < coder->parts->len; k++) {
        const struct part *other = coder->parts->pdata[k];
        if (other->level && strcmp(other->feature, p->feature) == 0)
            take_nearer(level, other->level, &best, &least);
    }
    return best;
}

/* Value for a level; an unknown level gets the mean, or 0 in all its indicators. */
static double code_level(const struct orch_coder *coder, const struct part *p, const char *level)
{
    level = known_level(coder, p, level);
    if (p->kind == LEVEL_IS)
        return strcmp(level, p->level) == 0;
    if (p->kind == LEVEL_SIGN)
        return hash_text(level) >> p->bit & 1 ? SIGN : -SIGN;
    const double *mean = g_hash_table_lookup(p->means, level);
    return mean ? (*mean - p->centre) / p->spread : 0;
}

/* Values for each level of the rows' own category. Caller frees. */
static double *level_values(const struct orch_coder *coder, const struct part *p,
                            const struct orch_matrix_feature *f)
{
    double *values = g_new(double, f->levels->len + 1);
    for (guint i = 0; i < f->levels->len; i++)
        values[i] = code_level(coder, p, f->levels->pdata[i]);
    return values;
}

static double code_number_value(const struct part *p, double value)
{
    switch (p->kind) {
    case IS_MISSING:
        return isnan(value);
    case SCALED:
    case LOG_SCALED: {
        double v = (shown(p, value) - p->centre) / p->spread;
        return isfinite(v) ? v : 0;
    }
    default:
        return value;
    }
}

/* Looks up a number that was a category in training by its text. */
static double code_as_level(const struct orch_coder *coder, const struct part *p, double value)
{
    char text[32];
    if (isnan(value))
        return p->kind == LEVEL_MEAN ? value : 0;
    g_ascii_formatd(text, sizeof text, "%.12g", value);
    return code_level(coder, p, text);
}

static void code_column(const struct orch_coder *coder, const struct part *p,
                        const struct orch_matrix *m, int c, double *out)
{
    bool to_level = p->kind == LEVEL_MEAN || p->kind == LEVEL_IS || p->kind == LEVEL_SIGN;
    const struct orch_matrix_feature *f = c >= 0 ? orch_matrix_feature(m, c) : NULL;
    const double *column = c >= 0 ? orch_matrix_column(m, c) : NULL;
    g_autofree double *levels = f && f->levels && to_level ? level_values(coder, p, f) : NULL;
    for (size_t i = 0; i < m->rows; i++) {
        double value = column && (to_level || !f->levels) ? column[i] : (double)NAN;
        if (!to_level)
            out[i] = code_number_value(p, value);
        else if (levels && !isnan(value))
            out[i] = levels[(int)value];
        else
            out[i] = code_as_level(coder, p, value);
    }
}

double *orch_coder_apply(const struct orch_coder *coder, const struct orch_matrix *m)
{
    double *out = g_new(double, MAX((size_t)orch_coder_cols(coder) * m->rows, 1));
    const char *feature = ""; /* feature of the previous part, which is usually the same */
    for (int k = 0, at = -1; k < orch_coder_cols(coder); k++) {
        const struct part *p = coder->parts->pdata[k];
        at = strcmp(p->feature, feature) == 0 ? at : orch_matrix_find(m, p->feature);
        feature = p->feature;
        code_column(coder, p, m, at, out + (size_t)k * m->rows);
    }
    return out;
}

double *orch_coder_apply_learned(const struct orch_coder *coder, const struct orch_matrix *m,
                                 const double *target)
{
    double *out = orch_coder_apply(coder, m);
    for (int k = 0; k < orch_coder_cols(coder); k++) {
        const struct part *p = coder->parts->pdata[k];
        const double *column = orch_matrix_column(m, p->source);
        for (int fold = 0; p->kind == LEVEL_MEAN && fold < MEAN_FOLDS; fold++) {
            struct level_sums s = sum_levels(m, p->source, target, fold);
            for (size_t i = 0; i < m->rows; i++)
                if (mean_fold(i) == fold && !isnan(column[i]))
                    out[(size_t)k * m->rows + i] =
                        (level_mean(&s, (int)column[i]) - p->centre) / p->spread;
            g_free(s.sums);
            g_free(s.counts);
        }
    }
    return out;
}

/* ---- saving ------------------------------------------------------------------------------------
 */

static const char *const PART_NAMES[] = {"as-is",  "level-mean", "level",  "level-sign",
                                         "scaled", "log-scaled", "missing"};

static json_t *save_part(const struct part *p)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:i}", "kind", PART_NAMES[p->kind], "name", p->name,
                          "feature", p->feature, "source", p->source);
    if (p->level)
        json_object_set_new(o, "level", json_string(p->level));
    if (p->kind == LEVEL_SIGN)
        json_object_set_new(o, "bit", json_integer(p->bit));
    if (p->kind == LEVEL_MEAN || p->kind == SCALED || p->kind == LOG_SCALED) {
        json_object_set_new(o, "centre", json_real(p->centre));
        json_object_set_new(o, "spread", json_real(p->spread));
    }
    if (p->means) {
        json_t *means = json_object();
        GHashTableIter iter;
        gpointer level, mean;
        g_hash_table_iter_init(&iter, p->means);
        while (g_hash_table_iter_next(&iter, &level, &mean))
            json_object_set_new(means, level, json_real(*(double *)mean));
        json_object_set_new(o, "means", means);
    }
    return o;
}

json_t *orch_coder_save(const struct orch_coder *coder, enum orch_save_style style)
{
    json_t *list = json_array();
    (void)style;
    for (guint i = 0; i < coder->parts->len; i++)
        json_array_append_new(list, save_part(coder->parts->pdata[i]));
    return list;
}

static bool load_means(struct part *p, const json_t *saved, GError **error)
{
    const json_t *means = orch_load_object(saved, "means", error);
    const char *level;
    json_t *value;
    p->means = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    json_object_foreach((json_t *)(uintptr_t)means, level, value)
    {
        double *mean = g_new(double, 1);
        *mean = json_number_value(value);
        g_hash_table_insert(p->means, g_strdup(level), mean);
    }
    return means;
}

static bool load_part(struct part *p, const json_t *saved, GError **error)
{
    const char *kind = orch_load_text(saved, "kind", error);
    const char *name = kind ? orch_load_text(saved, "name", error) : NULL;
    const char *feature = name ? orch_load_text(saved, "feature", error) : NULL;
    int64_t source;
    if (!feature || !orch_load_int(saved, "source", 0, INT32_MAX, &source, error))
        return false;
    size_t k = 0;
    while (k < G_N_ELEMENTS(PART_NAMES) && strcmp(PART_NAMES[k], kind) != 0)
        k++;
    if (k == G_N_ELEMENTS(PART_NAMES))
        return orch_load_fail(kind, "is not a known encoding", error);
    p->kind = (enum part_kind)k;
    p->name = g_strdup(name);
    p->feature = g_strdup(feature);
    p->source = (int)source;
    p->spread = 1;
    int64_t bit = 0;
    if (p->kind == LEVEL_SIGN && !orch_load_int(saved, "bit", 0, 63, &bit, error))
        return false;
    p->bit = (int)bit;
    if (p->kind == LEVEL_IS) {
        p->level = g_strdup(orch_load_text(saved, "level", error));
        return p->level;
    }
    bool is_scaled = p->kind == LEVEL_MEAN || p->kind == SCALED || p->kind == LOG_SCALED;
    if (is_scaled && (!orch_load_real(saved, "centre", &p->centre, error) ||
                      !orch_load_real(saved, "spread", &p->spread, error)))
        return false;
    return p->kind != LEVEL_MEAN || load_means(p, saved, error);
}

struct orch_coder *orch_coder_load(const json_t *saved, GError **error)
{
    struct orch_coder *coder = g_new0(struct orch_coder, 1);
    bool ok = json_is_array(saved) || orch_load_fail("coder", "is not a list", error);
    coder->parts = g_ptr_array_new_with_free_func(free_part);
    for (size_t i = 0; ok && i < json_array_size(saved); i++) {
        struct part *p = g_new0(struct part, 1);
        g_ptr_array_add(coder->parts, p);
        ok = load_part(p, json_array_get(saved, i), error);
    }
    if (ok)
        return coder;
    orch_coder_free(coder);
    return NULL;
}
