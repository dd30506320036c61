/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/semisup/weak_labels.h"

#include "lib/base/error.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_TAIL = 0x7a11, STREAM_NOISE = 0x4015e, STREAM_RESAMPLE = 0x5a3e };

void orch_positions_clear(struct orch_positions *positions)
{
    g_clear_pointer(&positions->items, g_free);
    positions->count = 0;
}

static int64_t *counts_of(const int32_t *labels, int64_t count, int classes)
{
    int64_t *counts = g_new0(int64_t, classes);
    for (int64_t i = 0; i < count; i++)
        counts[labels[i]]++;
    return counts;
}

/* The positions of a class, in random order. */
static int64_t *shuffled_class(const int32_t *labels, int64_t count, int32_t class, int64_t size,
                               uint64_t seed)
{
    int64_t *positions = g_new(int64_t, size + 1), at = 0;
    for (int64_t i = 0; i < count; i++)
        if (labels[i] == class)
            positions[at++] = i;
    orch_random_shuffle(positions, size, seed);
    return positions;
}

static int compare_positions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- long tail --------------------------------------------------------------------------------
 */

/* Images of the smallest class that has any. */
static int64_t smallest(const int64_t *counts, int classes)
{
    int64_t least = 0;
    for (int c = 0; c < classes; c++)
        if (counts[c] > 0 && (least == 0 || counts[c] < least))
            least = counts[c];
    return least;
}

struct orch_positions orch_semisup_long_tail(const int32_t *labels, int64_t count, int classes,
                                             double exponent, uint64_t seed)
{
    struct orch_positions out = {0, g_new(int64_t, count + 1)};
    g_autofree int64_t *counts = counts_of(labels, count, classes);
    g_autofree int64_t *order = g_new(int64_t, classes);
    const double most = (double)smallest(counts, classes);
    for (int c = 0; c < classes; c++)
        order[c] = c;
    orch_random_shuffle(order, classes,
                        orch_random_stream_of(seed, STREAM_TAIL, (uint64_t)classes));
    for (int rank = 0; rank < classes; rank++) {
        const int64_t size = counts[order[rank]];
        const int64_t wanted = (int64_t)lrint(most * pow(rank + 1, -exponent));
        g_autofree int64_t *positions =
            shuffled_class(labels, count, (int32_t)order[rank], size,
                           orch_random_stream_of(seed, STREAM_TAIL, (uint64_t)order[rank]));
        for (int64_t i = 0; i < MIN(size, MAX(1, wanted)); i++)
            out.items[out.count++] = positions[i];
    }
    qsort(out.items, (size_t)out.count, sizeof *out.items, compare_positions);
    return out;
}

/* ---- noise ------------------------------------------------------------------------------------
 */

/* A label other than `own`, in proportion to `counts`, which have `others` images without it. */
static int32_t other_label(const int64_t *counts, int classes, int32_t own, int64_t others,
                           uint64_t *random)
{
    int64_t left = MIN((int64_t)(orch_random_unit(random) * (double)others), others - 1);
    int32_t last = own;
    for (int32_t c = 0; c < classes; c++) {
        if (c == own || counts[c] == 0)
            continue;
        last = c;
        if (left < counts[c])
            break;
        left -= counts[c];
    }
    return last;
}

int64_t orch_semisup_replace_labels(int32_t *labels, int64_t count, int classes, double share,
                                    uint64_t seed, GError **error)
{
    const int64_t replaced = MIN(count, (int64_t)llrint(share * (double)count));
    g_autofree int64_t *counts = counts_of(labels, count, classes);
    g_autofree int64_t *order = g_new(int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        order[i] = i;
    if (replaced > 0 && counts[labels[0]] == count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "train on at least two classes",
                       "noise: all %" G_GINT64_FORMAT
                       " labels are equal, so there is no other label to use",
                       count);
        return -1;
    }
    orch_random_shuffle(order, count, orch_random_stream_of(seed, STREAM_NOISE, 0));
    for (int64_t i = 0; i < replaced; i++) {
        int32_t *label = &labels[order[i]];
        uint64_t random = orch_random_stream_of(seed, STREAM_NOISE, (uint64_t)order[i] + 1);
        *label = other_label(counts, classes, *label, count - counts[*label], &random);
    }
    return replaced;
}

/* ---- resampling -------------------------------------------------------------------------------
 */

/* How often each label is drawn: total x n_c^power / sum, by largest remainder; of equal remainders
 * the lower label first. */
static int64_t *shares_of(const int64_t *counts, int classes, double power, int64_t total)
{
    g_autofree double *remainders = g_new(double, classes);
    int64_t *shares = g_new0(int64_t, classes), given = 0;
    double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += counts[c] ? pow((double)counts[c], power) : 0;
    for (int c = 0; c < classes; c++) {
        double exact = counts[c] ? (double)total * pow((double)counts[c], power) / sum : -1;
        shares[c] = exact > 0 ? (int64_t)floor(exact) : 0;
        remainders[c] = exact < 0 ? -2 : exact - (double)shares[c];
        given += shares[c];
    }
    for (; given < total; given++) {
        int most = 0;
        for (int c = 1; c < classes; c++)
            most = remainders[c] > remainders[most] ? c : most;
        shares[most]++;
        remainders[most] -= 1;
    }
    return shares;
}

struct orch_positions orch_semisup_resample(const int32_t *labels, int64_t count, int classes,
                                            double power, uint64_t seed)
{
    struct orch_positions out = {0, g_new(int64_t, count + 1)};
    g_autofree int64_t *counts = counts_of(labels, count, classes);
    g_autofree int64_t *shares = shares_of(counts, classes, power, count);
    for (int c = 0; c < classes; c++) {
        g_autofree int64_t *positions = shuffled_class(
            labels, count, c, counts[c], orch_random_stream_of(seed, STREAM_RESAMPLE, (uint64_t)c));
        for (int64_t i = 0; i < shares[c]; i++)
            out.items[out.count++] = positions[i % counts[c]];
    }
    return out;
}
