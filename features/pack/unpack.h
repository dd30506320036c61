/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to features/pack: an unpacked pack. Its content is untrusted: it is opened in a scratch
 * folder with a scratch store, sizes and names are bounded, and nothing in it is run. */
#ifndef ORCH_FEATURES_PACK_UNPACK_H
#define ORCH_FEATURES_PACK_UNPACK_H

#include "store/exchange/bundle.h"

struct orch_pack {
    char *folder;          /* real path of the scratch folder, which orch_pack_free removes */
    char *db;              /* path of the store with its runs */
    json_t *json, *report; /* pack.json; report.json or NULL */
    char *html;            /* or NULL */
    GHashTable *files;     /* path -> SHA-256 of all files beside the runs */
    /* id -> GPtrArray of struct orch_tree_file *: trees whose list matches their id */
    GHashTable *trees;
    char digest[ORCH_SHA256_CHARS]; /* of pack.json */
    char *text;                     /* the unmodified text of pack.json */
    char *signed_by; /* "6 of 6 runs by Ada <...>", after orch_pack_judge_signatures; or NULL */
    char *statement; /* the text of statement.dsse.json; or NULL */
    struct orch_receipt *receipt;
    GPtrArray *problems; /* char *: discrepancies from what the pack states */
    unsigned files_good, runs_good, trees_good;
};

/** Unpacks a pack and makes the checks that need no plugin: files against their list, runs against
 * theirs, trees against their ids. NULL with ORCH_ERROR_IO when the file is no pack or too damaged
 * to read. */
struct orch_pack *orch_pack_open(const char *path, GError **error);
void orch_pack_free(struct orch_pack *pack);

/** The path of the recipe, and in `*out_root` the root of its tree; both absolute. The caller
 * frees. NULL with ORCH_ERROR_CHECK when the pack does not contain the recipe. */
char *orch_pack_recipe(const struct orch_pack *pack, char **out_root, GError **error);

/** True when a path is below the folder of the unpacked pack. */
bool orch_pack_contains(const struct orch_pack *pack, const char *path);
/** Checks the signatures of its runs with git's configuration of the current folder, and sets
 * `pack->signed_by`. */
bool orch_pack_judge_signatures(struct orch_pack *pack, GError **error);

/** A member of pack.json, or NULL. Borrowed. */
const json_t *orch_pack_member(const struct orch_pack *pack, const char *name);

#endif
