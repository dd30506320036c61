/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy of claims. Every change is a compare-and-swap at the place that stores them, so
 * exactly one of any number of takers wins, also when they take over an expired claim. The list of
 * others' claims is read at once and cached for a short time, so a member who skips many claimed
 * trials makes one request rather than one for each.
 */
#include "features/share/remotes/claims_private.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define CLAIM_FORMAT 1
#define NAME_BYTES_MAX 400 /* maximum bytes of who, host, device_key */
#define NAME_CHARS 100     /* maximum characters of our own who and host */
#define ATTEMPTS_MAX 5
/* A claim that expired this long ago is deleted. */
#define LEFT_BEHIND_NS (INT64_C(86400) * 1000000000)

/* Fractions of the duration of a claim: how long the list of others' claims is cached (30 s by
 * default), and how long after its end a claim still counts, to allow for different clocks (2 min
 * by default). */
#define BELIEVED_SHARE (1.0 / 30)
#define TOLERANCE_SHARE (2.0 / 15)

struct held {
    char *token;
    struct orch_claim *claim;
};

struct orch_claims {
    struct claims_place place;
    char *who, *host;
    GHashTable *held;      /* resource -> struct held * */
    GHashTable *seen;      /* resource -> struct claims_entry *: the last list */
    GHashTable *far_ahead; /* token -> int64_t *: when an impossible end was first seen */
    int64_t listed_mono_ns;
    int64_t clock_ns; /* the place's time minus this machine's, when last listed */
};

double orch_claim_seconds(void)
{
    const char *text = g_getenv("ORCH_CLAIM_S");
    double seconds;
    if (text && orch_real_parse(text, &seconds) && seconds >= 1 && seconds <= 86400)
        return seconds;
    return ORCH_CLAIM_S;
}

static int64_t claim_ns(double share)
{
    return (int64_t)(orch_claim_seconds() * share * 1e9);
}

/* ---- a claim -----------------------------------------------------------------------------------
 */

void orch_claim_resource(const char *fingerprint, const char *device_key,
                         char out[ORCH_SHA256_CHARS])
{
    g_autofree char *text = device_key ? g_strdup_printf("trial %s at %s", fingerprint, device_key)
                                       : g_strdup_printf("trial %s", fingerprint);
    orch_sha256(text, strlen(text), out);
}

void orch_claim_free(struct orch_claim *claim)
{
    if (!claim)
        return;
    g_free(claim->fingerprint);
    g_free(claim->device_key);
    g_free(claim->who);
    g_free(claim->host);
    g_free(claim->process);
    json_decref(claim->point);
    g_free(claim);
}

struct orch_claim *orch_claim_copy(const struct orch_claim *claim)
{
    struct orch_claim *copy = g_new(struct orch_claim, 1);
    *copy = *claim;
    copy->fingerprint = g_strdup(claim->fingerprint);
    copy->device_key = g_strdup(claim->device_key);
    copy->who = g_strdup(claim->who);
    copy->host = g_strdup(claim->host);
    copy->process = g_strdup(claim->process);
    json_incref(copy->point);
    return copy;
}

void orch_claims_entry_free(void *data)
{
    struct claims_entry *entry = data;
    g_free(entry->token);
    orch_claim_free(entry->claim);
    g_free(entry);
}

/* The text of a claim. The random id makes it unique; otherwise two takers could write equal
 * values, and both would believe that they won. The caller frees. */
static char *claim_text(const struct orch_claim *claim)
{
    char id[ORCH_KEY_CHARS];
    orch_key_make(id);
    g_autoptr(json_t) json =
        json_pack("{s:i s:s s:s s:s? s:s s:s s:s? s:I s:I}", "format", CLAIM_FORMAT, "id", id,
                  "fingerprint", claim->fingerprint, "device_key", claim->device_key, "who",
                  claim->who, "host", claim->host, "process", claim->process, "made",
                  (json_int_t)claim->made_ns, "expires", (json_int_t)claim->expires_ns);
    if (json && claim->point)
        json_object_set(json, "point", claim->point);
    return json ? orch_json_canonical(json) : NULL;
}

/* Whether a value is a point as a claim may have it: an object of texts, of few bytes. */
static bool is_point(const json_t *json)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, name,
                        value) if (!json_is_string(value)) return false;
    g_autofree char *text = json_is_object(json) ? orch_json_canonical(json) : NULL;
    return text && strlen(text) <= CLAIMS_POINT_MAX;
}

/* A short text as one line without control characters, or NULL. */
static char *plain_line(const json_t *json, const char *key)
{
    const char *text = orch_json_text(json, key, NULL);
    if (!text || !*text || strlen(text) > NAME_BYTES_MAX)
        return NULL;
    return orch_text_line(g_strdup(text));
}

struct orch_claim *orch_claims_parse(const char *resource, const char *text, size_t length)
{
    g_autoptr(json_t) json = orch_json_parse(text, length, CLAIMS_TEXT_MAX, NULL);
    const json_t *device = json ? json_object_get(json, "device_key") : NULL;
    const char *fingerprint = orch_json_text(json, "fingerprint", "");
    if (!json || orch_json_int(json, "format", 0) != CLAIM_FORMAT ||
        !orch_sha256_is_valid(fingerprint) ||
        (device && !json_is_null(device) && !json_is_string(device)))
        return NULL;
    char expected[ORCH_SHA256_CHARS];
    orch_claim_resource(fingerprint, json_string_value(device), expected);
    struct orch_claim *claim = g_new0(struct orch_claim, 1);
    g_strlcpy(claim->resource, resource, sizeof claim->resource);
    claim->fingerprint = g_strdup(fingerprint);
    claim->device_key = plain_line(json, "device_key");
    claim->who = plain_line(json, "who");
    claim->host = plain_line(json, "host");
    claim->process = plain_line(json, "process");
    claim->made_ns = orch_json_int(json, "made", -1);
    claim->expires_ns = orch_json_int(json, "expires", -1);
    if (is_point(json_object_get(json, "point")))
        claim->point = json_incref(json_object_get(json, "point"));
    if (strcmp(expected, resource) == 0 && claim->who && claim->host && claim->made_ns >= 0 &&
        claim->expires_ns >= claim->made_ns && (claim->device_key || !json_is_string(device)))
        return claim;
    orch_claim_free(claim);
    return NULL;
}

/* ---- listing -----------------------------------------------------------------------------------
 */

/* Normalises a name so that orch_claims_parse accepts it. The caller frees. */
static char *own_name(const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name && *name ? name : "-", -1);
    g_autofree char *cut = g_utf8_substring(valid, 0, MIN(g_utf8_strlen(valid, -1), NAME_CHARS));
    return orch_text_line(g_steal_pointer(&cut));
}

static void free_held(gpointer data)
{
    struct held *held = data;
    g_free(held->token);
    orch_claim_free(held->claim);
    g_free(held);
}

struct orch_claims *orch_claims_new(const struct claims_place *place, const char *who)
{
    struct orch_claims *claims = g_new0(struct orch_claims, 1);
    claims->place = *place;
    claims->who = own_name(who);
    claims->host = own_name(g_get_host_name());
    claims->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_held);
    claims->seen = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, orch_claims_entry_free);
    claims->far_ahead = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return claims;
}

/* Bounds the end of a claim. No claim lasts longer than twice the usual duration, so a later end
 * comes from a wrong clock, and the claim counts as made when it was first seen. */
static void cap_end(struct orch_claims *claims, const struct claims_entry *entry, int64_t now_ns)
{
    struct orch_claim *claim = entry->claim;
    if (claim->expires_ns <= now_ns + claim_ns(2))
        return;
    int64_t *first = g_hash_table_lookup(claims->far_ahead, entry->token);
    if (!first) {
        first = g_new(int64_t, 1);
        *first = now_ns;
        g_hash_table_insert(claims->far_ahead, g_strdup(entry->token), first);
    }
    claim->made_ns = *first;
    claim->expires_ns = *first + claim_ns(1);
}

static bool refresh(struct orch_claims *claims, GError **error)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    int64_t now_ns = 0;
    bool ok = claims->place.list(claims->place.self, claims->seen, list, &now_ns, error);
    if (!ok) {
        g_ptr_array_set_free_func(list, orch_claims_entry_free);
        return false;
    }
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, orch_claims_entry_free);
    for (guint i = 0; i < list->len; i++) {
        struct claims_entry *entry = list->pdata[i];
        if (entry->claim)
            cap_end(claims, entry, now_ns);
        g_hash_table_replace(seen, entry->resource, entry);
    }
    g_hash_table_unref(claims->seen);
    claims->seen = seen;
    claims->listed_mono_ns = orch_mono_ns();
    claims->clock_ns = now_ns - orch_now_ns();
    return true;
}

static bool refresh_when_old(struct orch_claims *claims, GError **error)
{
    bool is_fresh = claims->listed_mono_ns &&
                    orch_mono_ns() - claims->listed_mono_ns < claim_ns(BELIEVED_SHARE);
    return is_fresh || refresh(claims, error);
}

/* A process, with the boot and the numbering of processes (one for each container) in which its
 * number counts. The caller frees. */
static char *process_text(pid_t pid)
{
    struct orch_process self = {0};
    g_autofree char *pids = g_file_read_link("/proc/self/ns/pid", NULL);
    return orch_process_get(getpid(), &self) && pids
               ? g_strdup_printf("%s %s %d", self.boot_id, pids, (int)pid)
               : NULL;
}

/* True when this user's process on this machine made the claim and was killed before it released
 * it. */
static bool is_left_behind(const struct orch_claims *claims, const struct orch_claim *claim)
{
    const char *number = claim->process ? strrchr(claim->process, ' ') : NULL;
    int64_t pid;
    if (!number || !orch_int_parse(number + 1, &pid) || pid < 1 || pid > INT32_MAX ||
        strcmp(claim->who, claims->who) != 0)
        return false;
    g_autofree char *here = process_text((pid_t)pid);
    return g_strcmp0(here, claim->process) == 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* True when the entry has a claim that has not expired. */
static bool is_alive(const struct orch_claims *claims, const struct claims_entry *entry)
{
    int64_t tolerance_ns = claims->place.is_own_clock ? 0 : claim_ns(TOLERANCE_SHARE);
    return entry && entry->claim &&
           orch_now_ns() + claims->clock_ns < entry->claim->expires_ns + tolerance_ns &&
           !is_left_behind(claims, entry->claim);
}

/* A copy of the claim with its times converted to this machine's clock. The caller frees. */
static struct orch_claim *shown(const struct orch_claims *claims, const struct claims_entry *entry)
{
    struct orch_claim *claim = orch_claim_copy(entry->claim);
    const struct held *held = g_hash_table_lookup(claims->held, entry->resource);
    claim->is_ours = held && strcmp(held->token, entry->token) == 0;
    claim->made_ns -= claims->clock_ns;
    claim->expires_ns -= claims->clock_ns;
    return claim;
}

/* ---- taking and releasing ----------------------------------------------------------------------
 */

static struct orch_claim *new_claim(const struct orch_claims *claims, const char *resource,
                                    const char *fingerprint, const char *device_key,
                                    const json_t *point)
{
    struct orch_claim *claim = g_new0(struct orch_claim, 1);
    g_strlcpy(claim->resource, resource, sizeof claim->resource);
    claim->fingerprint = g_strdup(fingerprint);
    claim->device_key = g_strdup(device_key);
    claim->who = g_strdup(claims->who);
    claim->host = g_strdup(claims->host);
    claim->process = process_text(getpid());
    claim->made_ns = orch_now_ns();
    claim->expires_ns = claim->made_ns + claim_ns(1);
    claim->point = is_point(point) ? json_deep_copy(point) : NULL;
    claim->is_ours = true;
    return claim;
}

/* Tries to replace the listed value with our claim. */
static bool try_take(struct orch_claims *claims, const char *resource, const char *fingerprint,
                     const char *device_key, const json_t *point, bool *out_taken, GError **error)
{
    const struct claims_entry *entry = g_hash_table_lookup(claims->seen, resource);
    struct orch_claim *claim = new_claim(claims, resource, fingerprint, device_key, point);
    g_autofree char *text = claim_text(claim);
    struct claims_change change = {
        .resource = resource, .old_token = entry ? entry->token : NULL, .text = text};
    bool ok = text && claims->place.swap(claims->place.self, &change, 1, error);
    *out_taken = ok && change.done;
    if (!*out_taken) {
        orch_claim_free(claim);
        return ok;
    }
    struct held *held = g_new(struct held, 1);
    *held = (struct held){change.new_token, claim};
    g_hash_table_replace(claims->held, g_strdup(resource), held);
    return true;
}

bool orch_claims_take(struct orch_claims *claims, const char *fingerprint, const char *device_key,
                      const json_t *point, struct orch_claim **out_holder, GError **error)
{
    char resource[ORCH_SHA256_CHARS];
    orch_claim_resource(fingerprint, device_key, resource);
    *out_holder = NULL;
    if (g_hash_table_contains(claims->held, resource))
        return true;
    if (!refresh_when_old(claims, error))
        return false;
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        const struct claims_entry *entry = g_hash_table_lookup(claims->seen, resource);
        bool taken;
        if (is_alive(claims, entry)) {
            *out_holder = shown(claims, entry);
            return true;
        }
        if (!try_take(claims, resource, fingerprint, device_key, point, &taken, error))
            return false;
        if (taken)
            return true;
        if (!refresh(claims, error))
            return false;
    }
    orch_error_set(error, ORCH_ERROR_IO, "try again",
                   "cannot claim trial %.12s: others changed its claim in each of %d attempts",
                   fingerprint, ATTEMPTS_MAX);
    return false;
}

/* Removes a claim that is no longer held, because it was released or taken over. */
static void forget(struct orch_claims *claims, struct claims_change *change)
{
    g_autofree char *resource = g_strdup(change->resource);
    g_hash_table_remove(claims->held, resource);
    g_hash_table_remove(claims->seen, resource);
    if (!change->done)
        claims->listed_mono_ns = 0; /* forces the list to be read again */
    if (!change->new_token)
        return;
    struct claims_entry *entry = g_new0(struct claims_entry, 1);
    g_strlcpy(entry->resource, resource, sizeof entry->resource);
    entry->token = g_steal_pointer(&change->new_token);
    g_hash_table_replace(claims->seen, entry->resource, entry);
}

/* The held claims that end before a time, as changes that release them. */
static GArray *changes_of(const struct orch_claims *claims, int64_t end_before_ns)
{
    GArray *changes = g_array_new(FALSE, TRUE, sizeof(struct claims_change));
    GHashTableIter iter;
    gpointer resource, data;
    g_hash_table_iter_init(&iter, claims->held);
    while (g_hash_table_iter_next(&iter, &resource, &data)) {
        const struct held *held = data;
        struct claims_change change = {.resource = resource, .old_token = held->token};
        if (held->claim->expires_ns < end_before_ns)
            g_array_append_val(changes, change);
    }
    return changes;
}

bool orch_claims_renew(struct orch_claims *claims, GError **error)
{
    g_autoptr(GArray) changes = changes_of(claims, orch_now_ns() + claim_ns(0.5));
    if (!changes->len)
        return true;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < changes->len; i++) {
        struct claims_change *change = &g_array_index(changes, struct claims_change, i);
        struct held *held = g_hash_table_lookup(claims->held, change->resource);
        held->claim->expires_ns = orch_now_ns() + claim_ns(1);
        held->claim->made_ns = orch_now_ns();
        change->text = claim_text(held->claim);
        g_ptr_array_add(texts, (gpointer)(uintptr_t)change->text);
    }
    struct claims_change *first = (struct claims_change *)(void *)changes->data;
    bool ok = claims->place.swap(claims->place.self, first, changes->len, error);
    for (guint i = 0; i < changes->len; i++) {
        struct held *held = g_hash_table_lookup(claims->held, first[i].resource);
        if (first[i].done) {
            g_free(held->token);
            held->token = first[i].new_token;
        } else if (ok) {
            forget(claims, &first[i]);
        } else {
            held->claim->expires_ns = 0; /* retried by the next call */
        }
    }
    return ok;
}

static bool give_back(struct orch_claims *claims, GArray *changes, GError **error)
{
    struct claims_change *first = (struct claims_change *)(void *)changes->data;
    if (!changes->len)
        return true;
    bool ok = claims->place.swap(claims->place.self, first, changes->len, error);
    for (guint i = 0; ok && i < changes->len; i++)
        forget(claims, &first[i]);
    return ok;
}

bool orch_claims_give_back(struct orch_claims *claims, const char *fingerprint,
                           const char *device_key, GError **error)
{
    char resource[ORCH_SHA256_CHARS];
    orch_claim_resource(fingerprint, device_key, resource);
    const struct held *held = g_hash_table_lookup(claims->held, resource);
    if (!held)
        return true;
    g_autoptr(GArray) changes = g_array_new(FALSE, TRUE, sizeof(struct claims_change));
    struct claims_change change = {.resource = resource, .old_token = held->token};
    g_array_append_val(changes, change);
    return give_back(claims, changes, error);
}

/* Adds the release of claims that dead processes left behind. A folder is cleaned while it is
 * listed. */
static void add_left_behind(const struct orch_claims *claims, GArray *changes)
{
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, claims->seen);
    while (!claims->place.is_own_clock && g_hash_table_iter_next(&iter, NULL, &data)) {
        const struct claims_entry *entry = data;
        struct claims_change change = {.resource = entry->resource, .old_token = entry->token};
        if (entry->claim && entry->claim->expires_ns < orch_now_ns() - LEFT_BEHIND_NS &&
            !g_hash_table_contains(claims->held, entry->resource))
            g_array_append_val(changes, change);
    }
}

bool orch_claims_give_back_all(struct orch_claims *claims, GError **error)
{
    g_autoptr(GArray) changes = changes_of(claims, INT64_MAX);
    if (changes->len)
        add_left_behind(claims, changes);
    return give_back(claims, changes, error);
}

static int compare_made(gconstpointer a, gconstpointer b)
{
    const struct orch_claim *x = *(const struct orch_claim *const *)a;
    const struct orch_claim *y = *(const struct orch_claim *const *)b;
    return x->made_ns != y->made_ns ? (x->made_ns > y->made_ns) - (x->made_ns < y->made_ns)
                                    : strcmp(x->resource, y->resource);
}

GPtrArray *orch_claims_list(struct orch_claims *claims, GError **error)
{
    if (!refresh(claims, error))
        return NULL;
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)orch_claim_free);
    GHashTableIter iter;
    gpointer entry;
    g_hash_table_iter_init(&iter, claims->seen);
    while (g_hash_table_iter_next(&iter, NULL, &entry))
        if (is_alive(claims, entry))
            g_ptr_array_add(out, shown(claims, entry));
    g_ptr_array_sort(out, compare_made);
    return out;
}

void orch_claims_close(struct orch_claims *claims)
{
    if (!claims)
        return;
    orch_claims_give_back_all(claims, NULL);
    claims->place.free(claims->place.self);
    g_hash_table_unref(claims->held);
    g_hash_table_unref(claims->seen);
    g_hash_table_unref(claims->far_ahead);
    g_free(claims->who);
    g_free(claims->host);
    g_free(claims);
}
