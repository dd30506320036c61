/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the items of a remote's tree. Sizes are checked before anything is read. Only entries that
 * the join accepted are added to our own tree, so invalid ones are not passed on; entries that were
 * replaced or deleted on the remote are restored by our next push. */
#include "features/share/remotes/results_private.h"

#include "store/handle/meta.h"

#include <string.h>

static bool begin(struct orch_results_offer *offer, GError **error)
{
    if (!offer->join)
        offer->join = orch_join_begin(offer->store, offer->place->remote, error);
    return offer->join != NULL;
}

static bool refuse(struct orch_results_offer *offer, const char *path, const char *why)
{
    g_autofree char *shown = g_utf8_make_valid(path, -1);
    orch_join_refuse(offer->join, "'%s': %s", shown, why);
    return true;
}

/* When an item has two valid texts, the one with the smaller object id is kept, so that all members
 * keep the same one in whatever order they meet. */
static void accept(struct orch_results_offer *offer, const struct results_news *news)
{
    git_oid mine;
    if (!orch_results_draft_find(offer->draft, news->path, &mine) ||
        git_oid_cmp(&news->oid, &mine) < 0)
        orch_results_draft_add(offer->draft, news->path, &news->oid, news->mode);
}

/* An artifact that exceeds this user's limit stays in the tree for others if its bytes match its
 * name. */
static bool pass_on(struct orch_results_offer *offer, const struct results_news *news,
                    git_odb_object *object)
{
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(git_odb_object_data(object), git_odb_object_size(object), digest);
    if (strcmp(digest, news->name->key) != 0)
        return refuse(offer, news->path, "its contents do not match the digest in its name");
    accept(offer, news);
    return true;
}

static bool offer_item(struct orch_results_offer *offer, const struct results_news *news,
                       GError **error)
{
    bool is_artifact = news->name->kind == ORCH_ITEM_ARTIFACT;
    int64_t limit = is_artifact ? ORCH_ITEM_DATASET_MAX : orch_item_limit(news->name->kind);
    int64_t mine = offer->how->choice.artifact_bytes, bytes;
    git_odb_object *object = NULL;
    if (!orch_results_blob_size(offer->place, &news->oid, &bytes))
        return refuse(offer, news->path, "not a file, or missing");
    if (bytes > limit)
        return refuse(offer, news->path, "larger than allowed for this kind of file");
    if (git_odb_read(&object, offer->place->odb, &news->oid) != 0)
        return refuse(offer, news->path, "damaged");
    bool accepted = false, ok = true;
    if (is_artifact && mine >= 0 && bytes > mine)
        ok = pass_on(offer, news, object);
    else
        ok = orch_item_join(offer->join, offer->store, news->name, git_odb_object_data(object),
                            git_odb_object_size(object), &accepted, error);
    git_odb_object_free(object);
    if (ok && accepted)
        accept(offer, news);
    return ok;
}

static bool offer_source(struct orch_results_offer *offer, const struct results_news *news,
                         GError **error)
{
    const char *why = NULL;
    GError *problem = NULL;
    bool known = orch_store_has_source(offer->store, strchr(news->path, '/') + 1, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (!known)
        return refuse(offer, news->path, "no run of this store has this source tree");
    if (!orch_results_source_is_fit(offer->place, &news->oid, &why))
        return refuse(offer, news->path, why);
    accept(offer, news);
    return true;
}

bool orch_results_offer(void *ctx, const struct results_news *news, GError **error)
{
    struct orch_results_offer *offer = ctx;
    git_oid mine;
    if (!news->junk && orch_results_draft_find(offer->draft, news->path, &mine) &&
        git_oid_equal(&mine, &news->oid))
        return true; /* visited twice: in our tree and in theirs */
    if (!begin(offer, error))
        return false;
    if (news->junk)
        return refuse(offer, news->path, news->junk);
    return news->name ? offer_item(offer, news, error) : offer_source(offer, news, error);
}
