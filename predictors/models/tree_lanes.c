/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/models/tree_lanes.h"

#include <stdbool.h>
#include <string.h>

#define CODES_MAX 256
#define FEW_BINS 32 /* a column with more has a lane of its own */

static void free_lane(gpointer data)
{
    struct orch_tree_lane *lane = data;
    bool owns = false;
    for (guint i = 0; i < lane->members->len; i++) {
        struct orch_tree_member *m = &g_array_index(lane->members, struct orch_tree_member, i);
        owns |= m->bin_of != NULL;
        g_free(m->bin_of);
    }
    if (owns)
        g_free(lane->code);
    g_array_unref(lane->members);
    g_free(lane);
}

static struct orch_tree_lane *add_lane(GPtrArray *lanes, uint8_t *code, int codes)
{
    struct orch_tree_lane *lane = g_new0(struct orch_tree_lane, 1);
    lane->codes = codes;
    lane->code = code;
    lane->members = g_array_new(FALSE, FALSE, sizeof(struct orch_tree_member));
    g_ptr_array_add(lanes, lane);
    return lane;
}

static void add_member(struct orch_tree_lane *lane, int column)
{
    struct orch_tree_member member = {column, NULL};
    g_array_append_val(lane->members, member);
}

/* A bundle while it grows. */
struct bundle {
    struct orch_tree_lane *lane;
    uint8_t *code;
};

/* Numbers the combinations of the bundle's codes and a column's bins in the order of rows. Returns
 * their number, and the rows' new codes in `out`; 0 if they are too many. `seen` is scratch. */
static int combine(const uint8_t *code, const uint8_t *bins, size_t rows, int16_t *seen,
                   uint8_t *out)
{
    int codes = 0;
    memset(seen, -1, sizeof *seen * CODES_MAX * CODES_MAX);
    for (size_t i = 0; i < rows; i++) {
        int16_t *is = &seen[code[i] * CODES_MAX + bins[i]];
        if (*is < 0) {
            if (codes == CODES_MAX)
                return 0;
            *is = (int16_t)codes++;
        }
        out[i] = (uint8_t)*is;
    }
    return codes;
}

/* Adds a column to the first bundle that stays small enough. */
static bool join_bundle(GArray *bundles, const uint8_t *bins, size_t rows, int column,
                        int16_t *seen, uint8_t **spare)
{
    for (guint k = 0; k < bundles->len; k++) {
        struct bundle *b = &g_array_index(bundles, struct bundle, k);
        int codes = combine(b->code, bins, rows, seen, *spare);
        if (!codes)
            continue;
        uint8_t *old = b->code;
        b->code = *spare;
        *spare = old;
        b->lane->codes = codes;
        add_member(b->lane, column);
        return true;
    }
    return false;
}

/* A lane that has this very column already, or NULL. */
static struct orch_tree_lane *find_equal(const GPtrArray *lanes, const uint8_t *bins, size_t rows,
                                         int count)
{
    for (guint k = 0; k < lanes->len; k++) {
        struct orch_tree_lane *lane = lanes->pdata[k];
        if (lane->code && lane->codes == count && memcmp(lane->code, bins, rows) == 0)
            return lane;
    }
    return NULL;
}

/* Gives a bundle's lane its codes, and its members the bins that they stand for. A bundle of one
 * column is that column. */
static void close_bundle(struct bundle *b, uint8_t *bins, size_t rows, const int *counts)
{
    struct orch_tree_lane *lane = b->lane;
    struct orch_tree_member *members = (void *)lane->members->data;
    lane->code = b->code;
    if (lane->members->len == 1) {
        lane->code = bins + (size_t)members->column * rows;
        lane->codes = counts[members->column];
        g_free(b->code);
        return;
    }
    for (guint m = 0; m < lane->members->len; m++) {
        const uint8_t *own = bins + (size_t)members[m].column * rows;
        members[m].bin_of = g_new0(uint8_t, CODES_MAX);
        for (size_t i = 0; i < rows; i++)
            members[m].bin_of[b->code[i]] = own[i];
    }
}

GPtrArray *orch_tree_lanes_find(uint8_t *bins, size_t rows, int cols, const int *counts)
{
    GPtrArray *lanes = g_ptr_array_new_with_free_func(free_lane);
    g_autoptr(GArray) bundles = g_array_new(FALSE, FALSE, sizeof(struct bundle));
    g_autofree int16_t *seen = g_new(int16_t, CODES_MAX * CODES_MAX);
    uint8_t *spare = g_new(uint8_t, MAX(rows, 1));
    for (int c = 0; c < cols; c++) {
        uint8_t *own = bins + (size_t)c * rows;
        struct orch_tree_lane *lane;
        if (counts[c] > FEW_BINS) {
            lane = find_equal(lanes, own, rows, counts[c]);
            add_member(lane ? lane : add_lane(lanes, own, counts[c]), c);
        } else if (!join_bundle(bundles, own, rows, c, seen, &spare)) {
            struct bundle b = {add_lane(lanes, NULL, counts[c]), g_memdup2(own, MAX(rows, 1))};
            add_member(b.lane, c);
            g_array_append_val(bundles, b);
        }
    }
    for (guint k = 0; k < bundles->len; k++)
        close_bundle(&g_array_index(bundles, struct bundle, k), bins, rows, counts);
    g_free(spare);
    return lanes;
}
