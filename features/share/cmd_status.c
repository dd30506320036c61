/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/remote_warn.h"

#include "core/schedule/slot_leases.h"
#include "features/share/bundle_export.h"
#include "lib/base/text.h"

struct status_options {
    bool offline;
};

static const struct orch_option STATUS_OPTIONS[] = {
    ORCH_OPTION(struct status_options, offline, FLAG, "offline",
                .help = "compare with the remote's last known state; do not contact it"),
    {0}};

static GPtrArray *sorted_names(GHashTable *counts)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter;
    void *name;
    if (!counts)
        return names;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(names, name);
    g_ptr_array_sort(names, orch_compare_texts);
    return names;
}

static json_t *slots_json(const GPtrArray *leases)
{
    json_t *rows = json_array();
    for (guint i = 0; i < leases->len; i++)
        json_array_append_new(rows, orch_lease_json(leases->pdata[i]));
    return rows;
}

/* What the trials of all runs of this machine use, and which runs wait. */
static void print_slots(const GPtrArray *leases)
{
    for (guint i = 0; i < leases->len; i++) {
        const struct orch_lease *lease = leases->pdata[i];
        g_autofree char *resources = orch_lease_resources(lease);
        g_autofree char *holder = orch_lease_text(lease);
        g_autofree char *plain = orch_text_plain(g_steal_pointer(&holder));
        orch_cli_print("%s %s%s: %s", i ? "        " : "slots   ",
                       lease->is_waiting ? "waiting for " : "",
                       *resources ? resources : "no CPU of its own", plain);
    }
}

static void print_json(const struct orch_store *store, const struct orch_standing *s)
{
    g_autoptr(GPtrArray) names = sorted_names(s->there.behind_by);
    json_t *by = json_object();
    for (guint i = 0; i < names->len; i++)
        json_object_set_new(by, names->pdata[i],
                            json_integer((json_int_t)GPOINTER_TO_SIZE(
                                g_hash_table_lookup(s->there.behind_by, names->pdata[i]))));
    bool known = s->remote.name && !s->problem;
    g_autoptr(GPtrArray) leases = orch_slot_leases_list(NULL);
    g_autofree char *exchanged = s->exchanged_ns ? orch_time_format(s->exchanged_ns, true) : NULL;
    orch_cli_print_json(
        json_pack("{s:s? s:s s:I s:I s:I s:s? s:s? s:o s:o s:o s:o s:s? s:o}", "store",
                  s->has_store ? orch_store_path(store) : NULL, "digest", s->info.digest, "runs",
                  (json_int_t)s->info.runs, "running", (json_int_t)s->info.active, "private_notes",
                  (json_int_t)s->private_notes, "remote", s->remote.name, "problem",
                  s->problem ? s->problem->message : NULL, "ahead",
                  known ? json_integer(s->there.ahead) : json_null(), "ahead_notes",
                  known ? json_integer(s->there.ahead_notes) : json_null(), "behind",
                  known ? json_integer(s->there.behind) : json_null(), "behind_by", by, "exchanged",
                  exchanged, "slots", slots_json(leases)));
}

/* "12", "12, and 1 note" */
static void print_ahead(const struct orch_exchanged *there)
{
    printf("ahead    %" G_GINT64_FORMAT, there->ahead);
    if (there->ahead_notes)
        printf(", and %" G_GINT64_FORMAT " note%s", there->ahead_notes,
               orch_plural(there->ahead_notes));
    puts(there->ahead || there->ahead_notes ? " ('orch push' sends them)" : "");
}

static void print_remote(const struct orch_standing *s)
{
    g_autofree char *ago = s->exchanged_ns ? orch_ago_format(s->exchanged_ns) : g_strdup("never");
    if (!s->remote.name) {
        printf("remote   none\n");
        return;
    }
    g_autofree char *name = orch_text_plain(g_strdup(s->remote.name));
    if (!s->remote.carrier->exchanged_at)
        orch_cli_print("remote   %s, a folder", name);
    else
        orch_cli_print("remote   %s, last exchanged: %s", name, ago);
    if (s->problem)
        return;
    print_ahead(&s->there);
    orch_cli_print("behind   %" G_GINT64_FORMAT "%s", s->there.behind,
                   s->there.behind ? " ('orch pull' gets them)" : "");
    g_autoptr(GPtrArray) names = sorted_names(s->there.behind_by);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *who = orch_who_name(names->pdata[i]);
        g_autofree char *plain = orch_text_plain(g_strdup(who));
        orch_cli_print("         %zu by %s",
                       GPOINTER_TO_SIZE(g_hash_table_lookup(s->there.behind_by, names->pdata[i])),
                       plain);
    }
}

static void print(const struct orch_store *store, const struct orch_standing *s)
{
    if (s->has_store)
        orch_cli_print("store    %s\ndigest   %.8s, %" G_GINT64_FORMAT " run%s, %" G_GINT64_FORMAT
                       " running",
                       orch_store_path(store), s->info.digest, s->info.runs,
                       orch_plural(s->info.runs), s->info.active);
    else
        puts("store    none yet ('orch run RECIPE' or 'orch pull' makes it)");
    if (s->private_notes)
        printf("notes    %" G_GINT64_FORMAT " private, which stay here\n", s->private_notes);
    g_autoptr(GPtrArray) leases = orch_slot_leases_list(NULL);
    print_slots(leases);
    print_remote(s);
}

/* A missing or unreachable remote is a warning, and the rest of the status stays valid. */
static int show(struct orch_cli *cli, const struct orch_store *store,
                const struct orch_standing *standing)
{
    if (standing->remote.name)
        orch_cli_remote_warn(cli, &standing->remote);
    if (standing->problem)
        orch_cli_warn(cli, "%s", standing->problem->message);
    if (cli->json)
        print_json(store, standing);
    else
        print(store, standing);
    return standing->problem ? ORCH_EXIT_STORE : ORCH_EXIT_OK;
}

static int run_status(struct orch_cli *cli, const void *options, GError **error)
{
    const struct status_options *o = options;
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return -1;
    orch_cli_take_in(cli);
    /* the others' runs can be listed even without a store */
    bool has_store = orch_workspace_has_store(workspace);
    struct orch_store *store = has_store ? orch_cli_store(cli, ORCH_STORE_READ, error)
                                         : orch_workspace_scratch(workspace, error);
    struct orch_exchange_request request = {.offline = o->offline,
                                            .may_ask = orch_cli_may_prompt(cli)};
    struct orch_standing standing = {0};
    int status = -1;
    if (store && orch_artifact_bytes_parse(NULL, &request.artifact_bytes, error) &&
        orch_standing_look(workspace, has_store, cli->arg_count ? cli->args[0] : NULL, &request,
                           &standing, error))
        status = show(cli, store, &standing);
    orch_standing_clear(&standing);
    return status;
}

const struct orch_command ORCH_COMMAND_STATUS = {
    .name = "status",
    .group = "Share",
    .is_listed = true,
    .summary = "show which runs this store or the group's remote lacks",
    .usage = "[REMOTE]",
    .max_args = 1,
    .options = STATUS_OPTIONS,
    .option_bytes = sizeof(struct status_options),
    .about = "The output shows runs and notes that the remote lacks ('ahead'), runs that only the "
             "remote has ('behind'), and the CPUs and GPUs that trials of all users occupy here "
             "('slots'). No run "
             "is sent or fetched. If the remote cannot be reached, the exit status is 3.",
    .examples = "  orch status\n  orch status --offline",
    .run = run_status,
};
