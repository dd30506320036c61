/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/verify_show.h"

#include "features/pack/handin.h"
#include "features/pack/rerun.h"
#include "features/pack/verify.h"

#include "core/record/argv_record.h"
#include "lib/base/error.h"

#include "lib/base/login.h"

#include <string.h>

enum { RERUN_MAX = 1000 };

struct verify_options {
    const char *rerun, *seed, *grades, *output;
    int jobs;
    bool is_quick, is_full, trusts, facts;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct verify_options, rerun, TEXT, "rerun", .value = "N",
                .help = "run N randomly chosen trials again, and compare the results"),
    ORCH_OPTION(struct verify_options, seed, TEXT, "seed", .value = "K",
                .help = "with --rerun: seed of the random choice (default: 1)"),
    ORCH_OPTION(struct verify_options, trusts, FLAG, "trust",
                .help = "with --rerun: let programs of the pack run here, with your rights"),
    ORCH_OPTION(struct verify_options, is_quick, FLAG, "quick",
                .help = "leave out report items that need fitted models (default for a folder)"),
    ORCH_OPTION(struct verify_options, is_full, FLAG, "full",
                .help = "with a folder: include report items that fit models"),
    ORCH_OPTION(struct verify_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "with a folder: packs verified at once (default: one per processor)"),
    ORCH_OPTION(struct verify_options, grades, TEXT, "grades", .value = "csv|gradescope",
                .help = "propose points for each question, as CSV or for Gradescope"),
    ORCH_OPTION(struct verify_options, output, TEXT, "output", .letter = 'o', .value = "DIR",
                .help = "with a folder: write a page for each hand-in into DIR"),
    ORCH_OPTION(struct verify_options, facts, FLAG, "facts",
                .help = "with --json: include what each run measured"),
    {0}};

static json_t *rerun(struct orch_cli *cli, const struct orch_pack *pack,
                     const struct orch_verified *verified, const struct verify_options *o,
                     GError **error)
{
    int64_t count = 0, seed = 1;
    if (!orch_cli_count(o->rerun, "--rerun", RERUN_MAX, &count, error) ||
        !orch_cli_count(o->seed, "--seed", G_MAXINT, &seed, error))
        return NULL;
    g_autofree char *argv = orch_argv_record(cli->argv, cli->argc, NULL);
    const struct orch_rerun_options options = {
        .count = (unsigned)count, .seed = (unsigned)seed, .trusts = o->trusts, .argv_json = argv};
    return orch_pack_rerun(pack, verified, orch_cli_plugins(cli), &options, error);
}

static bool is_good(const json_t *outcome)
{
    const json_t *rows = json_object_get(outcome, "rerun");
    bool good = json_is_true(json_object_get(outcome, "good"));
    for (size_t i = 0; i < json_array_size(rows); i++)
        good =
            good && strcmp(json_string_value(json_object_get(json_array_get(rows, i), "outcome")),
                           "differs") != 0;
    return good;
}

/* Verifies one pack. NULL with an error. */
static json_t *verify(struct orch_cli *cli, struct orch_pack *pack, const struct verify_options *o,
                      GError **error)
{
    const struct orch_verify_options options = {.is_quick = o->is_quick, .version = ORCH_VERSION};
    json_t *facts = o->facts ? orch_pack_facts(pack, error) : NULL;
    if (o->facts && !facts)
        return NULL;
    struct orch_verified verified;
    bool ok = orch_pack_verify(pack, orch_cli_plugins(cli), &options, &verified, error);
    json_t *outcome = ok ? orch_verified_json(pack, &verified) : NULL;
    if (outcome && facts)
        json_object_set(outcome, "facts", facts);
    if (outcome && o->rerun) {
        json_t *rows = rerun(cli, pack, &verified, o, error);
        if (rows)
            json_object_set_new(outcome, "rerun", rows);
        else
            g_clear_pointer(&outcome, json_decref);
    }
    json_decref(facts);
    orch_verified_clear(&verified);
    return outcome;
}

/* Adds {"archive": {"pack", "not_checked"}} to the outcome, and prints it. */
static void add_handin(struct orch_cli *cli, const struct orch_unpacked_handin *handin,
                       json_t *outcome)
{
    json_t *others = json_array();
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < handin->others->len; i++) {
        json_array_append_new(others, json_string(handin->others->pdata[i]));
        g_string_append_printf(text, "%s'%s'", i ? ", " : "", (char *)handin->others->pdata[i]);
    }
    json_object_set_new(outcome, "archive",
                        json_pack("{s:s, s:o}", "pack", handin->name, "not_checked", others));
    if (text->len)
        orch_cli_info(cli, "'%s' is verified; other files in the folder are not checked: %s",
                      handin->name, text->str);
    g_string_free(text, TRUE);
}

static int verify_file(struct orch_cli *cli, const struct verify_options *o, GError **error)
{
    struct orch_unpacked_handin handin;
    struct orch_pack *pack = orch_handin_unpack(cli->args[0], &handin, error)
                                 ? orch_pack_open(handin.path ? handin.path : cli->args[0], error)
                                 : NULL;
    json_t *outcome = pack ? verify(cli, pack, o, error) : NULL;
    orch_pack_free(pack);
    if (outcome && handin.path)
        add_handin(cli, &handin, outcome);
    orch_unpacked_handin_clear(&handin);
    if (!outcome)
        return -1;
    int status = is_good(outcome) ? ORCH_EXIT_OK : ORCH_EXIT_CHECK;
    if (o->grades) {
        g_autofree char *name = g_path_get_basename(cli->args[0]);
        const struct orch_graded graded = {.file = name, .outcome = outcome};
        g_autoptr(GArray) one = g_array_new(FALSE, FALSE, sizeof graded);
        g_array_append_val(one, graded);
        orch_cli_grades_show(cli, o->grades, one, true);
        json_decref(outcome);
        return status;
    }
    if (cli->json) {
        orch_cli_print_json(outcome);
        return status;
    }
    orch_cli_verify_show(cli, cli->args[0], outcome);
    json_decref(outcome);
    return status;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct verify_options *o = options;
    bool is_folder = g_file_test(cli->args[0], G_FILE_TEST_IS_DIR);
    orch_who_ignore_login();
    if (!orch_grades_check(o->grades, error))
        return -1;
    if ((o->seed || o->trusts) && !o->rerun) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add --rerun N", "option '--%s' needs '--rerun'",
                       o->seed ? "seed" : "trust");
        return -1;
    }
    if (is_folder && o->rerun) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name one pack, a file that 'orch pack' wrote",
                       "option '--rerun' takes a single pack, but '%s' is a folder", cli->args[0]);
        return -1;
    }
    if (!is_folder && o->output) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name the folder of the packs",
                       "option '--output' needs a folder of packs, but '%s' is not a folder",
                       cli->args[0]);
        return -1;
    }
    const struct orch_verify_class of_class = {.folder = cli->args[0],
                                               .grades = o->grades,
                                               .output = o->output,
                                               .is_full = o->is_full,
                                               .jobs = o->jobs};
    return is_folder ? orch_cli_verify_class(cli, &of_class, error) : verify_file(cli, o, error);
}

const struct orch_command ORCH_COMMAND_VERIFY = {
    .name = "verify",
    .group = "Share",
    .summary = "verify that each number of a pack or hand-in follows from its runs",
    .usage = "FILE|DIR",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct verify_options),
    .about = "FILE is a pack of 'orch pack', or the ZIP of 'orch submit --pack'. orch computes the "
             "digests of the runs and files again, makes the report again from the runs, and "
             "compares every number. What cannot be checked here is listed and never counts as "
             "verified. No trial is run without --rerun, and no program of the pack without "
             "--trust. For a folder, orch verifies every pack and lists runs that two people have "
             "in common. The exit status is 7 if something differs, and 3 if FILE is not a pack.",
    .examples = "  orch verify hw4.orch\n"
                "  orch verify abc123_hw4.zip            # a hand-in with its pack\n"
                "  orch verify hw4.orch --rerun 3        # three trials, run again here\n"
                "  orch verify handins/                  # a whole class\n"
                "  orch verify handins/ --grades csv -o pages",
    .run = run,
};
