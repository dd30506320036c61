/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/recipe_plan.h"

#include "core/recipe/option_value.h"
#include "features/pack/pack.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/login.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"

#include <string.h>

struct pack_options {
    struct orch_variant variant;
    const char *artifacts, *sources;
    int jobs;
    bool crate, sign;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct pack_options, artifacts, TEXT, "artifacts", .value = "all|none|BYTES",
                .help = "largest artifact to include (default: 4 MiB)"),
    ORCH_OPTION(struct pack_options, sources, TEXT, "sources", .value = "BYTES",
                .help = "sources that the recipe does not name: only up to this total (20 MiB)"),
    ORCH_OPTION(struct pack_options, crate, FLAG, "crate",
                .help = "add metadata in the format Workflow Run RO-Crate"),
    ORCH_OPTION(struct pack_options, sign, FLAG, "sign",
                .help = "sign the pack with your git signing key"),
    ORCH_OPTION(struct pack_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "use only times that were measured with N trials at once"),
    ORCH_VARIANT_OPTIONS(struct pack_options, variant),
    {0}};

static bool read_bytes(const char *option, const char *text, int64_t *out, GError **error)
{
    if (!text || orch_option_bytes(text, out))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example 4MiB", "option '--%s': '%s' is not a size",
                   option, text);
    return false;
}

static bool read_options(const struct pack_options *o, struct orch_pack_options *out,
                         GError **error)
{
    if (g_strcmp0(o->artifacts, "all") == 0)
        out->artifact_bytes = -1;
    else if (g_strcmp0(o->artifacts, "none") == 0)
        out->artifact_bytes = 0;
    else if (!read_bytes("artifacts", o->artifacts, &out->artifact_bytes, error))
        return false;
    return read_bytes("sources", o->sources, &out->source_bytes, error);
}

static void print_line(struct orch_cli *cli, const char *path, const struct orch_packed *packed)
{
    g_autofree char *bytes = orch_bytes_format(packed->bytes);
    g_autofree char *sources = orch_bytes_format(packed->source_bytes);
    if (cli->json) {
        json_t *left_out = json_array();
        for (guint i = 0; i < packed->left_out->len; i++)
            json_array_append_new(left_out, json_string(packed->left_out->pdata[i]));
        orch_cli_print_json(
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "pack", path, "runs",
                      (json_int_t)packed->runs, "artifacts", (json_int_t)packed->artifacts,
                      "artifacts_left", (json_int_t)packed->artifacts_left, "files",
                      (json_int_t)packed->files, "source_bytes", (json_int_t)packed->source_bytes,
                      "bytes", (json_int_t)packed->bytes, "left_out", left_out));
        return;
    }
    orch_cli_print("%s: %lld runs, %lld artifacts, %s of sources, the report; %s", path,
                   (long long)packed->runs, (long long)packed->artifacts, sources, bytes);
    fflush(stdout);
    if (packed->artifacts_left)
        orch_cli_info(cli,
                      "%lld artifacts were left out: they exceed the limit of --artifacts, or are "
                      "not on this machine",
                      (long long)packed->artifacts_left);
    for (guint i = 0; i < packed->left_out->len && i < 10; i++)
        orch_cli_info(cli, "left out: %s", (char *)packed->left_out->pdata[i]);
    if (packed->left_out->len > 10)
        orch_cli_info(cli, "left out: %u more", packed->left_out->len - 10);
}

static bool pack(struct orch_cli *cli, struct orch_plan *plan, const struct pack_options *o,
                 const char *path, GError **error)
{
    g_autofree char *words = orch_cli_recipe_words(cli, &o->variant);
    struct orch_pack_options options = {
        .request = {.words = words,
                    .profile = o->variant.profile,
                    .settings = o->variant.settings,
                    .sweeps = o->variant.sweeps,
                    .targets = cli->args + 1},
        .who = orch_user_name(),
        .version = ORCH_VERSION,
        .is_crate = o->crate,
        .is_signed = o->sign,
        .artifact_bytes = ORCH_PACK_ARTIFACT_BYTES,
        .source_bytes = ORCH_PACK_SOURCE_BYTES,
    };
    if (!read_options(o, &options, error))
        return false;
    const struct orch_report_options how = {
        .recipe = words, .who = orch_user_name(), .requested_only = cli->arg_count > 1};
    struct orch_document *document = orch_report_document(plan, &how, error);
    struct orch_packed packed = {0};
    bool ok = document && orch_pack_write(plan, document, &options, path, &packed, error);
    if (ok)
        print_line(cli, path, &packed);
    orch_packed_clear(&packed);
    orch_document_free(document);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct pack_options *o = options;
    const char *path = cli->args[--cli->arg_count];
    cli->args[cli->arg_count] = NULL; /* the remaining arguments are the recipe and its targets */
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name a file: orch pack RECIPE FILE",
                       "'%s' is a folder", path);
        return -1;
    }
    if (!orch_bundle_may_write(path, error))
        return -1;
    orch_who_ignore_login();
    cli->needs_every_plugin = true;
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    struct orch_plan *plan =
        expansion ? orch_cli_report_plan(cli, expansion, o->jobs, error) : NULL;
    bool ok = plan && pack(cli, plan, o, path, error);
    orch_plan_free(plan);
    orch_expansion_free(expansion);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_PACK = {
    .name = "pack",
    .group = "Share",
    .is_listed = true,
    .summary = "pack the report, its runs and their sources into one file",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...] FILE",
    .min_args = 2,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct pack_options),
    .about = "The file holds the recipe's report, the runs that it uses (also indirectly), and the "
             "artifacts and sources of these runs. On any machine, 'orch verify' computes every "
             "number of the report again from the runs. Files that look like secret keys are never "
             "included. See 'orch help verification'.",
    .examples = "  orch pack recipes/hw4.recipe hw4.orch\n"
                "  orch pack recipes/hw4.recipe -p course p1 p1.orch\n"
                "  orch pack recipes/hw4.recipe hw4.orch --artifacts all --crate --sign",
    .run = run,
};
