/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assignment of rows to cross-validation folds. */
#include "predictors/learn/scenario.h"

#include "lib/base/random.h"
#include "lib/devices/gpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
    const char *name;
    size_t rows;
    uint64_t hash;
    int fold;
};

static uint64_t hash_text(const char *text, uint64_t seed)
{
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return orch_random_next(&h);
}

/* Orders by size, largest first, then by hash. */
static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->rows != y->rows)
        return x->rows < y->rows ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Assigns groups, largest first, to the fold with the fewest rows, which keeps folds even when
 * there are few groups. */
static void deal(struct group *groups, size_t count)
{
    size_t sizes[ORCH_FOLDS] = {0};
    qsort(groups, count, sizeof *groups, compare_groups);
    for (size_t g = 0; g < count; g++) {
        int fold = 0;
        for (int f = 1; f < ORCH_FOLDS; f++)
            fold = sizes[f] < sizes[fold] ? f : fold;
        groups[g].fold = fold;
        sizes[fold] += groups[g].rows;
    }
}

static void fold_groups(char *const *names, size_t rows, uint64_t seed, int *out)
{
    g_autoptr(GHashTable) at = g_hash_table_new(g_str_hash, g_str_equal);
    g_autofree struct group *groups = g_new0(struct group, rows + 1);
    g_autofree size_t *group_of = g_new(size_t, rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        gpointer known;
        if (!g_hash_table_lookup_extended(at, names[i], NULL, &known)) {
            known = GSIZE_TO_POINTER(count);
            groups[count++] = (struct group){names[i], 0, hash_text(names[i], seed), 0};
            g_hash_table_insert(at, names[i], known);
        }
        group_of[i] = GPOINTER_TO_SIZE(known);
        groups[group_of[i]].rows++;
    }
    g_autofree struct group *dealt = g_memdup2(groups, (count + 1) * sizeof *groups);
    deal(dealt, count);
    for (size_t g = 0; g < count; g++)
        groups[GPOINTER_TO_SIZE(g_hash_table_lookup(at, dealt[g].name))].fold = dealt[g].fold;
    for (size_t i = 0; i < rows; i++)
        out[i] = groups[group_of[i]].fold;
}

int *orch_folds_new(char *const *groups, size_t rows, uint64_t seed)
{
    int *folds = g_new0(int, MAX(rows, 1));
    if (groups) {
        fold_groups(groups, rows, seed, folds);
        return folds;
    }
    /* Round robin over a random permutation, so that all folds have the same size. */
    g_autofree size_t *order = g_new(size_t, rows + 1);
    uint64_t random = orch_random_stream(seed, 7);
    for (size_t i = 0; i < rows; i++) {
        size_t other = orch_random_below(&random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < rows; i++)
        folds[order[i]] = (int)(i % ORCH_FOLDS);
    return folds;
}

void orch_folds_name_chips(char **gpus, size_t rows)
{
    g_autoptr(GHashTable) chips = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < rows; i++) {
        gpointer chip = g_hash_table_lookup(chips, gpus[i]);
        if (!chip) {
            chip = (gpointer)(uintptr_t)orch_gpu_chip(gpus[i]);
            g_hash_table_insert(chips, gpus[i], chip);
        }
        gpus[i] = chip;
    }
}

char **orch_levels_of(const struct orch_matrix *matrix, int column)
{
    const struct orch_matrix_feature *f = orch_matrix_feature(matrix, column);
    const double *values = orch_matrix_column(matrix, column);
    static char none[] = "";
    char **out = g_new(char *, matrix->rows + 1);
    for (size_t i = 0; i < matrix->rows; i++)
        out[i] = isnan(values[i]) || !f->levels ? none : f->levels->pdata[(int)values[i]];
    out[matrix->rows] = NULL;
    return out;
}
