/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Converts a store to items, and joins items into a store.
 *
 * Recipes and notes are exchanged as one canonical JSON object each, so that equal ones have equal
 * bytes. Input is untrusted: the content must match its path.
 */
#include "store/exchange/bundle_parts.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/join/outgoing.h"
#include "store/write/dataset.h"

#include <string.h>
#include <sys/stat.h>

/* ---- visiting items ---------------------------------------------------------------------------
 */

struct item_visit {
    struct orch_store *store;
    const struct orch_item_choice *choice;
    const struct orch_item_sink *sink;
    struct orch_outgoing chosen;
    bool stopped; /* the sink stopped; not an error */
};

static struct orch_item_name item_name(enum orch_item_kind kind, const char *key)
{
    struct orch_item_name name = {.kind = kind};
    g_strlcpy(name.key, key, sizeof name.key);
    return name;
}

/* Asks the sink whether to continue, and whether it wants the bytes. */
static bool is_wanted(struct item_visit *t, const struct orch_item_name *name, int64_t bytes,
                      bool *out_wanted)
{
    enum orch_item_want want = t->sink->wants(t->sink->ctx, name, bytes);
    t->stopped = want == ORCH_ITEM_STOP;
    *out_wanted = want == ORCH_ITEM_TAKE;
    return !t->stopped;
}

static bool give(struct item_visit *t, const struct orch_item_name *name, const char *bytes,
                 size_t length, GError **error)
{
    return t->sink->take(t->sink->ctx, name, bytes, length, error);
}

static bool give_json(struct item_visit *t, const struct orch_item_name *name, json_t *object,
                      GError **error)
{
    g_autofree char *text = orch_json_canonical(object);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    json_decref(object);
    return give(t, name, line, strlen(line), error);
}

static bool visit_recipe(void *ctx, const struct orch_recipe_row *row, GError **error)
{
    struct item_visit *t = ctx;
    bool wanted;
    if (!orch_sha256_is_valid(row->key))
        return true;
    struct orch_item_name name = item_name(ORCH_ITEM_RECIPE, row->key);
    if (!is_wanted(t, &name, -1, &wanted) || !wanted)
        return !t->stopped;
    json_t *json = json_object();
    json_object_set_new(json, "key", json_string(row->key));
    json_object_set_new(json, "name", orch_json_text_or_null(row->name));
    json_object_set_new(json, "canonical", orch_json_text_or_null(row->canonical));
    json_object_set_new(json, "verbatim", orch_json_text_or_null(row->verbatim));
    return give_json(t, &name, json, error);
}

static bool visit_note(void *ctx, const struct orch_note *note, GError **error)
{
    struct item_visit *t = ctx;
    bool wanted;
    struct orch_item_name name = item_name(ORCH_ITEM_NOTE, note->key);
    if (!is_wanted(t, &name, -1, &wanted) || !wanted)
        return !t->stopped;
    json_t *json = json_object();
    json_object_set_new(json, "key", orch_json_text_or_null(note->key));
    json_object_set_new(json, "target", orch_json_text_or_null(note->target));
    json_object_set_new(json, "kind", orch_json_text_or_null(note->kind));
    json_object_set_new(json, "text", orch_json_text_or_null(note->text));
    json_object_set_new(json, "who", orch_json_text_or_null(note->who));
    json_object_set_new(json, "made_ns", json_integer(note->made_ns));
    return give_json(t, &name, json, error);
}

/* Visits an artifact unless its bytes are missing or exceed the limit. */
static bool visit_artifact(struct item_visit *t, const char *sha256, GError **error)
{
    g_autofree char *path = orch_store_object_path(t->store, sha256);
    struct stat info;
    bool wanted;
    int64_t most = t->choice->artifact_bytes;
    if (!path || stat(path, &info) != 0 || (most >= 0 && info.st_size > most))
        return true;
    struct orch_item_name name = item_name(ORCH_ITEM_ARTIFACT, sha256);
    if (!is_wanted(t, &name, info.st_size, &wanted) || !wanted)
        return !t->stopped;
    if (t->sink->take_file)
        return t->sink->take_file(t->sink->ctx, &name, path, info.st_size, error);
    g_autofree char *bytes = NULL;
    size_t length = 0;
    return orch_file_read(path, (size_t)info.st_size, &bytes, &length, error) &&
           give(t, &name, bytes, length, error);
}

static bool visit_artifacts(struct item_visit *t, GError **error)
{
    if (!t->choice->artifact_bytes)
        return true;
    g_autoptr(GPtrArray) all = orch_outgoing_artifacts(t->store, &t->chosen, error);
    bool goes_on = all != NULL;
    for (guint i = 0; goes_on && i < all->len; i++)
        goes_on = visit_artifact(t, all->pdata[i], error);
    return goes_on;
}

static bool visit_pair(struct item_visit *t, const struct orch_pair *pair, GError **error)
{
    bool wanted;
    struct orch_item_name name = item_name(ORCH_ITEM_RUN, pair->key);
    g_strlcpy(name.digest, pair->digest, sizeof name.digest);
    if (!is_wanted(t, &name, -1, &wanted) || !wanted)
        return !t->stopped;
    if (!pair->run_id) {
        g_autofree char *text = orch_outgoing_conflict(t->store, pair, error);
        return text && give(t, &name, text, strlen(text), error);
    }
    GString *text = orch_run_text_encode(t->store, pair->run_id, error);
    bool ok = text && give(t, &name, text->str, text->len, error);
    if (text)
        g_string_free(text, TRUE);
    return ok;
}

static bool visit_pairs(struct item_visit *t, int64_t *out_last_run, GError **error)
{
    g_autoptr(GArray) pairs = orch_outgoing_pairs(t->store, &t->chosen, out_last_run, error);
    bool goes_on = pairs != NULL;
    for (guint i = 0; goes_on && i < pairs->len; i++)
        goes_on = visit_pair(t, &g_array_index(pairs, struct orch_pair, i), error);
    return goes_on;
}

static bool visit_dataset(struct item_visit *t, const char *set_name, GError **error)
{
    struct orch_dataset *set = orch_store_dataset(t->store, set_name, error);
    bool wanted = false, goes_on = set != NULL;
    if (set) {
        struct orch_item_name name = item_name(ORCH_ITEM_DATASET, set->sha256);
        goes_on = is_wanted(t, &name, -1, &wanted);
        if (wanted) {
            GString *text = orch_dataset_encode(set);
            goes_on = give(t, &name, text->str, text->len, error);
            g_string_free(text, TRUE);
        }
    }
    orch_dataset_free(set);
    return goes_on;
}

bool orch_items_visit(struct orch_store *store, const struct orch_item_choice *choice,
                      const struct orch_item_sink *sink, int64_t *out_last_run, GError **error)
{
    struct item_visit t = {.store = store,
                           .choice = choice,
                           .sink = sink,
                           .chosen = {choice->where, choice->after_run_id}};
    bool ok = orch_outgoing_recipes(store, &t.chosen, visit_recipe, &t, error) &&
              visit_artifacts(&t, error) && visit_pairs(&t, out_last_run, error) &&
              orch_outgoing_notes(store, &t.chosen, visit_note, &t, error);
    for (int i = 0; ok && choice->datasets && choice->datasets[i]; i++)
        ok = visit_dataset(&t, choice->datasets[i], error);
    return ok || t.stopped;
}

/* ---- joining ----------------------------------------------------------------------------------
 */

/** An item to be joined. */
struct joining {
    struct orch_join *join;
    struct orch_store *store;
    const struct orch_item_name *name;
    const char *bytes;
    size_t length;
};

/* Adds a line to the receipt. `why` may quote untrusted data. Returns true, because a refusal is
 * not a failure. */
static bool refuse(const struct joining *j, const char *why)
{
    char path[ORCH_ITEM_PATH_CHARS];
    g_autofree char *line =
        orch_text_plain(g_utf8_make_valid(why, (gssize)MIN(strcspn(why, "\n"), 300)));
    orch_item_path(j->name, path);
    orch_join_refuse(j->join, "%s: %s", path, line);
    return true;
}

static bool refuse_error(const struct joining *j, GError *problem)
{
    refuse(j, problem->message);
    g_error_free(problem);
    return true;
}

static bool join_forecasts(const struct joining *j, const struct orch_run_text *run, GError **error)
{
    for (size_t i = 0; i < run->forecast_count; i++)
        if (!orch_join_forecast(j->join, &run->forecasts[i], error))
            return false;
    return true;
}

static bool join_run(const struct joining *j, enum item_outcome *out, GError **error)
{
    GError *problem = NULL;
    struct orch_run_text *run = orch_run_text_decode(j->bytes, j->length, &problem);
    if (!run)
        return refuse_error(j, problem);
    bool ok = true;
    enum orch_joined joined = ORCH_JOINED_REFUSED;
    if (strcmp(run->record.key, j->name->key) != 0 ||
        strncmp(run->digest, j->name->digest, strlen(j->name->digest)) != 0)
        refuse(j, "the path names another run");
    else
        ok = orch_join_run(j->join, &run->record, run->digest, &joined, error);
    if (ok && (joined == ORCH_JOINED_NEW || joined == ORCH_JOINED_KNOWN))
        ok = join_forecasts(j, run, error);
    *out = joined == ORCH_JOINED_REFUSED ? ITEM_REFUSED
           : joined == ORCH_JOINED_KNOWN ? ITEM_KNOWN
                                         : ITEM_TAKEN;
    orch_run_text_free(run);
    return ok;
}

static bool join_artifact(const struct joining *j, enum item_outcome *out, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    orch_sha256(j->bytes, j->length, sha256);
    if (strcmp(sha256, j->name->key) != 0)
        return refuse(j, "the contents do not match the digest");
    *out = ITEM_TAKEN;
    g_autofree char *here = orch_store_object_path(j->store, sha256);
    if (here)
        return true;
    if (!orch_store_put_object_bytes(j->store, j->bytes, j->length, sha256, error))
        return false;
    orch_join_count_artifact(j->join, (int64_t)j->length);
    return true;
}

/* Parses an object with exactly these members and `others` more, each a text (or null where its
 * name is preceded by '?'). `out` borrows from the result. Returns NULL when it is not such an
 * object. */
static json_t *read_texts(const struct joining *j, const char *const *members, size_t others,
                          const char **out)
{
    GError *problem = NULL;
    json_t *object = orch_json_parse(j->bytes, j->length, j->length, &problem);
    if (!object) {
        refuse_error(j, problem);
        return NULL;
    }
    size_t count = 0;
    bool ok = json_is_object(object);
    for (; ok && members[count]; count++) {
        bool may_be_null = members[count][0] == '?';
        const json_t *value = json_object_get(object, members[count] + may_be_null);
        ok = json_is_string(value) || (may_be_null && json_is_null(value));
        out[count] = json_string_value(value);
    }
    if (ok && json_object_size(object) == count + others && strcmp(out[0], j->name->key) == 0)
        return object;
    refuse(j, "the contents do not match the path");
    json_decref(object);
    return NULL;
}

static bool join_recipe(const struct joining *j, enum item_outcome *out, GError **error)
{
    static const char *const members[] = {"key", "canonical", "?name", "?verbatim", NULL};
    const char *texts[4];
    char sha256[ORCH_SHA256_CHARS];
    g_autoptr(json_t) object = read_texts(j, members, 0, texts);
    if (!object)
        return true;
    orch_sha256(texts[1], strlen(texts[1]), sha256);
    if (strcmp(sha256, texts[0]) != 0)
        return refuse(j, "the text does not match the digest");
    *out = ITEM_TAKEN;
    return orch_join_recipe(j->join, texts[0], texts[2], texts[1], texts[3], error);
}

static bool join_note(const struct joining *j, enum item_outcome *out, GError **error)
{
    static const char *const members[] = {"key", "target", "kind", "?text", "?who", NULL};
    const char *texts[5];
    g_autoptr(json_t) object = read_texts(j, members, 1, texts);
    if (!object)
        return true;
    const json_t *made = json_object_get(object, "made_ns");
    if (!json_is_integer(made))
        return refuse(j, "the date is missing");
    const struct orch_note note = {texts[0], texts[1], texts[2],
                                   texts[3], texts[4], json_integer_value(made)};
    *out = ITEM_TAKEN;
    return orch_join_note(j->join, &note, error);
}

static bool join_dataset(const struct joining *j, enum item_outcome *out, GError **error)
{
    GError *problem = NULL;
    struct orch_dataset *set = orch_dataset_decode("data set", j->bytes, j->length, &problem);
    if (!set)
        return refuse_error(j, problem);
    *out = strcmp(set->sha256, j->name->key) == 0 ? ITEM_TAKEN : ITEM_REFUSED;
    bool ok = *out == ITEM_TAKEN ? orch_join_dataset(j->join, set, error)
                                 : refuse(j, "the path names another data set");
    orch_dataset_free(set);
    return ok;
}

bool orch_item_join_outcome(struct orch_join *join, struct orch_store *store,
                            const struct orch_item_name *name, const char *bytes, size_t length,
                            enum item_outcome *out, GError **error)
{
    static bool (*const ways[])(const struct joining *, enum item_outcome *, GError **) = {
        [ORCH_ITEM_RUN] = join_run,         [ORCH_ITEM_ARTIFACT] = join_artifact,
        [ORCH_ITEM_RECIPE] = join_recipe,   [ORCH_ITEM_NOTE] = join_note,
        [ORCH_ITEM_DATASET] = join_dataset,
    };
    const struct joining j = {join, store, name, bytes, length};
    int64_t most = orch_item_limit(name->kind);
    *out = ITEM_REFUSED;
    if (most >= 0 && length > (uint64_t)most)
        return refuse(&j, "the item is larger than allowed");
    return ways[name->kind](&j, out, error);
}

bool orch_item_join(struct orch_join *join, struct orch_store *store,
                    const struct orch_item_name *name, const char *bytes, size_t length,
                    bool *out_accepted, GError **error)
{
    enum item_outcome fate;
    bool ok = orch_item_join_outcome(join, store, name, bytes, length, &fate, error);
    *out_accepted = fate != ITEM_REFUSED;
    return ok;
}
