/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved views of the page, which the page itself saves with this command. */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "store/saved_view.h"

#include <string.h>

struct view_options {
    bool pin, unpin, remove, is_public;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct view_options, pin, FLAG, "pin", .help = "show it at the top of the page"),
    ORCH_OPTION(struct view_options, unpin, FLAG, "unpin", .help = "list it with the others again"),
    ORCH_OPTION(struct view_options, remove, FLAG, "remove", .help = "remove the view"),
    ORCH_OPTION(struct view_options, is_public, FLAG, "public",
                .help = "share it with your runs (default: it stays in this store)"),
    {0}};

static int list(struct orch_cli *cli, struct orch_store *store, GError **error)
{
    static const char *const headers[] = {"view", "pinned", "public", "who", "address", NULL};
    g_autoptr(GPtrArray) views = orch_store_views(store, error);
    if (!views)
        return -1;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < views->len; i++) {
        const struct orch_saved_view *view = views->pdata[i];
        orch_table_add(table, view->name, NULL);
        orch_table_add(table, view->is_pinned ? "yes" : "no", json_boolean(view->is_pinned));
        orch_table_add(table, view->is_public ? "yes" : "no", json_boolean(view->is_public));
        orch_table_add(table, view->who ? view->who : "-", NULL);
        orch_table_add(table, view->address, NULL);
    }
    orch_cli_table_print(cli, table, "views");
    return ORCH_EXIT_OK;
}

/* The view of that name, or NULL. Borrowed from `views`. */
static const struct orch_saved_view *find(const GPtrArray *views, const char *name)
{
    for (guint i = 0; i < views->len; i++) {
        const struct orch_saved_view *view = views->pdata[i];
        if (strcmp(view->name, name) == 0)
            return view;
    }
    return NULL;
}

/* Saves a view, or pins it (`address` NULL). What is not said stays: whether it is pinned, and
 * whether the user shares it. */
static bool save(struct orch_store *store, const char *name, const char *address,
                 const struct view_options *o, GError **error)
{
    g_autoptr(GPtrArray) views = orch_store_views(store, error);
    const struct orch_saved_view *before = views ? find(views, name) : NULL;
    if (!views)
        return false;
    if (!before && !address) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch view' lists the saved views",
                       "there is no view '%s'", name);
        return false;
    }
    const bool is_shared =
        before && before->is_public && orch_who_is_same(before->who, orch_user_name());
    return orch_store_view_save(store, name, address ? address : before->address,
                                o->pin || (before && before->is_pinned && !o->unpin),
                                o->is_public || is_shared, error);
}

static bool options_fit(const struct orch_cli *cli, const struct view_options *o, GError **error)
{
    const bool has_address = cli->arg_count == 2;
    const char *wrong = !cli->arg_count && cli->given->len && (o->pin || o->unpin || o->remove)
                            ? "which view? name it"
                        : o->pin && o->unpin ? "options '--pin' and '--unpin' exclude each other"
                        : o->remove && (o->pin || o->unpin || has_address)
                            ? "option '--remove' stands alone with the name"
                        : cli->arg_count == 1 && !o->remove && !o->pin && !o->unpin
                            ? "a view has a name and an address"
                            : NULL;
    if (wrong)
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch view --help'", "%s", wrong);
    return !wrong;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct view_options *o = options;
    if (!options_fit(cli, o, error))
        return -1;
    const char *name = cli->arg_count ? cli->args[0] : NULL;
    struct orch_store *store =
        orch_cli_store(cli, name ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    if (!store)
        return -1;
    if (!name)
        return list(cli, store, error);
    const bool ok = o->remove
                        ? orch_store_view_save(store, name, NULL, false, false, error)
                        : save(store, name, cli->arg_count == 2 ? cli->args[1] : NULL, o, error);
    if (ok)
        orch_cli_info(cli, "view '%s' is %s", name, o->remove ? "removed" : "saved");
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_VIEW = {
    .name = "view",
    .group = "Looking",
    .summary = "name views of the page, list and remove them",
    .usage = "[NAME [ADDRESS]]",
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct view_options),
    .about =
        "A view is what stands behind the address of a page of 'orch serve', from '#/' on: its "
        "filter, columns, runs and ranges. Saved under a name it is in the page's list of "
        "views, and pinned at the top of every page. Views stay in this store, and with "
        "--public travel with your runs. A name means its newest view.",
    .examples = "  orch view                              # list the saved views\n"
                "  orch view best '#/runs?where=val_acc%3E0.9' --pin\n"
                "  orch view best --remove",
    .run = run,
};
