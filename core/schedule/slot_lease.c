/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/slot_lease.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/hw/topology.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX 65536 /* CPUs or GPUs of one entry */
#define TEXT_BYTES_MAX 200

static void free_gpu(void *data)
{
    struct orch_lease_gpu *gpu = data;
    g_free(gpu->name);
    g_free(gpu);
}

struct orch_lease *orch_lease_new(void)
{
    struct orch_lease *lease = g_new0(struct orch_lease, 1);
    lease->uid = geteuid();
    lease->cpus = g_array_new(FALSE, FALSE, sizeof(int));
    lease->gpus = g_ptr_array_new_with_free_func(free_gpu);
    return lease;
}

void orch_lease_free(struct orch_lease *lease)
{
    if (!lease)
        return;
    g_free(lease->trial_dir);
    g_free(lease->what);
    g_array_unref(lease->cpus);
    g_ptr_array_unref(lease->gpus);
    g_free(lease);
}

void orch_lease_add_gpu(struct orch_lease *lease, const char *name, unsigned millionths)
{
    struct orch_lease_gpu *gpu = g_new0(struct orch_lease_gpu, 1);
    *gpu = (struct orch_lease_gpu){g_strdup(name), millionths};
    g_ptr_array_add(lease->gpus, gpu);
}

bool orch_lease_is_of(const struct orch_lease *lease, const struct orch_process *process)
{
    return lease->runner.pid == process->pid && lease->runner.start == process->start &&
           strcmp(lease->runner.boot_id, process->boot_id) == 0;
}

/* On the wall clock, UTC. */
static int64_t since_utc_ns(const struct orch_lease *lease)
{
    return orch_now_ns() - (orch_boot_ns() - lease->since_ns);
}

char *orch_lease_text(const struct orch_lease *lease)
{
    g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(since_utc_ns(lease) / 1000000000);
    g_autoptr(GDateTime) local = utc ? g_date_time_to_local(utc) : NULL;
    g_autofree char *since = local ? g_date_time_format(local, "%F %T") : g_strdup("?");
    const struct passwd *user = lease->uid == geteuid() ? NULL : getpwuid(lease->uid);
    g_autofree char *who = lease->uid == geteuid() ? g_strdup("")
                           : user                  ? g_strdup_printf(" by %s", user->pw_name)
                                  : g_strdup_printf(" by user %u", (unsigned)lease->uid);
    return g_strdup_printf("orch run of %s%s (pid %d%s) since %s", lease->what, who,
                           (int)lease->runner.pid,
                           lease->is_dead ? ", killed; its trial is still ending" : "", since);
}

char *orch_lease_resources(const struct orch_lease *lease)
{
    GString *text = g_string_new(lease->is_alone ? "the whole machine" : "");
    for (guint i = 0; i < lease->gpus->len; i++) {
        const struct orch_lease_gpu *gpu = lease->gpus->pdata[i];
        g_string_append_printf(text, "%s%s", text->len ? ", " : "", gpu->name);
        if (gpu->millionths < ORCH_GPU_WHOLE)
            g_string_append_printf(text, " (%g)", gpu->millionths / (double)ORCH_GPU_WHOLE);
    }
    if (lease->is_waiting && lease->lacks_cpus && !lease->is_alone)
        g_string_append_printf(text, "%sCPUs", text->len ? ", " : "");
    g_autofree char *cpus =
        orch_cpu_list_format((const int *)(const void *)lease->cpus->data, lease->cpus->len);
    if (*cpus)
        g_string_append_printf(text, "%sCPU%s %s", text->len ? ", " : "",
                               orch_plural(lease->cpus->len), cpus);
    return g_string_free(text, FALSE);
}

json_t *orch_lease_json(const struct orch_lease *lease)
{
    g_autofree char *cpus =
        orch_cpu_list_format((const int *)(const void *)lease->cpus->data, lease->cpus->len);
    g_autofree char *since = orch_time_format(since_utc_ns(lease), true);
    json_t *gpus = json_array();
    for (guint i = 0; i < lease->gpus->len; i++) {
        const struct orch_lease_gpu *gpu = lease->gpus->pdata[i];
        json_array_append_new(
            gpus, json_pack("{s:s s:o}", "gpu", gpu->name, "share",
                            orch_json_finite(gpu->millionths / (double)ORCH_GPU_WHOLE)));
    }
    return json_pack("{s:s s:i s:I s:s? s:s s:b s:b s:b s:s s:o}", "what", lease->what, "pid",
                     (int)lease->runner.pid, "uid", (json_int_t)lease->uid, "run",
                     *lease->key ? lease->key : NULL, "since", since, "waiting", lease->is_waiting,
                     "ending", lease->is_dead, "alone", lease->is_alone, "cpus", cpus, "gpus",
                     gpus);
}

/* ---- as a file has it
 * -------------------------------------------------------------------------------------
 */

json_t *orch_lease_encode(const struct orch_lease *lease)
{
    json_t *cpus = json_array(), *gpus = json_array();
    for (guint i = 0; i < lease->cpus->len; i++)
        json_array_append_new(cpus, json_integer(g_array_index(lease->cpus, int, i)));
    for (guint i = 0; i < lease->gpus->len; i++) {
        const struct orch_lease_gpu *gpu = lease->gpus->pdata[i];
        json_array_append_new(gpus, json_pack("[si]", gpu->name, (int)gpu->millionths));
    }
    return json_pack(
        "{s:s s:I s:I s:s s:s? s:s s:I s:b s:b s:b s:b s:o s:o}", "boot", lease->runner.boot_id,
        "pid", (json_int_t)lease->runner.pid, "start", (json_int_t)lease->runner.start, "key",
        lease->key, "trial_dir", lease->trial_dir, "what", lease->what, "since_boot_ns",
        (json_int_t)lease->since_ns, "yields", lease->yields, "alone", lease->is_alone, "waiting",
        lease->is_waiting, "lacks_cpus", lease->lacks_cpus, "cpus", cpus, "gpus", gpus);
}

/* The text as one line that a terminal shows as it is. Caller frees. */
static char *safe_line(const char *text)
{
    return orch_text_line(g_utf8_make_valid(text, (gssize)strnlen(text, TEXT_BYTES_MAX)));
}

static bool decode_lists(struct orch_lease *lease, const json_t *json)
{
    const json_t *cpus = json_object_get(json, "cpus"), *gpus = json_object_get(json, "gpus");
    if (json_array_size(cpus) > LIST_MAX || json_array_size(gpus) > LIST_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(cpus); i++) {
        json_int_t number = json_integer_value(json_array_get(cpus, i));
        int cpu = (int)CLAMP(number, 0, LIST_MAX);
        g_array_append_val(lease->cpus, cpu);
    }
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *pair = json_array_get(gpus, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        json_int_t share = json_integer_value(json_array_get(pair, 1));
        if (!name)
            return false;
        g_autofree char *line = safe_line(name);
        orch_lease_add_gpu(lease, line, (unsigned)CLAMP(share, 0, ORCH_GPU_WHOLE));
    }
    return true;
}

struct orch_lease *orch_lease_decode(const json_t *json, uid_t uid)
{
    const char *boot = orch_json_text(json, "boot", NULL), *what = orch_json_text(json, "what", "");
    const char *dir = orch_json_text(json, "trial_dir", NULL);
    gint64 pid = orch_json_int(json, "pid", 0);
    struct orch_lease *lease = orch_lease_new();
    lease->uid = uid;
    g_strlcpy(lease->runner.boot_id, boot ? boot : "", sizeof lease->runner.boot_id);
    g_strlcpy(lease->key, orch_json_text(json, "key", ""), sizeof lease->key);
    lease->runner.pid = pid;
    lease->runner.start = orch_json_int(json, "start", 0);
    lease->since_ns = CLAMP(orch_json_int(json, "since_boot_ns", 0), 0, INT64_MAX / 4);
    lease->yields = json_is_true(json_object_get(json, "yields"));
    lease->is_alone = json_is_true(json_object_get(json, "alone"));
    lease->is_waiting = json_is_true(json_object_get(json, "waiting"));
    lease->lacks_cpus = json_is_true(json_object_get(json, "lacks_cpus"));
    lease->trial_dir = g_strdup(dir);
    lease->what = safe_line(what);
    if (boot && pid > 0 && pid <= G_MAXINT && decode_lists(lease, json))
        return lease;
    orch_lease_free(lease);
    return NULL;
}
