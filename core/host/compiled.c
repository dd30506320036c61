/* SPDX-License-Identifier: MIT */
/* Runs a compiled plugin in a fork of the host. */
#include "core/host/child.h"

#include "core/host/crash/crash_trap.h"
#include "core/host/host_services.h"
#include "core/host/plugin_load.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ---- /proc entries ----------------------------------------------------------------------------
 */

/* A fork shows its parent's command line and environment in /proc. Both are overwritten, because
 * the recovery of a dead host searches them: the command line no longer contains the trial's folder
 * (which identifies the host), and the environment contains ORCH_RUN. */
static void rewrite_command_line(int argc, char **argv, const char *name)
{
    char *last = argv[argc - 1]; /* the kernel puts the arguments one behind the other */
    size_t room = (size_t)(last + strlen(last) + 1 - argv[0]);
    g_autofree char *title = g_strdup_printf("orch-plugin %s", name);
    memset(argv[0], 0, room);
    g_strlcpy(argv[0], title, room);
}

static void rewrite_environment(const char *key)
{
    char **before = environ;
    char *begin = before[0], *end = begin;
    for (char **entry = before; *entry && *entry == end; entry++)
        end += strlen(*entry) + 1;
    environ = g_strdupv(before);
    g_autofree char *word = g_strconcat("ORCH_RUN=", key, NULL);
    if (begin && (size_t)(end - begin) > strlen(word))
        strcpy(begin, word);
}

static void make_environment(const struct child_setup *setup)
{
    const struct orch_trial_spec *trial = setup->trial;
    rewrite_command_line(setup->argc, setup->argv, trial->manifest->name);
    rewrite_environment(trial->key);
    for (char **entry = trial->env; entry && *entry; entry++)
        putenv(g_strdup(*entry));
    g_setenv("ORCH_RUN", trial->key, TRUE);
    orch_opened_files_announce(setup->opened);
}

/* ---- the slot ---------------------------------------------------------------------------------
 */

/* The ranks on this machine share the threads of the trial's slot. */
static struct orch_slot slot_of(const struct child_setup *setup)
{
    const struct orch_trial_spec *trial = setup->trial;
    unsigned threads = trial->threads ? trial->threads : g_get_num_processors();
    return (struct orch_slot){
        .threads = MAX(1, threads / MAX(1, setup->rank.local_count)),
        .gpus = trial->gpus,
        .rank = setup->rank.number,
        .ranks = MAX(1, setup->rank.count),
        .local_rank = setup->rank.local_number,
        .memory_bytes = (uint64_t)trial->limit_memory_bytes,
        .usd_per_hour = trial->usd_per_hour,
        .price_from = trial->price_from,
    };
}

/* Sets what numeric libraries read, for a rank: the trial's environment has the whole slot's. */
static void set_thread_variables(const struct orch_slot *slot)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                        "OPENBLAS_NUM_THREADS", "ORCH_THREADS"};
    g_autofree char *text = g_strdup_printf("%u", slot->threads);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        g_setenv(names[i], text, TRUE);
}

/* ---- the plugin -------------------------------------------------------------------------------
 */

static void expect_same(const struct orch_manifest *planned, const struct orch_manifest *found)
{
    const struct {
        const char *field, *planned, *found;
    } rows[] = {{"name", planned->name, found->name},
                {"version", planned->version, found->version},
                {"build", planned->build, found->build}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (g_strcmp0(rows[i].planned, rows[i].found) == 0)
            continue;
        g_autofree char *text = g_strdup_printf(
            "plugin '%s' changed since this trial was planned: expected %s '%s', found '%s'",
            found->path, rows[i].field, rows[i].planned ? rows[i].planned : "none",
            rows[i].found ? rows[i].found : "none");
        orch_child_fail(text);
    }
}

static const char *status_word(int status)
{
    static const char *const words[] = {[ORCH_OK] = "ok",
                                        [ORCH_FAILED] = "failed",
                                        [ORCH_SKIPPED] = "skipped",
                                        [ORCH_DIVERGED] = "diverged",
                                        [ORCH_CANCELLED] = "cancelled"};
    bool is_known = status >= 0 && status < (int)G_N_ELEMENTS(words);
    return words[is_known ? status : ORCH_FAILED];
}

static int run_hooks(const struct orch_plugin *plugin, const void *params,
                     const struct orch_host *host)
{
    void *state = NULL;
    int status = plugin->open ? plugin->open(params, host, &state) : ORCH_OK;
    if (status != ORCH_OK)
        return status;
    status = plugin->run(state, params, host);
    if (plugin->close)
        plugin->close(state);
    return status;
}

static void report(struct services *services, int status)
{
    const char *failure = orch_services_failure(services);
    if (status != ORCH_OK && failure) {
        g_autofree char *cut = g_strndup(failure, 8192);
        g_autofree char *valid = g_utf8_make_valid(cut, -1);
        g_autoptr(json_t) reason = json_pack("{s:s s:s}", "event", "error", "text", valid);
        orch_services_send(services, reason);
    }
    g_autoptr(json_t) done = json_pack("{s:s s:s}", "event", "done", "status", status_word(status));
    orch_services_send(services, done);
}

void orch_compiled_main(const struct child_setup *setup)
{
    const struct orch_trial_spec *trial = setup->trial;
    struct loaded_plugin loaded;
    g_autoptr(GError) error = NULL;
    const struct orch_slot slot = slot_of(setup);
    make_environment(setup);
    orch_crash_trap_arm(setup->trial_dir, setup->rank.count ? (int)setup->rank.number : -1);
    if (setup->rank.count)
        set_thread_variables(&slot);
    if (!trial->manifest->path)
        orch_child_fail("trial.json: the path of the compiled plugin is missing");
    if (!orch_plugin_load(trial->manifest->path, trial->plugin_sha256, &loaded, &error))
        orch_child_fail(error->message);
    expect_same(trial->manifest, loaded.manifest);
    orch_opened_files_attach(setup->opened);
    g_autoptr(GPtrArray) arena = g_ptr_array_new_with_free_func(g_free);
    void *params = g_malloc0(loaded.plugin.params_bytes + 1);
    if (!orch_value_fill(loaded.manifest, trial->params, params, loaded.plugin.params_bytes, arena,
                         &error))
        orch_child_fail(error->message);
    const struct services_setup services_setup = {
        .manifest = loaded.manifest,
        .events_fd = CHILD_EVENTS_FD,
        .control_fd = CHILD_CONTROL_FD,
        .start_ns = setup->start_ns,
        .seed = trial->seed,
        .checkpoint_dir = trial->checkpoint_dir,
        .smoke = trial->smoke,
        .slot = slot,
    };
    struct services *services = orch_services_new(&services_setup);
    int status = run_hooks(&loaded.plugin, params, orch_services_host(services));
    report(services, status);
    orch_services_free(services);
    /* Skips exit handlers, because those of large libraries are slow and may crash after a
     * success. */
    fflush(NULL);
    _exit(0);
}
