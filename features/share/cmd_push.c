/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/run_setting.h"
#include "features/share/bundle_export.h"
#include "features/share/receipt.h"
#include "features/share/remote_warn.h"
#include "features/share/signatures.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

struct push_options {
    bool dry_run, with_source, sign;
    const char *artifacts, *where;
    const char **datasets;
};

static const struct orch_option PUSH_OPTIONS[] = {
    ORCH_OPTION(struct push_options, dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "list what would be sent; send nothing"),
    ORCH_OPTION(struct push_options, artifacts, TEXT, "artifacts", .value = "all|none|BYTES",
                .help = "send artifacts (files of runs) of at most this size (default 4MiB)"),
    ORCH_OPTION(struct push_options, with_source, FLAG, "with-source",
                .help = "also send the source files that the recipe names in 'inputs:'"),
    ORCH_OPTION(struct push_options, sign, FLAG, "sign",
                .help = "first sign your runs with your git signing key"),
    ORCH_OPTION(struct push_options, datasets, LIST, "measurements", .value = "NAME",
                .help = "also send this imported table of measurements"),
    ORCH_OPTION(struct push_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "send only runs that match FILTER"),
    {0}};

static const char *const LEAVES[] = {
    "parameters, metrics, results, times and seeds of every ended run",
    "what each trial printed, and its other artifacts of up to 4 MiB (--artifacts)",
    "orch's command line, your name and mail address",
    "this machine's host name, system, kernel, processor, memory, GPUs (with ids), and load",
    "ids of source trees and commits, the branch, the git remote's address (no password)",
    "recipes, public notes, removals, signatures, and forecasts of these runs",
};
static const char *const STAYS[] = {
    "sources (unless --with-source), imported tables (unless --measurements), private notes",
    "values of secret parameters",
};

static void print_list(struct orch_cli *cli, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        orch_cli_info(cli, "  %s", lines[i]);
}

/* `of`: "what leaves this machine" or "what would leave this machine" */
static void print_what_leaves(struct orch_cli *cli, const char *of)
{
    orch_cli_info(cli, "%s:", of);
    print_list(cli, LEAVES, G_N_ELEMENTS(LEAVES));
    orch_cli_info(cli, "what stays:");
    print_list(cli, STAYS, G_N_ELEMENTS(STAYS));
}

static json_t *leaves_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(LEAVES); i++)
        json_array_append_new(list, json_string(LEAVES[i]));
    return list;
}

/* Prints what leaves this machine, once for each store: before the first push that sends something,
 * after the remote has been reached. */
static bool print_once(struct orch_cli *cli, struct orch_store *store,
                       const struct orch_remote *remote,
                       const struct orch_exchange_request *request, GError **error)
{
    bool is_first;
    orch_cli_remote_warn(cli, remote);
    if (!orch_remote_is_first_push(cli->workspace, store, remote, request, &is_first, error))
        return false;
    if (!is_first)
        return true;
    print_what_leaves(cli, "what leaves this machine");
    orch_cli_info(cli, "'orch push --dry-run' lists every name and size");
    return orch_remote_first_push_explained(store, error);
}

static bool read_request(const struct orch_cli *cli, const struct push_options *o,
                         struct orch_exchange_request *out, GError **error)
{
    *out = (struct orch_exchange_request){
        .where = o->where, .datasets = o->datasets, .may_ask = orch_cli_may_prompt(cli)};
    return orch_artifact_bytes_parse(o->artifacts, &out->artifact_bytes, error) &&
           orch_exchange_wish_check(out, error);
}

/* Lists the files of sources, each with its size or the reason why it is not sent. */
static void list_sources(struct orch_cli *cli, const struct orch_shared_sources *sources)
{
    for (guint i = 0; sources->files && i < sources->files->len; i++) {
        const struct orch_source_file *file = sources->files->pdata[i];
        g_autofree char *bytes = orch_bytes_format(file->bytes);
        if (file->why)
            orch_cli_info(cli, "stays: %s (%s)", file->path, file->why);
        else
            orch_cli_info(cli, "source: %s (%s) of tree %.8s", file->path, bytes, file->tree);
    }
}

/* Describes a run for people: "a1b2c3d4 ok first nap seconds=0.1, ada, 2 h ago". NULL when the
 * item is not a run. The caller frees. */
static char *run_text(struct orch_store *store, const char *path)
{
    struct orch_run *run = orch_outgoing_run(store, path);
    if (!run)
        return NULL;
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    g_autofree char *setting =
        orch_run_setting_text(json_object_get(facts, "coords"), run, run->repeat);
    g_autofree char *who = orch_who_name(run->who);
    g_autofree char *when = orch_ago_format(run->started_ns);
    char *text = g_strdup_printf("%s %s %s %s%s%s, %s, %s", orch_run_short_key(run->key),
                                 run->state, run->recipe ? run->recipe : "-", run->experiment,
                                 *setting ? " " : "", setting, who, when);
    orch_run_free(run);
    return text;
}

/* Lists the items, then the files of sources. */
static json_t *outgoing_json(struct orch_store *store, const GArray *outgoing,
                             const struct orch_shared_sources *sources)
{
    json_t *list = json_array();
    for (guint i = 0; outgoing && i < outgoing->len; i++) {
        const struct orch_push_item *item = &g_array_index(outgoing, struct orch_push_item, i);
        g_autofree char *run = run_text(store, item->path);
        json_array_append_new(list, json_pack("{s:s s:I s:s*}", "path", item->path, "bytes",
                                              (json_int_t)item->bytes, "run", run));
    }
    for (guint i = 0; sources->files && i < sources->files->len; i++) {
        const struct orch_source_file *file = sources->files->pdata[i];
        g_autofree char *path = g_strconcat("sources/", file->tree, "/", file->path, NULL);
        if (!file->why)
            json_array_append_new(
                list, json_pack("{s:s s:I}", "path", path, "bytes", (json_int_t)file->bytes));
    }
    return list;
}

static json_t *exchanged_json(const struct orch_remote *remote, const struct orch_exchanged *done)
{
    return json_pack("{s:s s:I s:I s:I s:I s:I s:i s:o}", "remote", remote->name, "sent_runs",
                     (json_int_t)done->sent_runs, "sent_items", (json_int_t)done->sent_items,
                     "sent_bytes", (json_int_t)done->sent_bytes, "ahead", (json_int_t)done->ahead,
                     "behind", (json_int_t)done->behind, "tries", (int)done->attempts, "receipt",
                     orch_cli_receipt_json(done->receipt));
}

static void print_outgoing(struct orch_cli *cli, const struct orch_remote *remote,
                           const struct orch_exchanged *done, const GArray *outgoing,
                           const struct orch_shared_sources *sources)
{
    g_autoptr(json_t) items = outgoing_json(cli->workspace->store, outgoing, sources);
    if (cli->json) {
        json_t *object = exchanged_json(remote, done);
        json_object_set_new(object, "items", json_incref(items));
        json_object_set_new(object, "leaves", leaves_json());
        orch_cli_print_json(object);
        return;
    }
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        g_autofree char *path = orch_text_plain(g_strdup(orch_json_text(item, "path", "")));
        g_autofree char *run = orch_text_plain(g_strdup(orch_json_text(item, "run", "")));
        orch_cli_print("%s\t%" G_GINT64_FORMAT "%s%s", path, orch_json_int(item, "bytes", 0),
                       *run ? "\t" : "", run);
    }
    g_autofree char *bytes = orch_bytes_format(done->sent_bytes);
    print_what_leaves(cli, "what would leave this machine");
    orch_cli_info(cli,
                  "would send to '%s': %" G_GINT64_FORMAT " runs, %" G_GINT64_FORMAT
                  " files, %s before compression; nothing was sent",
                  remote->name, done->ahead, done->sent_items, bytes);
}

static void print_pushed(struct orch_cli *cli, const struct orch_remote *remote,
                         const struct orch_exchanged *done)
{
    if (cli->json) {
        orch_cli_print_json(exchanged_json(remote, done));
        return;
    }
    if (done->receipt)
        orch_cli_receipt_print(cli, done->receipt);
    g_autofree char *bytes = orch_bytes_format(done->sent_bytes);
    if (done->sent_items)
        orch_cli_info(cli,
                      "sent to '%s': %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT " file%s, %s",
                      remote->name, done->sent_runs, orch_plural(done->sent_runs), done->sent_items,
                      orch_plural(done->sent_items), bytes);
    else
        orch_cli_info(cli, "'%s' has everything", remote->name);
}

static int push_to(struct orch_cli *cli, struct orch_store *store, const struct orch_remote *remote,
                   const struct push_options *o, const struct orch_exchange_request *request,
                   GError **error)
{
    struct orch_exchanged done = {0};
    GArray *outgoing = NULL;
    int status = -1;
    if (o->dry_run && !remote->carrier->lists_outgoing) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "'orch status DIR' counts the runs that the folder lacks",
                       "option '--dry-run' works only with git remotes");
        return -1;
    }
    if (o->dry_run) {
        orch_cli_remote_warn(cli, remote);
        if (orch_remote_exchange(cli->workspace, store, remote, request, ORCH_EXCHANGE_LOOK, &done,
                                 &outgoing, error)) {
            print_outgoing(cli, remote, &done, outgoing, request->sources);
            status = ORCH_EXIT_OK;
        }
    } else if (print_once(cli, store, remote, request, error) &&
               orch_cli_remote_warn(cli, remote) &&
               orch_remote_exchange(cli->workspace, store, remote, request, ORCH_EXCHANGE_PUSH,
                                    &done, NULL, error)) {
        print_pushed(cli, remote, &done);
        status = orch_cli_receipt_status(done.receipt);
    }
    if (outgoing)
        g_array_unref(outgoing);
    orch_exchanged_clear(&done);
    return status;
}

static int run_push(struct orch_cli *cli, const void *options, GError **error)
{
    const struct push_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    struct orch_exchange_request request;
    struct orch_remote remote = {0};
    struct orch_shared_sources sources = {0};
    int status = -1;
    bool ok = store && (o->dry_run || orch_cli_signatures_make(cli, store, o->sign, error) >= 0);
    if (ok && read_request(cli, o, &request, error) &&
        orch_remote_find(cli->workspace, cli->arg_count ? cli->args[0] : NULL, &remote, error) &&
        orch_remote_sources(cli->workspace, store, &remote, o->with_source, &sources, error)) {
        list_sources(cli, &sources);
        request.sources = &sources;
        status = push_to(cli, store, &remote, o, &request, error);
    }
    orch_shared_sources_clear(&sources);
    orch_remote_clear(&remote);
    return status;
}

const struct orch_command ORCH_COMMAND_PUSH = {
    .name = "push",
    .group = "Share",
    .is_listed = true,
    .summary = "send this store's ended runs to the group's git remote or folder",
    .usage = "[REMOTE]",
    .max_args = 1,
    .options = PUSH_OPTIONS,
    .option_bytes = sizeof(struct push_options),
    .about =
        "REMOTE is a git remote, a URL, or a folder that the group shares; without it, the remote "
        "of the repository is used. First the others' runs are pulled, as by 'orch pull'. Then the "
        "runs that the remote lacks are sent, under refs/orch/results. Your branches and files are "
        "not touched, and nothing on the remote is overwritten.\n"
        "Sources are sent only with --with-source, or if an experiment sets 'share: source'. The "
        "exit status is 3 if the remote cannot be used, and 7 if a pulled run was damaged.",
    .examples = "  orch push               # to the default remote\n"
                "  orch push --dry-run     # what would be sent\n"
                "  orch push /mnt/usb/group",
    .run = run_push,
};

/* ---- pull ---------------------------------------------------------------------------------------
 */

struct pull_options {
    const char *artifacts;
};

static const struct orch_option PULL_OPTIONS[] = {
    ORCH_OPTION(struct pull_options, artifacts, TEXT, "artifacts", .value = "all|none|BYTES",
                .help = "store artifacts (files of runs) of at most this size (default 4MiB)"),
    {0}};

static void print_pulled(struct orch_cli *cli, const struct orch_remote *remote,
                         const struct orch_exchanged *done)
{
    if (cli->json)
        orch_cli_print_json(exchanged_json(remote, done));
    else if (done->receipt)
        orch_cli_receipt_print(cli, done->receipt);
    else
        orch_cli_info(cli, "nothing new from '%s'", remote->name);
}

static int pull_from(struct orch_cli *cli, const struct orch_remote *remote,
                     const struct orch_exchange_request *request, GError **error)
{
    struct orch_exchanged done = {0};
    struct orch_store *store = orch_workspace_store(cli->workspace, ORCH_STORE_CREATE, error);
    int status = -1;
    if (store && orch_cli_remote_warn(cli, remote) &&
        orch_remote_exchange(cli->workspace, store, remote, request, ORCH_EXCHANGE_PULL, &done,
                             NULL, error)) {
        print_pulled(cli, remote, &done);
        status = orch_cli_receipt_status(done.receipt);
    }
    orch_exchanged_clear(&done);
    return status;
}

static int run_pull(struct orch_cli *cli, const void *options, GError **error)
{
    const struct pull_options *o = options;
    struct orch_exchange_request request = {.may_ask = orch_cli_may_prompt(cli)};
    struct orch_remote remote = {0};
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    int status = -1;
    if (workspace && orch_artifact_bytes_parse(o->artifacts, &request.artifact_bytes, error) &&
        orch_remote_find(workspace, cli->arg_count ? cli->args[0] : NULL, &remote, error))
        status = pull_from(cli, &remote, &request, error);
    orch_remote_clear(&remote);
    return status;
}

const struct orch_command ORCH_COMMAND_PULL = {
    .name = "pull",
    .group = "Share",
    .is_listed = true,
    .summary = "fetch the group's runs from its git remote or folder into this store",
    .usage = "[REMOTE]",
    .max_args = 1,
    .options = PULL_OPTIONS,
    .option_bytes = sizeof(struct pull_options),
    .about = "Without REMOTE, the remote of the repository is used. A run that was damaged or "
             "changed is reported and left out; the exit status is then 7. Your branches and files "
             "are not touched.",
    .examples = "  orch pull",
    .run = run_pull,
};
