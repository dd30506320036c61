/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files from which a later attempt of the same trial goes on.
 *
 *     training.safetensors   named fields, each an array of bytes
 *     replay-STEP.buffer     a snapshot of the replay buffer, which the other file names
 *
 * A training lists its fields (orch_saved_begin, _field, _room, _array) before it writes or reads
 * them, by one function for both, so that what is written is what is read. The buffer has a file of
 * its own because it may be larger than all else; its name has the step, so a training that dies
 * between the two files finds the pair that was complete before.
 */
#ifndef ORCH_PLUGINS_REPLAY_SAVED_TRAINING_H
#define ORCH_PLUGINS_REPLAY_SAVED_TRAINING_H

#include "plugins/replay/memory/replay.h"

#include <orch/plugin.h>

struct orch_saved {
    const struct orch_host *host;
    char *folder; /* NULL: nothing is written or found, as in smoke runs */
    double every_s;
    int64_t written_us; /* when the last checkpoint was written, or the attempt began */
    GArray *fields;
    GPtrArray *rooms;
};

/** `every_s`: least seconds between two checkpoints. */
void orch_saved_init(struct orch_saved *saved, const struct orch_host *host, double every_s);
void orch_saved_clear(struct orch_saved *saved);

/** Begins the list of fields anew, and frees the rooms of the one before. */
void orch_saved_begin(struct orch_saved *saved);
/** A field of fixed size in the caller's memory, which must stay until it is written or read. */
void orch_saved_field(struct orch_saved *saved, const char *name, void *data, size_t bytes);
/** A field of fixed size. Returns its memory, which is the list's and zeroed. */
void *orch_saved_room(struct orch_saved *saved, const char *name, size_t bytes);
/** A field of any number of elements; reading replaces the array's content. */
void orch_saved_array(struct orch_saved *saved, const char *name, GArray *array);

bool orch_saved_is_due(const struct orch_saved *saved);
/** Writes the fields and `buffer` (NULL: there is none), atomically. */
bool orch_saved_write(struct orch_saved *saved, int64_t step, struct orch_replay *buffer,
                      GError **error);
/** Notes that a training which is to end could not write its checkpoint; frees the error. */
void orch_saved_note_failure(struct orch_saved *saved, GError *error);
/** Reads the fields, and the snapshot into an empty buffer, and notes that this attempt goes on.
 * `*out_is_there` is false where no earlier attempt left a checkpoint. Fails for a file that was
 * cut short or has another shape, naming it; fields and buffer are then unspecified. */
bool orch_saved_read(struct orch_saved *saved, struct orch_replay *buffer, bool *out_is_there,
                     GError **error);

#endif
