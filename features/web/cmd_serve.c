/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves a web page for the store: executes the program orch-web (features/web/orch_web.c). */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/program_path.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct serve_options {
    const char *port, *address;
    const char *remote;
    bool token, read_only, group;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct serve_options, port, TEXT, "port", .value = "N",
                .help = "port to listen on (default 8899; 0: any free port)"),
    ORCH_OPTION(struct serve_options, address, TEXT, "bind", .value = "ADDRESS",
                .help = "listen at this address; then reading needs the token"),
    ORCH_OPTION(struct serve_options, token, FLAG, "token", .help = "reading needs the token, too"),
    ORCH_OPTION(struct serve_options, read_only, FLAG, "read-only",
                .help = "serve a page that cannot change anything"),
    ORCH_OPTION(struct serve_options, group, FLAG, "group",
                .help = "pull first, and show the runs of each member"),
    ORCH_OPTION(struct serve_options, remote, TEXT, "remote", .value = "REMOTE",
                .help = "with --group: the remote (default: as for 'orch pull')"),
    {0}};

static int become(const struct orch_cli *cli, const struct serve_options *o, int64_t port,
                  GError **error)
{
    g_autofree char *program = orch_program_path("orch-web", error);
    g_autofree char *self = program ? g_file_read_link("/proc/self/exe", error) : NULL;
    if (!self)
        return -1;
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, port);
    const char *words[] = {program,
                           self,
                           ORCH_VERSION,
                           cli->workspace->db_path,
                           o->address ? o->address : "",
                           number,
                           o->token ? "1" : "0",
                           o->read_only ? "1" : "0",
                           cli->quiet ? "1" : "0",
                           !o->group   ? "-"
                           : o->remote ? o->remote
                                       : ""};
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(all, (char *)(uintptr_t)words[i]);
    for (int i = 0; i < cli->arg_count; i++)
        g_ptr_array_add(all, (char *)(uintptr_t)cli->args[i]);
    g_ptr_array_add(all, NULL);
    g_setenv("ORCH_USER", orch_user_name(), TRUE); /* the page cannot ask for a user name */
    execv(program, (char **)all->pdata);
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot start '%s'", program);
    return -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct serve_options *o = options;
    int64_t port = 8899;
    if (o->remote && (!o->group || !*o->remote || strcmp(o->remote, "-") == 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch serve --help'",
                       "option '--remote' needs a remote's name, and '--group'");
        return -1;
    }
    bool is_any = o->port && strcmp(o->port, "0") == 0;
    if (!is_any && !orch_cli_count(o->port, "--port", 65535, &port, error))
        return -1;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error))
        return -1;
    return become(cli, o, is_any ? 0 : port, error);
}

const struct orch_command ORCH_COMMAND_SERVE = {
    .name = "serve",
    .group = "Look at results",
    .is_listed = true,
    .summary = "serve the store to a browser: runs, curves, progress, forecasts",
    .usage = "[RECIPE...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct serve_options),
    .about =
        "Prints the page's address and serves the page until Ctrl-C. It can be opened only on this "
        "machine; with --bind also on others. The address contains a token. With the token you can "
        "tag, note, name, hide and cancel runs; without it you can only read. The page shows the "
        "reports of each RECIPE (default: *.recipe here and in recipes/). See 'orch help page'.",
    .examples =
        "  orch serve                            # then open the address that it prints\n"
        "  orch serve --read-only                # a page that changes nothing\n"
        "  orch serve --port 0 --token           # any free port; the token for reading, too\n"
        "  orch serve --group                    # the whole group's runs, by member\n"
        "  ssh -L 8899:localhost:8899 lab        # see a page that runs on 'lab' from here",
    .run = run,
};
