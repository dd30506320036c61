/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to features/pack: ro-crate-metadata.json of a pack, which makes the unpacked pack a
 * Workflow Run RO-Crate (https://w3id.org/ro/wfrun, profiles Process 0.5, Workflow 0.5 and
 * Provenance 0.5). The recipe is the workflow, an experiment a step and its tool, a trial the
 * action of a tool. Source trees and commits have SWHIDs as identifiers. */
#ifndef ORCH_FEATURES_PACK_CRATE_H
#define ORCH_FEATURES_PACK_CRATE_H

#include "store/store.h"

#include <jansson.h>

#define ORCH_CRATE_FILE "ro-crate-metadata.json"

/** What the crate describes. Borrowed. */
struct orch_crate_of {
    struct orch_store *store;   /* of the pack: its runs and artifacts */
    const json_t *runs;         /* [{"key": ...}, ...] */
    const GPtrArray *files;     /* struct orch_pack_file *: the files beside the runs */
    const json_t *trees;        /* TREE -> files of the source trees */
    const char *recipe, *about; /* its path in the pack, and what it says of itself or NULL */
    const char *name;           /* of the recipe */
    const char *who, *made;     /* the packer, and when: ISO 8601 */
    const char *version;        /* of orch */
};

/** The crate's metadata. NULL on error. New reference. */
json_t *orch_crate_json(const struct orch_crate_of *of, GError **error);

#endif
