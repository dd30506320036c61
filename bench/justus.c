/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layer-wise prediction on the measurements of Justus et al. 2018: root mean square error by GPU
 * beside what they published, and VGG-16's batch time as the sum of its layers. Their tables are
 * not part of orch.
 *
 * usage: bench_justus FOLDER [STEP [MODEL]]
 *
 * FOLDER has justus_conv.csv, justus_dense.csv and justus_vgg16.csv (exit 77: it has not); every
 * STEP-th row is used (default 1: all). Exit 1: one model for all GPUs misses by more than 20 %, or
 * its 90 % interval holds less than 85 or more than 95 % of the rows. */
#include "features/learn/heldout.h"
#include "features/learn/layerwise.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERROR_MOST 0.2     /* mean relative error of one model for all, on one row in 36 */
#define PUBLISHED_ALL 3.88 /* one model for all GPUs */
static const struct {
    const char *gpu;
    double rmse_ms;
} PUBLISHED[] = {
    {"V100", 1.73}, {"P100", 3.32}, {"K80", 7.84}, {"K40", 11.90}, {"GTX 1080 Ti", 2.55}};

static double published(const char *gpu)
{
    for (size_t i = 0; gpu && i < G_N_ELEMENTS(PUBLISHED); i++)
        if (strcmp(PUBLISHED[i].gpu, gpu) == 0)
            return PUBLISHED[i].rmse_ms;
    return (double)NAN;
}

static struct orch_rows *read_rows(const char *folder, const char *name, size_t step)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    struct orch_rows_options options = {.target = "ms", .group = "gpu"};
    g_autoptr(GError) error = NULL;
    struct orch_csv *csv = orch_csv_read(path, &error);
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, &error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        fprintf(stderr, "%s\n", error->message);
    if (!rows || step <= 1)
        return rows;
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i += step)
        which[count++] = i;
    struct orch_rows *few = orch_rows_pick(rows, which, count);
    orch_rows_free(rows);
    return few;
}

static void print_score(const struct orch_score *s)
{
    if (s->n)
        printf("  %8.2f %6.1f %% %5.1f %%", s->rmse, 100 * s->mean_relative_error,
               100 * s->coverage_90);
    else
        printf("  %8s %8s %7s", "-", "-", "-");
}

static bool print_by_gpu(const char *title, const struct orch_rows *rows,
                         const struct orch_learn_options *options, bool with_published)
{
    g_autoptr(GError) error = NULL;
    int64_t begin = g_get_monotonic_time();
    struct orch_heldout *held = orch_heldout_evaluate(rows, options, &error);
    if (!held) {
        fprintf(stderr, "%s\n", error->message);
        return false;
    }
    printf("\n%s: RMSE ms, mean relative error, within the 90 %% interval (%d of 5 folds judged, "
           "%.0f s)\n",
           title, held->folds, (double)(g_get_monotonic_time() - begin) / 1e6);
    printf("%-12s %6s  %-26s %-26s %-25s %s\n", "GPU", "rows", "  a model of it alone",
           "  one model for all", "  it was left out", with_published ? "published (alone)" : "");
    for (guint i = 0; i < held->groups->len; i++) {
        const struct orch_heldout_group *g =
            &g_array_index(held->groups, struct orch_heldout_group, i);
        printf("%-12s %6zu", g->name ? g->name : "all", g->rows);
        print_score(&g->own);
        print_score(&g->all);
        print_score(&g->left_out);
        if (with_published && g->name && !isnan(published(g->name)))
            printf("  %.2f", published(g->name));
        if (with_published && !g->name)
            printf("  %.2f (one model for all)", PUBLISHED_ALL);
        printf("\n");
    }
    const struct orch_score *all =
        &g_array_index(held->groups, struct orch_heldout_group, held->groups->len - 1).all;
    bool ok =
        all->mean_relative_error < ERROR_MOST && all->coverage_90 > 0.85 && all->coverage_90 < 0.95;
    if (!ok)
        fprintf(stderr, "%s: one model for all misses by more than it may\n", title);
    orch_heldout_free(held);
    return ok;
}

/* ---- VGG-16 ------------------------------------------------------------------------------------
 */

enum scope { SCOPE_OWN, SCOPE_ALL, SCOPE_LEFT_OUT };

static struct orch_rows *rows_in(const struct orch_rows *rows, const char *gpu, enum scope scope)
{
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        bool own = strcmp(rows->groups[i], gpu) == 0;
        if (scope == SCOPE_ALL || own == (scope == SCOPE_OWN))
            which[count++] = i;
    }
    return orch_rows_pick(rows, which, count);
}

static struct orch_layerwise *learn(const struct orch_rows *conv, const struct orch_rows *dense,
                                    const char *gpu, enum scope scope,
                                    const struct orch_learn_options *options)
{
    g_autoptr(GError) error = NULL;
    struct orch_learn_options own = *options;
    own.by_group = scope == SCOPE_LEFT_OUT;
    struct orch_rows *c = rows_in(conv, gpu, scope), *d = rows_in(dense, gpu, scope);
    struct orch_layerwise *l = orch_layerwise_learn(c, d, "ms", &own, &error);
    if (!l)
        fprintf(stderr, "%s\n", error->message);
    orch_rows_free(c);
    orch_rows_free(d);
    return l;
}

static double real_at(const struct orch_csv *csv, size_t row, const char *name)
{
    double value = (double)NAN;
    orch_real_parse(orch_csv_text(csv, row, orch_csv_find(csv, name)), &value);
    return value;
}

static bool print_vgg16(const char *folder, const struct orch_rows *conv,
                        const struct orch_rows *dense, const struct orch_learn_options *options)
{
    static const char gpu[] = "V100";
    g_autofree char *path = g_build_filename(folder, "justus_vgg16.csv", NULL);
    struct orch_csv *csv = orch_csv_read(path, NULL);
    struct orch_net_options wanted = {.name = "vgg16"};
    struct orch_net *net = orch_net_make(&wanted, NULL);
    struct orch_layerwise *by[3] = {0};
    double errors[3] = {0};
    bool ok = csv && net;
    for (int s = 0; ok && s < 3; s++)
        ok = (by[s] = learn(conv, dense, gpu, (enum scope)s, options));
    if (ok)
        printf("\nVGG-16 on a %s: ms a batch as the sum of its layers\n%5s %-6s %9s  %-28s %-28s "
               "%-20s\n",
               gpu, "batch", "opt", "measured", "a model of it alone", "one model for all",
               "it was left out");
    int outside = 0;
    size_t rows = ok ? orch_csv_rows(csv) : 0;
    for (size_t i = 0; i < rows; i++) {
        const char *const facts[] = {"gpu", gpu, NULL};
        double measured = real_at(csv, i, "ms_per_batch");
        const char *opt = orch_csv_text(csv, i, orch_csv_find(csv, "opt"));
        struct orch_layerwise_job job = {(int64_t)real_at(csv, i, "batch"), opt, facts};
        printf("%5d %-6s %9.1f", (int)job.batch, opt, measured);
        for (int s = 0; s < 3; s++) {
            struct orch_layerwise_time *t = orch_layerwise_predict(by[s], net, &job, NULL);
            double error = (t->batch_ms.mid - measured) / measured;
            errors[s] += fabs(error) / (double)rows;
            outside = MAX(outside, t->outside);
            printf("  %7.1f [%.0f, %.0f] %+.0f %%", t->batch_ms.mid, t->batch_ms.low,
                   t->batch_ms.high, 100 * error);
            if (i + 1 == rows && s == 2) {
                g_autofree char *left = orch_layerwise_left_out_text(t);
                printf("\nlayers: %u covered, up to %d of them beyond the sizes measured; left "
                       "out: %s",
                       t->layers->len, outside, left);
            }
            orch_layerwise_time_free(t);
        }
        printf("\n");
    }
    if (ok)
        printf("mean relative error: %.1f %%, %.1f %%, %.1f %%\n", 100 * errors[0], 100 * errors[1],
               100 * errors[2]);
    for (int s = 0; s < 3; s++)
        orch_layerwise_free(by[s]);
    orch_net_free(net);
    orch_csv_free(csv);
    return ok;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "";
    g_autofree char *first = g_build_filename(folder, "justus_conv.csv", NULL);
    if (access(first, R_OK) != 0) {
        printf("skipped: there is no '%s'\n", first);
        return 77;
    }
    int64_t step = 1;
    if (argc > 2 && (!orch_int_parse(argv[2], &step) || step < 1)) {
        fprintf(stderr, "STEP is a whole number above 0, found '%s'\n", argv[2]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct orch_learn_options options = {
        .model = argc > 3 ? argv[3] : "boost", .target = ORCH_LEARN_BEST, .no_tuning = true};
    struct orch_rows *conv = read_rows(folder, "justus_conv.csv", (size_t)step);
    struct orch_rows *dense = conv ? read_rows(folder, "justus_dense.csv", (size_t)step) : NULL;
    printf("model %s at its first setting, on every row in %d of the measurements of Justus et al. "
           "2018\n",
           options.model, (int)step);
    bool ok = dense && print_by_gpu("convolutions", conv, &options, true) &&
              print_by_gpu("dense layers", dense, &options, false) &&
              print_vgg16(folder, conv, dense, &options);
    orch_rows_free(conv);
    orch_rows_free(dense);
    return ok ? 0 : 1;
}
