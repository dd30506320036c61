/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/plugin/adapter.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

struct build_options {
    const char *python;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct build_options, python, TEXT, "python", .value = "PATH",
                .help = "the Python whose PyTorch is used"),
    {0}};

/* Only a plugin that maps the adapter has something to be built. */
static bool needs_adapter(struct orch_cli *cli, const char *name, GError **error)
{
    g_autofree char *base = orch_cli_recipe_folder();
    const struct orch_manifest *m = orch_plugins_find(orch_cli_plugins(cli), name, base, error);
    if (!m)
        return false;
    if (m->kind == ORCH_PLUGIN_COMPILED && orch_adapter_is_named(m->path))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "run the plugin as it is",
                   "plugin '%s' does not use LibTorch: there is nothing to build", name);
    return false;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct build_options *o = options;
    struct orch_adapter_built built = {0};
    if (!needs_adapter(cli, cli->args[0], error))
        return -1;
    g_autofree char *python = orch_adapter_python(o->python, error);
    if (!python)
        return -1;
    if (!cli->json)
        orch_cli_info(cli, "compiling the LibTorch adapter for %s (about a minute)", python);
    int64_t begin = orch_mono_ns();
    if (!orch_adapter_build(python, &built, error))
        return -1;
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s s:s s:s}", "adapter", built.path, "torch", built.torch,
                                      "version", built.version));
    } else {
        g_autofree char *took = orch_duration_format((double)(orch_mono_ns() - begin) / 1e9);
        orch_cli_print_line("%s", built.path);
        orch_cli_info(cli, "built the LibTorch adapter in %s, for PyTorch %s in '%s'", took,
                      built.version, built.torch);
    }
    orch_adapter_built_clear(&built);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_BUILD = {
    .name = "plugin build",
    .group = "Plugins",
    .summary = "compile the adapter with which training plugins use PyTorch",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct build_options),
    .about =
        "NAME is a plugin that uses PyTorch. This command compiles the adapter that connects it to "
        "the PyTorch of the active virtual environment. It needs a C++ compiler, and writes into "
        "~/.cache/orch/built. Repeat it after you install another version of PyTorch.",
    .examples = "  orch plugin build train\n"
                "  orch plugin build train --python ~/torch/bin/python3",
    .run = run,
};
