/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/allocator.h"

#include <glib.h>
#include <stdbool.h>

struct block {
    double size;
    int before, after; /* neighbours that were split from the same block; -1: none */
    bool is_free;
};

/* A free block, in the order of sizes. */
struct hole {
    double size;
    int block;
};

struct orch_allocator {
    GArray *blocks; /* struct block */
    GArray *holes;  /* struct hole */
    double reserved;
};

struct orch_allocator *orch_allocator_new(void)
{
    struct orch_allocator *a = g_new0(struct orch_allocator, 1);
    a->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
    a->holes = g_array_new(FALSE, FALSE, sizeof(struct hole));
    return a;
}

void orch_allocator_free(struct orch_allocator *a)
{
    if (!a)
        return;
    g_array_unref(a->blocks);
    g_array_unref(a->holes);
    g_free(a);
}

double orch_allocator_reserved(const struct orch_allocator *a)
{
    return a->reserved;
}

static struct block *block_at(const struct orch_allocator *a, int block)
{
    return &g_array_index(a->blocks, struct block, block);
}

/* Index of the first hole of this size or more; of one block's hole, if `block` is one of them. */
static guint find_hole(const struct orch_allocator *a, double size, int block)
{
    guint low = 0, high = a->holes->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(a->holes, struct hole, middle).size < size)
            low = middle + 1;
        else
            high = middle;
    }
    while (block >= 0 && g_array_index(a->holes, struct hole, low).block != block)
        low++;
    return low;
}

static void add_hole(struct orch_allocator *a, int block)
{
    struct hole hole = {block_at(a, block)->size, block};
    block_at(a, block)->is_free = true;
    g_array_insert_val(a->holes, find_hole(a, hole.size, -1), hole);
}

static int add_block(struct orch_allocator *a, struct block block)
{
    g_array_append_val(a->blocks, block);
    return (int)a->blocks->len - 1;
}

static void split(struct orch_allocator *a, int block, double size)
{
    int after = block_at(a, block)->after;
    int rest = add_block(a, (struct block){block_at(a, block)->size - size, block, after, true});
    block_at(a, block)->size = size;
    block_at(a, block)->after = rest;
    if (after >= 0)
        block_at(a, after)->before = rest;
    add_hole(a, rest);
}

int orch_allocator_take(struct orch_allocator *a, double size)
{
    guint at = find_hole(a, size, -1);
    if (at == a->holes->len) {
        a->reserved += size;
        return add_block(a, (struct block){size, -1, -1, false});
    }
    int block = g_array_index(a->holes, struct hole, at).block;
    g_array_remove_index(a->holes, at);
    block_at(a, block)->is_free = false;
    if (block_at(a, block)->size > size)
        split(a, block, size);
    return block;
}

/* Takes a free neighbour into the block, which comes before or after it. */
static void join(struct orch_allocator *a, int block, int other, bool is_after)
{
    struct block *into = block_at(a, block), *from = block_at(a, other);
    g_array_remove_index(a->holes, find_hole(a, from->size, other));
    into->size += from->size;
    from->is_free = false;
    if (is_after) {
        into->after = from->after;
        if (from->after >= 0)
            block_at(a, from->after)->before = block;
    } else {
        into->before = from->before;
        if (from->before >= 0)
            block_at(a, from->before)->after = block;
    }
}

void orch_allocator_give(struct orch_allocator *a, int block)
{
    int before = block_at(a, block)->before, after = block_at(a, block)->after;
    if (before >= 0 && block_at(a, before)->is_free)
        join(a, block, before, false);
    if (after >= 0 && block_at(a, after)->is_free)
        join(a, block, after, true);
    add_hole(a, block);
}
