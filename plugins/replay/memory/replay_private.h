/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the replay buffer share. */
#ifndef ORCH_PLUGINS_REPLAY_MEMORY_REPLAY_PRIVATE_H
#define ORCH_PLUGINS_REPLAY_MEMORY_REPLAY_PRIVATE_H

#include "plugins/replay/memory/replay.h"
#include "plugins/replay/memory/sum_tree.h"

#include <pthread.h>
#include <string.h>

/** What follows a frame in a record; the record is padded to a multiple of 8 bytes. */
struct replay_step {
    int32_t action;
    float reward, priority; /* priority: |delta| as it was added; NaN: the largest so far */
    uint32_t end;
};

/** Positions count all records that a lane ever got; the record of a position lies in the slot
 * position % lane_capacity. */
struct replay_lane {
    pthread_mutex_t lock; /* of what follows, and of the records */
    uint8_t *records;     /* lane_capacity x record_bytes */
    int64_t head;         /* positions below are written */
    int64_t head_slot;    /* of the next record */
    int64_t closed;       /* positions below belong to episodes that are over */
    int64_t finals;       /* FINAL records among those that are kept */
    uint32_t last_end;
    /* of the reader alone: positions that are in the tree, and the slot of `known` */
    int64_t expired, known, known_slot;
} __attribute__((aligned(64)));

/** A lane as a batch found it; uniform sampling draws from it without the lane's lock. */
struct replay_view {
    int64_t oldest_slot, records; /* records from there on may be drawn */
    int64_t draws;                /* of the batch */
};

struct orch_replay {
    struct orch_replay_options options;
    char *file;
    int64_t lane_capacity, frame_bytes, step_offset, record_bytes; /* offset: of the replay_step */
    uint8_t *memory;                                               /* the records of all lanes */
    size_t memory_bytes;
    struct replay_lane *lanes;
    uint64_t random;
    /* priorities, of the reader alone */
    struct orch_sum_tree *tree; /* weight p^alpha by place; NULL: uniform */
    float largest;              /* weight of the largest priority so far */
    struct replay_ranks *ranks; /* NULL: not rank-based */
    /* room for a batch */
    int64_t room;
    int64_t *slots; /* places, of the tree, too: lane x lane_capacity + slot */
    float *draws;
    struct replay_view *views; /* lanes */
    int64_t *until;            /* lanes: steps of the lanes up to this one */
};

/** The slot of a position at most lane_capacity before `head`, whose slot is `head_slot`. */
static inline int64_t orch_replay_slot(const struct orch_replay *r, int64_t head, int64_t head_slot,
                                       int64_t position)
{
    const int64_t slot = head_slot - (head - position);
    return slot < 0 ? slot + r->lane_capacity : slot;
}

static inline uint8_t *orch_replay_record(const struct orch_replay *r, const struct replay_lane *l,
                                          int64_t position)
{
    return l->records + orch_replay_slot(r, l->head, l->head_slot, position) * r->record_bytes;
}

static inline struct replay_step *orch_replay_step_of(const struct orch_replay *r, uint8_t *record)
{
    return (struct replay_step *)(void *)(record + r->step_offset);
}

/** The oldest position whose state is whole. Called with the lane's lock, as all of these. */
static inline int64_t orch_replay_oldest(const struct orch_replay *r, const struct replay_lane *l)
{
    return l->head <= r->lane_capacity ? 0 : l->head - r->lane_capacity + r->options.stack - 1;
}

/** The first position whose return is not complete. */
static inline int64_t orch_replay_complete(const struct orch_replay *r, const struct replay_lane *l)
{
    const int64_t whole = l->head - r->options.n_step;
    return l->closed > whole ? l->closed : whole;
}

/** Steps between both: the FINAL records are none. */
static inline int64_t orch_replay_steps(const struct orch_replay *r, const struct replay_lane *l)
{
    const int64_t steps = orch_replay_complete(r, l) - orch_replay_oldest(r, l) - l->finals;
    return steps > 0 ? steps : 0;
}

/* ---- replay_gather.c ---- */

/** Writes step `position` of a lane to row `row` of a batch. Called with the lane's lock. */
void orch_replay_gather(const struct orch_replay *r, const struct replay_lane *lane,
                        int64_t position, const struct orch_replay_batch *batch, int64_t row);

/* ---- replay_collect.c ---- */

/** Reads the steps of the places in `slots`, those of a lane one after the other, into a batch. */
void orch_replay_collect(struct orch_replay *r, int64_t count,
                         const struct orch_replay_batch *batch);
/** Makes slots and draws have at least `count` elements. */
void orch_replay_make_room(struct orch_replay *r, int64_t count);

/* ---- replay_priority.c ---- */

/** orch_replay_sample of a buffer with priorities; there are enough steps. */
bool orch_replay_sample_prioritised(struct orch_replay *r, int64_t count, double beta,
                                    const struct orch_replay_batch *batch, GError **error);

/* ---- replay_rank.c ---- */

struct replay_ranks *orch_replay_ranks_new(int64_t places);
void orch_replay_ranks_free(struct replay_ranks *ranks);
/** Counts `count` changed errors, and sorts again when it is time: the tree's weights become
 * rank^-alpha. */
void orch_replay_ranks_changed(struct orch_replay *r, int64_t count);
/** The errors of all places, and how many have changed since they were sorted, for snapshots. */
float *orch_replay_ranks_errors(struct replay_ranks *ranks);
int64_t *orch_replay_ranks_changes(struct replay_ranks *ranks);
/** Notes the error of a place, by which it is ranked; NaN: it has no step. */
void orch_replay_ranks_set(struct orch_replay *r, int64_t place, float error);

#endif
