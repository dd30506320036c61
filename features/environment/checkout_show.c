/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch checkout RUN --environment`: lock files of what a run had installed; and the environment
 * that its recipe named, in `orch show RUN`. */
#include "core/cli/parts.h"
#include "core/cli/show_lines.h"
#include "features/environment/lock.h"
#include "lib/base/json.h"

struct checkout_options {
    bool environment;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct checkout_options, environment, FLAG, "environment",
                .help = "instead, write lock files of the packages that the run used"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct checkout_options *)options)->environment;
}

static json_t *texts_json(const GPtrArray *texts)
{
    json_t *out = json_array();
    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(out, json_string(texts->pdata[i]));
    return out;
}

static void print(struct orch_cli *cli, const struct orch_run *run, const char *folder,
                  const struct orch_lock *lock)
{
    for (guint i = 0; !cli->json && i < lock->files->len; i++)
        printf("%s\n", (char *)lock->files->pdata[i]);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s s:s? s:o s:o s:s?}", "run", run->key, "folder",
                                      folder, "python", lock->python, "files",
                                      texts_json(lock->files), "unhashed",
                                      texts_json(lock->unhashed), "why", lock->why));
    if (lock->why)
        orch_cli_warn(cli, "the packages have no digests: %s\n  hint: run 'pip install uv'",
                      lock->why);
    else if (lock->unhashed->len)
        orch_cli_warn(cli, "%u package%s no digest: the package index does not have %s",
                      lock->unhashed->len, lock->unhashed->len == 1 ? " has" : "s have",
                      (char *)lock->unhashed->pdata[0]);
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)options, (void)json;
    const struct orch_run *run = subject->run;
    g_autofree char *usual = g_strdup_printf("environment-%s", orch_run_short_key(run->key));
    const char *folder = cli->arg_count > 1 ? cli->args[1] : usual;
    struct orch_lock lock;
    if (!orch_lock_write(subject->store, run, folder, &lock, error))
        return false;
    print(cli, run, folder, &lock);
    orch_lock_clear(&lock);
    return true;
}

const struct orch_command_part ORCH_PART_CHECKOUT_ENVIRONMENT = {
    .command = "checkout",
    .options = OPTIONS,
    .option_bytes = sizeof(struct checkout_options),
    .examples = "  orch checkout @last --environment env  # requirements.txt, conda.txt, apt.txt",
    .is_asked = is_asked,
    .is_alone = true,
    .show = show,
};

/* In JSON it is among the facts. */
static bool show_of_run(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                        json_t *json, GError **error)
{
    (void)cli, (void)options, (void)error;
    const char *text = subject->run->facts;
    g_autoptr(json_t) facts = text && !json ? json_loads(text, 0, NULL) : NULL;
    const json_t *declared = json_object_get(facts, "declared_environment");
    if (json_is_object(declared))
        orch_cli_show_line("environment", "%s %s, %.12s", orch_json_text(declared, "kind", ""),
                           orch_json_text(declared, "from", ""),
                           orch_json_text(declared, "digest", ""));
    return true;
}

const struct orch_command_part ORCH_PART_SHOW_ENVIRONMENT = {.command = "show",
                                                             .show = show_of_run};
