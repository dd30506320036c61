/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/question_shape.h"

#include "lib/devices/gpus.h"
#include "predictors/learn/scenario.h"

#include <math.h>
#include <string.h>

static int find_any(const struct orch_rows *rows, const char *const *names, bool is_category)
{
    for (int i = 0; names[i]; i++) {
        int column = orch_matrix_find(rows->matrix, names[i]);
        if (column >= 0 &&
            is_category == (orch_matrix_feature(rows->matrix, column)->levels != NULL))
            return column;
    }
    return -1;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* What of the GPUs was measured. */
struct measured_gpus {
    GHashTable *boards, *chips;
    int year; /* of the latest chip; 0: none is known */
    bool nvidia, others;
};

static bool is_nvidia(const struct orch_gpu_spec *spec)
{
    return *spec->compute_capability;
}

/* The year of a chip's first board; 0: unknown. */
static int year_of(const char *chip)
{
    int year = 0;
    for (const struct orch_gpu_spec *s = orch_gpu_specs(); s->name; s++)
        if (g_strcmp0(s->chip, chip) == 0 && (!year || s->year < year))
            year = s->year;
    return year;
}

static void note_gpus(struct measured_gpus *m, char *const *names, size_t rows)
{
    m->boards = g_hash_table_new(g_str_hash, g_str_equal);
    m->chips = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        if (!g_hash_table_add(m->boards, names[i]))
            continue;
        const struct orch_gpu_spec *spec = orch_gpu_find(names[i]);
        const char *chip = orch_gpu_chip(names[i]);
        g_hash_table_add(m->chips, (gpointer)(uintptr_t)chip);
        m->year = MAX(m->year, year_of(chip));
        m->nvidia |= spec && is_nvidia(spec);
        m->others |= spec && !is_nvidia(spec);
    }
}

static unsigned shape_of_gpu(const struct measured_gpus *m, const char *name)
{
    const char *chip = orch_gpu_chip(name);
    const struct orch_gpu_spec *spec = orch_gpu_find(name);
    if (!*name || g_hash_table_contains(m->boards, name))
        return 0;
    if (g_hash_table_contains(m->chips, chip))
        return ORCH_SHAPE_BOARD;
    if (spec && (m->nvidia || m->others) && !(is_nvidia(spec) ? m->nvidia : m->others))
        return ORCH_SHAPE_VENDOR;
    return m->year && year_of(chip) > m->year ? ORCH_SHAPE_LATER : ORCH_SHAPE_CHIP;
}

static void add_gpus(const struct orch_rows *known, const struct orch_rows *asked, unsigned *out)
{
    static const char *const names[] = {"gpu", "accel", NULL};
    int mine = find_any(known, names, true), theirs = find_any(asked, names, true);
    struct measured_gpus m = {0};
    if (mine < 0 || theirs < 0)
        return;
    g_autofree char **measured = orch_levels_of(known->matrix, mine);
    g_autofree char **gpus = orch_levels_of(asked->matrix, theirs);
    note_gpus(&m, measured, known->rows);
    g_autoptr(GHashTable) shapes = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < asked->rows; i++) {
        gpointer shape;
        if (!g_hash_table_lookup_extended(shapes, gpus[i], NULL, &shape)) {
            shape = GUINT_TO_POINTER(shape_of_gpu(&m, gpus[i]));
            g_hash_table_insert(shapes, gpus[i], shape);
        }
        out[i] |= GPOINTER_TO_UINT(shape);
    }
    g_hash_table_unref(m.boards);
    g_hash_table_unref(m.chips);
}

/* ---- networks -------------------------------------------------------------------------------- */

/* The letters that a name begins with, after the word for where its weights come from: resnet of
 * "tf_resnet50". */
static char *family_of(const char *net)
{
    static const char *const trained_by[] = {"tf_",     "gluon_", "swsl_", "ssl_", "adv_",
                                             "ens_",    "ig_",    "tv_",   "hf_",  "dm_",
                                             "legacy_", "nf_",    NULL};
    for (int i = 0; trained_by[i]; i++)
        if (g_str_has_prefix(net, trained_by[i])) {
            net += strlen(trained_by[i]);
            break;
        }
    size_t letters = 0;
    while (g_ascii_isalpha(net[letters]))
        letters++;
    g_autofree char *head = g_strndup(net, letters);
    return g_ascii_strdown(head, -1);
}

static void add_networks(const struct orch_rows *known, const struct orch_rows *asked,
                         unsigned *out)
{
    static const char *const names[] = {"net", "model", "network", "task", NULL};
    int mine = find_any(known, names, true), theirs = find_any(asked, names, true);
    if (mine < 0 || theirs < 0)
        return;
    g_autofree char **measured = orch_levels_of(known->matrix, mine);
    g_autofree char **nets = orch_levels_of(asked->matrix, theirs);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < known->rows; i++)
        if (g_hash_table_add(seen, measured[i]))
            g_hash_table_add(families, family_of(measured[i]));
    for (size_t i = 0; i < asked->rows; i++) {
        if (!*nets[i] || g_hash_table_contains(seen, nets[i]))
            continue;
        g_autofree char *family = family_of(nets[i]);
        out[i] |= g_hash_table_contains(families, family) ? ORCH_SHAPE_NETWORK : ORCH_SHAPE_FAMILY;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void add_counts(const struct orch_rows *known, const struct orch_rows *asked, unsigned *out)
{
    static const char *const names[] = {"gpus", "accels", "num_gpus", "ngpus", "workers", NULL};
    int mine = find_any(known, names, false), theirs = find_any(asked, names, false);
    if (mine < 0 || theirs < 0)
        return;
    double most = 0;
    for (size_t i = 0; i < known->rows; i++)
        most = fmax(most, orch_matrix_column(known->matrix, mine)[i]);
    for (size_t i = 0; i < asked->rows; i++)
        out[i] |= orch_matrix_column(asked->matrix, theirs)[i] > most ? ORCH_SHAPE_COUNT : 0;
}

unsigned *orch_question_shapes(const struct orch_rows *known, const struct orch_rows *asked)
{
    unsigned *out = g_new0(unsigned, asked->rows + 1);
    add_gpus(known, asked, out);
    add_networks(known, asked, out);
    add_counts(known, asked, out);
    return out;
}

char *orch_question_shape_text(unsigned shape)
{
    static const struct {
        enum orch_question_shape bit;
        const char *text;
    } words[] = {{ORCH_SHAPE_BOARD, "another board of a measured chip"},
                 {ORCH_SHAPE_CHIP, "a chip that was not measured"},
                 {ORCH_SHAPE_LATER, "a chip later than all measured ones"},
                 {ORCH_SHAPE_VENDOR, "a chip of a vendor that was not measured"},
                 {ORCH_SHAPE_NETWORK, "a network that was not measured"},
                 {ORCH_SHAPE_FAMILY, "a family of networks that was not measured"},
                 {ORCH_SHAPE_COUNT, "more GPUs than were measured"}};
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (shape & words[i].bit)
            g_string_append_printf(text, "%s%s", text->len ? ", " : "", words[i].text);
    if (!shape)
        g_string_append(text, "rows like the measured ones");
    return g_string_free(text, FALSE);
}
