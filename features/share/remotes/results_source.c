/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources that are shared on request: sources/TREE is the part of the captured tree TREE that the
 * `inputs:` of its run name. A tree from elsewhere is stored only when it is small and has only
 * plain files. */
#include "features/share/remotes/results_private.h"

#include <string.h>

#define SOURCE_FILES_MOST 20000
#define SOURCE_BYTES_MOST ((int64_t)50 << 20)
#define SOURCE_DEPTH_MOST 64

struct measure {
    struct results_place *place;
    const char *why;
    int64_t files, bytes;
};

static bool measure_tree(struct measure *measure, const git_oid *oid, int depth);

static bool measure_entry(struct measure *measure, const git_tree_entry *entry, int depth)
{
    const char *name = git_tree_entry_name(entry);
    git_filemode_t mode = git_tree_entry_filemode_raw(entry);
    int64_t bytes = 0;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strchr(name, '/') ||
        g_ascii_strcasecmp(name, ".git") == 0) {
        measure->why = "a source with a name that is not safe";
    } else if (++measure->files > SOURCE_FILES_MOST) {
        measure->why = "a source of too many files";
    } else if (mode == GIT_FILEMODE_TREE) {
        return measure_tree(measure, git_tree_entry_id(entry), depth + 1);
    } else if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) {
        measure->why = "a source with an entry that is no plain file";
    } else if (!orch_results_blob_size(measure->place, git_tree_entry_id(entry), &bytes)) {
        measure->why = "a source of which a file is missing";
    } else if ((measure->bytes += bytes) > SOURCE_BYTES_MOST) {
        measure->why = "a source larger than 50 MiB";
    }
    return !measure->why;
}

static bool measure_tree(struct measure *measure, const git_oid *oid, int depth)
{
    git_tree *tree = NULL;
    if (depth > SOURCE_DEPTH_MOST) {
        measure->why = "a source that is nested too deep";
        return false;
    }
    if (git_tree_lookup(&tree, measure->place->repository, oid) != 0) {
        measure->why = "a source that cannot be read";
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < git_tree_entrycount(tree); i++)
        ok = measure_entry(measure, git_tree_entry_byindex(tree, i), depth);
    git_tree_free(tree);
    return ok;
}

bool orch_results_source_is_fit(struct results_place *place, const git_oid *tree,
                                const char **out_why)
{
    struct measure measure = {.place = place};
    bool ok = measure_tree(&measure, tree, 0);
    *out_why = measure.why;
    return ok;
}

/* The tree of sources/ in the local results; NULL when there is none. */
static git_tree *sources_here(struct results_place *place)
{
    git_oid commit, none, root, folder;
    git_tree *tree = NULL;
    if (!place || !orch_results_refs_get(place, &commit, &none, NULL) || git_oid_is_zero(&commit) ||
        !orch_results_root(place, &commit, &root, NULL, NULL))
        return NULL;
    struct results_draft *draft = orch_results_draft_new(place, &root);
    if (!orch_results_draft_find(draft, "sources", &folder) ||
        git_tree_lookup(&tree, place->repository, &folder) != 0)
        tree = NULL;
    orch_results_draft_free(draft);
    return tree;
}

char *orch_git_shared_source(const char *repository, const char *tree)
{
    struct results_place *place = orch_results_place_open(repository, NULL, NULL);
    git_tree *sources = sources_here(place);
    const git_tree_entry *entry = sources ? git_tree_entry_byname(sources, tree) : NULL;
    char *id = NULL;
    if (entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
        id = g_malloc(GIT_OID_HEXSZ + 1);
        git_oid_tostr(id, GIT_OID_HEXSZ + 1, git_tree_entry_id(entry));
    }
    git_tree_free(sources);
    orch_results_place_close(place);
    return id;
}

GHashTable *orch_git_shared_sources(const char *repository)
{
    struct results_place *place = orch_results_place_open(repository, NULL, NULL);
    git_tree *sources = sources_here(place);
    GHashTable *out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; sources && i < git_tree_entrycount(sources); i++)
        g_hash_table_add(out, g_strdup(git_tree_entry_name(git_tree_entry_byindex(sources, i))));
    git_tree_free(sources);
    orch_results_place_close(place);
    return out;
}
