/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved views of the page, which the page itself saves with this command. */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "store/write/saved_view.h"

#include <string.h>

struct view_options {
    bool pin, unpin, remove, is_public;
    const char *of, *instead_of;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct view_options, pin, FLAG, "pin",
                .help = "show the view at the top of every page"),
    ORCH_OPTION(struct view_options, unpin, FLAG, "unpin",
                .help = "do not show the view at the top"),
    ORCH_OPTION(struct view_options, remove, FLAG, "remove", .help = "remove the view"),
    ORCH_OPTION(struct view_options, is_public, FLAG, "public",
                .help = "send the view when you push your runs"),
    ORCH_OPTION(struct view_options, of, TEXT, "of", .value = "WHO",
                .help = "use the view of this person (default: yours)"),
    ORCH_OPTION(struct view_options, instead_of, TEXT, "instead-of", .value = "ADDRESS",
                .help = "save or remove only if the view still has this address"),
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

static bool options_fit(const struct orch_cli *cli, const struct view_options *o, GError **error)
{
    const bool has_address = cli->arg_count == 2;
    const char *wrong = !cli->arg_count && cli->given->len &&
                                (o->pin || o->unpin || o->remove || o->is_public || o->of)
                            ? "which view? name it"
                        : o->pin && o->unpin ? "option '--pin' excludes '--unpin'"
                        : o->remove && (o->pin || o->unpin || o->is_public || has_address)
                            ? "option '--remove' takes only the name"
                        : o->of && has_address ? "option '--of' is for views without a new address"
                        : o->instead_of && !has_address && !o->remove
                            ? "option '--instead-of' needs the new address, or '--remove'"
                        : cli->arg_count == 1 && !o->remove && !o->pin && !o->unpin && !o->is_public
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
    const struct orch_view_change change = {
        name,          o->of,    cli->arg_count == 2 ? cli->args[1] : NULL,
        o->instead_of, o->pin,   o->unpin,
        o->is_public,  o->remove};
    g_autofree char *before = NULL;
    if (!orch_store_view_change(store, &change, &before, error))
        return -1;
    if (before && change.address && strcmp(before, change.address) != 0)
        orch_cli_info(cli, "view '%s' is saved in place of '%s'", name, before);
    else
        orch_cli_info(cli, "view '%s' is %s", name, o->remove ? "removed" : "saved");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_VIEW = {
    .name = "view",
    .group = "Look at results",
    .summary = "save, list and remove named views of the page that 'orch serve' shows",
    .usage = "[NAME [ADDRESS]]",
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct view_options),
    .about = "A view is a page of 'orch serve' with its filter, columns and runs, saved under a "
             "name. ADDRESS is the part of the page's address that begins with '#/'. 'orch serve' "
             "lists the saved views, and shows pinned views at the top of every page. Views stay "
             "in this store. With --public, they are sent with your runs, under your name.",
    .examples = "  orch view                              # list the saved views\n"
                "  orch view best '#/runs?where=val_acc%3E0.9' --pin\n"
                "  orch view best --remove",
    .run = run,
};
