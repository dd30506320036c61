/* SPDX-License-Identifier: MIT */
#include "lib/wire/trial.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

enum { LIST_MAX = 65536, TRIAL_BYTES_MAX = 16 << 20 };

struct orch_trial_spec *orch_trial_new(void)
{
    return g_new0(struct orch_trial_spec, 1);
}

void orch_trial_free(struct orch_trial_spec *trial)
{
    if (!trial)
        return;
    g_free(trial->key);
    g_free(trial->recipe);
    g_free(trial->experiment);
    orch_manifest_free(trial->manifest);
    json_decref(trial->params);
    g_free(trial->plugin_sha256);
    g_free(trial->cwd);
    json_decref(trial->apart);
    json_decref(trial->watch);
    json_decref(trial->alerts);
    g_free(trial->checkpoint_dir);
    g_strfreev(trial->env);
    g_strfreev(trial->launcher);
    g_free(trial->cpus);
    g_free(trial->price_from);
    g_free(trial);
}

static json_t *encode_slot(const struct orch_trial_spec *trial)
{
    return trial->threads || trial->gpus || trial->ranks
               ? json_pack("{s:I s:I s:I}", "threads", (json_int_t)trial->threads, "gpus",
                           (json_int_t)trial->gpus, "ranks", (json_int_t)trial->ranks)
               : NULL;
}

static json_t *encode_price(const struct orch_trial_spec *trial)
{
    return trial->usd_per_hour > 0 ? json_pack("{s:f s:s?}", "usd_per_hour", trial->usd_per_hour,
                                               "from", trial->price_from)
                                   : NULL;
}

/* Encodes the followed program; NULL for a trial that its host starts itself. */
static json_t *encode_follow(const struct orch_trial_spec *trial)
{
    const struct orch_process *process = &trial->follow;
    return trial->is_followed
               ? json_pack("{s:s s:I s:I s:I s:I}", "boot_id", process->boot_id, "pid",
                           (json_int_t)process->pid, "start", (json_int_t)process->start,
                           "past_started_ns", (json_int_t)trial->past_started_ns, "past_ended_ns",
                           (json_int_t)trial->past_ended_ns)
               : NULL;
}

/* The words of a launcher; NULL: there is none. New reference. */
static json_t *encode_launcher(const struct orch_trial_spec *trial)
{
    json_t *words = trial->launcher ? json_array() : NULL;
    for (char **word = trial->launcher; word && *word; word++)
        json_array_append_new(words, json_string(*word));
    return words;
}

json_t *orch_trial_encode(const struct orch_trial_spec *trial)
{
    json_t *env = json_array();
    for (char **entry = trial->env; entry && *entry; entry++) {
        g_autofree char *valid = g_utf8_make_valid(*entry, -1);
        json_array_append_new(env, json_string(valid));
    }
    json_t *cpus = json_array();
    for (unsigned i = 0; i < trial->cpu_count; i++)
        json_array_append_new(cpus, json_integer(trial->cpus[i]));
    return json_pack(
        "{s:i s:s? s:s? s:s? s:o s:i s:b s:o* s:s* s:O* s:s? s:s? s:o s:o s:f s:I s:I s:f s:b "
        "s:o* s:o* s:o* s:f s:O* s:O* s:O* s:o*}",
        "format", ORCH_TRIAL_FORMAT, "key", trial->key, "recipe", trial->recipe, "experiment",
        trial->experiment, "seed", orch_json_u64(trial->seed), "repeat", trial->repeat, "smoke",
        trial->smoke, "manifest", trial->manifest ? orch_manifest_encode(trial->manifest) : NULL,
        "plugin_sha256", trial->plugin_sha256, "params", trial->params, "cwd", trial->cwd,
        "checkpoint_dir", trial->checkpoint_dir, "env", env, "cpus", cpus, "limit_s",
        trial->limit_s, "limit_memory_bytes", (json_int_t)trial->limit_memory_bytes,
        "limit_log_bytes", (json_int_t)trial->limit_log_bytes, "grace_s", trial->grace_s,
        "detached", trial->detached, "follow", encode_follow(trial), "slot", encode_slot(trial),
        "price", encode_price(trial), "system_interval_s", trial->system_interval_s, "apart",
        trial->apart, "watch", trial->watch, "alerts", trial->alerts, "launcher",
        encode_launcher(trial));
}

#define broken(error, what)                                                                        \
    (orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "trial.json: %s", what), false)

static bool decode_env(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    const json_t *env = json_object_get(json, "env");
    size_t count = json_array_size(env);
    if (count > LIST_MAX)
        return broken(error, "'env' is too long");
    if (count)
        trial->env = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(env, i));
        if (!text || !strchr(text, '=') || *text == '=')
            return broken(error, "an entry of 'env' is not NAME=value");
        trial->env[i] = g_strdup(text);
    }
    return true;
}

static bool decode_launcher(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    const json_t *words = json_object_get(json, "launcher");
    size_t count = json_array_size(words);
    if (count > LIST_MAX)
        return broken(error, "'launcher' is too long");
    if (count)
        trial->launcher = g_new0(char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(words, i));
        if (!text)
            return broken(error, "a word of 'launcher' is not a text");
        trial->launcher[i] = g_strdup(text);
    }
    return true;
}

static bool decode_cpus(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    const json_t *cpus = json_object_get(json, "cpus");
    size_t count = json_array_size(cpus);
    if (count > LIST_MAX)
        return broken(error, "'cpus' is too long");
    trial->cpus = g_new0(int, count + 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *cpu = json_array_get(cpus, i);
        if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
            json_integer_value(cpu) > G_MAXINT)
            return broken(error, "an entry of 'cpus' is not a CPU number");
        trial->cpus[trial->cpu_count++] = (int)json_integer_value(cpu);
    }
    return true;
}

static void decode_follow(struct orch_trial_spec *trial, const json_t *json)
{
    const json_t *follow = json_object_get(json, "follow");
    trial->is_followed = json_is_object(follow);
    g_strlcpy(trial->follow.boot_id, orch_json_text(follow, "boot_id", ""),
              sizeof trial->follow.boot_id);
    trial->follow.pid = orch_json_int(follow, "pid", 0);
    trial->follow.start = orch_json_int(follow, "start", 0);
    trial->past_started_ns = orch_json_int(follow, "past_started_ns", 0);
    trial->past_ended_ns = orch_json_int(follow, "past_ended_ns", 0);
}

/* Reads a count of the slot: 0 if absent. */
static bool decode_count(const json_t *slot, const char *key, unsigned *out, GError **error)
{
    const json_t *value = json_object_get(slot, key);
    json_int_t count = value ? json_integer_value(value) : 0;
    if ((value && !json_is_integer(value)) || count < 0 || count > LIST_MAX) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                       "trial.json: 'slot.%s' is not a number from 0 to %d", key, LIST_MAX);
        return false;
    }
    *out = (unsigned)count;
    return true;
}

static bool decode_slot(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    const json_t *slot = json_object_get(json, "slot");
    return decode_count(slot, "threads", &trial->threads, error) &&
           decode_count(slot, "gpus", &trial->gpus, error) &&
           decode_count(slot, "ranks", &trial->ranks, error);
}

/* Reads a limit: 0 if absent; negative or non-finite values are an error. */
static bool decode_real(const json_t *json, const char *key, double *out, GError **error)
{
    const json_t *value = json_object_get(json, key);
    if (!value)
        return true;
    if (orch_json_get_real(value, out) && isfinite(*out) && *out >= 0)
        return true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "trial.json: '%s' is not a number >= 0", key);
    return false;
}

static bool decode_price(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    const json_t *price = json_object_get(json, "price");
    trial->price_from = g_strdup(orch_json_text(price, "from", NULL));
    return !price || decode_real(price, "usd_per_hour", &trial->usd_per_hour, error);
}

static bool decode_into(struct orch_trial_spec *trial, const json_t *json, GError **error)
{
    gint64 format = orch_json_int(json, "format", -1);
    if (format != ORCH_TRIAL_FORMAT) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL, "use orch and orch-host of one version",
                       "trial.json: expected format %d, found %d", ORCH_TRIAL_FORMAT, (int)format);
        return false;
    }
    trial->key = g_strdup(orch_json_text(json, "key", NULL));
    trial->recipe = g_strdup(orch_json_text(json, "recipe", NULL));
    trial->experiment = g_strdup(orch_json_text(json, "experiment", NULL));
    trial->plugin_sha256 = g_strdup(orch_json_text(json, "plugin_sha256", NULL));
    trial->cwd = g_strdup(orch_json_text(json, "cwd", NULL));
    trial->apart = json_incref(json_object_get(json, "apart"));
    trial->watch = json_incref(json_object_get(json, "watch"));
    trial->alerts = json_incref(json_object_get(json, "alerts"));
    trial->checkpoint_dir = g_strdup(orch_json_text(json, "checkpoint_dir", NULL));
    trial->repeat = (int)CLAMP(orch_json_int(json, "repeat", 1), 1, G_MAXINT);
    trial->smoke = json_is_true(json_object_get(json, "smoke"));
    trial->detached = json_is_true(json_object_get(json, "detached"));
    trial->limit_memory_bytes = MAX(orch_json_int(json, "limit_memory_bytes", 0), 0);
    trial->limit_log_bytes = MAX(orch_json_int(json, "limit_log_bytes", 0), 0);
    decode_follow(trial, json);
    const json_t *seed = json_object_get(json, "seed");
    guint64 number = 0;
    if (!trial->key || !*trial->key)
        return broken(error, "without a key");
    if (seed && !orch_json_get_u64(seed, &number))
        return broken(error, "'seed' is not a 64-bit number");
    trial->seed = number;
    json_t *params = json_object_get(json, "params");
    if (params && !json_is_object(params))
        return broken(error, "'params' is not an object");
    trial->params = params ? json_incref(params) : json_object();
    trial->manifest = orch_manifest_decode(json_object_get(json, "manifest"), error);
    return trial->manifest && decode_env(trial, json, error) &&
           decode_launcher(trial, json, error) && decode_cpus(trial, json, error) &&
           decode_slot(trial, json, error) && decode_price(trial, json, error) &&
           decode_real(json, "limit_s", &trial->limit_s, error) &&
           decode_real(json, "system_interval_s", &trial->system_interval_s, error) &&
           decode_real(json, "grace_s", &trial->grace_s, error);
}

struct orch_trial_spec *orch_trial_decode(const json_t *json, GError **error)
{
    struct orch_trial_spec *trial = orch_trial_new();
    if (decode_into(trial, json, error))
        return trial;
    orch_trial_free(trial);
    return NULL;
}

struct orch_trial_spec *orch_trial_read(const char *trial_dir, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, "trial.json", NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, TRIAL_BYTES_MAX, &text, &length, error))
        return NULL;
    g_autoptr(json_t) json = orch_json_parse(text, length, TRIAL_BYTES_MAX, error);
    if (!json)
        g_prefix_error(error, "cannot read '%s': ", path);
    struct orch_trial_spec *trial = json ? orch_trial_decode(json, error) : NULL;
    if (trial && trial->cwd) {
        char *cwd = orch_path_absolute(trial->cwd, trial_dir);
        g_free(trial->cwd);
        trial->cwd = cwd;
    }
    return trial;
}
