/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside core/pack: a pack as it came. It is a stranger's: it is opened in a scratch folder with a
 * scratch store of its own, sizes and names are bounded, and nothing of it is run. */
#ifndef ORCH_PACK_UNPACK_H
#define ORCH_PACK_UNPACK_H

#include "store/exchange/bundle.h"

struct orch_pack {
    char *folder;                   /* scratch, real path; removed with it */
    char *db;                       /* its runs, joined */
    json_t *json, *report;          /* pack.json; report.json or NULL */
    char *html;                     /* or NULL */
    GHashTable *files;              /* path -> SHA-256: all files beside the runs */
    GHashTable *trees;              /* id -> GPtrArray of struct orch_tree_file *: those that prove
                                       themselves */
    char digest[ORCH_SHA256_CHARS]; /* of pack.json */
    char *text;                     /* pack.json as it came */
    char *signed_by;                /* "6 of 6 runs by Ada <...>", once it was asked; or NULL */
    struct orch_receipt *receipt;
    GPtrArray *problems; /* char *: what is not as it says */
    unsigned files_good, runs_good, trees_good;
};

/** Unpacks it and checks what needs no plugin: files against their list, runs against theirs, trees
 * against their ids. NULL with ORCH_ERROR_IO: it is no pack, or damaged as a whole. */
struct orch_pack *orch_pack_open(const char *path, GError **error);
void orch_pack_free(struct orch_pack *pack);

/** Root of the tree that the recipe stands in, and the recipe; both absolute. The caller frees.
 * NULL with ORCH_ERROR_CHECK: the pack does not have it. */
char *orch_pack_recipe(const struct orch_pack *pack, char **out_root, GError **error);

/** Does a path lie in what was unpacked? */
bool orch_pack_holds(const struct orch_pack *pack, const char *path);
/** Judges the signatures of its runs by git's configuration of the current folder, and says it in
 * `pack->signed_by`. */
bool orch_pack_judge_signatures(struct orch_pack *pack, GError **error);

/** A member of pack.json, or NULL. Borrowed. */
const json_t *orch_pack_member(const struct orch_pack *pack, const char *name);

#endif
