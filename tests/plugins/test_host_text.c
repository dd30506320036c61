/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-host on what programs print: which values become points, at which steps. */
#include "tests/plugins/host_fixture.h"

/* ---- what single rows are looked at for -------------------------------------------------------
 */

static void check_replaced(const struct trial_case *row)
{
    assert_true(fact(row, "replaced_points") == 1);
}

static void check_replaced_twice(const struct trial_case *row)
{
    assert_int_equal(fact(row, "replaced_points"), 2);
    const json_t *facts = json_object_get(find_event(row, "end", 0), "facts");
    assert_string_equal(orch_json_text(facts, "replaced_first", ""), "loss at 1");
}

static void check_replaced_thrice(const struct trial_case *row)
{
    assert_int_equal(fact(row, "replaced_points"), 3);
}

static void check_nothing_unread(const struct trial_case *row)
{
    assert_int_equal(fact(row, "unread_lines"), 0);
    assert_int_equal(fact(row, "points"), 0);
}

static void check_unread(const struct trial_case *row)
{
    assert_true(fact(row, "unread_lines") == 1);
    assert_int_equal(count_points(row, "loss", NULL), 1);
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

#define DECLARED(more)                                                                             \
    "{\"manifest\":{\"metrics\":[{\"name\":\"loss\",\"step_unit\":\"epoch\"" more "}]}}"

static struct trial_case CASES[] = {
    {"steps_of_epochs", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 1 step 1/3 loss 3'; echo 'Epoch 1 step 3/3 loss 2'; "
               "echo 'Epoch 2 step 1/3 loss 1'",
     .points = "loss@1=3 loss@3=2 loss@4=1"},
    {"steps_without_total", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1 step 1 loss 3'; echo 'epoch 1 step 2 loss 2'; "
               "echo 'epoch 2 step 1 loss 1'",
     .points = "loss@1=3 loss@2=2 loss@3=1"},
    {"steps_of_a_resume", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 3 step 1/10 loss 1'; echo 'Epoch 3 step 2/10 loss 2'",
     .points = "loss@21=1 loss@22=2"},
    {"steps_through", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 3/5 step 21/50 loss 1'", .points = "loss@21=1"},
    {"steps_too_large", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 900000000000 step 5/100000000 loss 1'", .points = "loss@5=1"},
    {"part_of_an_epoch", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo \"{'loss': 0.5, 'epoch': 0.25}\"; echo \"{'loss': 0.25, 'epoch': 0.5}\"",
     .points = "loss@0=0.5 epoch@0=0.25 loss@1=0.25 epoch@1=0.5"},
    {"units", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'wait: 5 ms'; echo 'wait: 1 s'; echo 'wait: 2 GB'",
     .points = "wait@0=0.005 wait@1=1"},
    {"percents", .from = "lines",
     .extra =
         "{\"manifest\":{\"metrics\":[{\"name\":\"acc\",\"unit\":\"%\",\"step_unit\":\"step\"},"
         "{\"name\":\"part\",\"step_unit\":\"step\"}]}}",
     .verdict = "ok", .script = "echo 'acc: 85%, part: 85%'", .points = "acc@0=85 part@0=0.85"},
    {"replaced", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1'; echo 'loss 3'; echo 'loss 2'", .points = "loss@1=3 loss@1=2",
     .check = check_replaced},
    {"unread", .from = "lines", .extra = ANY, .verdict = "ok", .check = check_unread,
     .script = "echo 'loss: 1e'; echo 'loss 0.25'"},
    {"unread_after_nul", .from = "lines", .extra = ANY, .verdict = "ok", .check = check_unread,
     .script = "printf '\\000loss: 1e\\n'; echo 'loss 0.25'"},
    {"unread_declared", .from = "lines", .extra = DECLARED(""), .verdict = "ok",
     .script = "echo 'other: 1e'; echo 'loss: 1e'; echo 'loss 0.25'", .check = check_unread},
    {"unread_unit", .from = "lines", .extra = DECLARED(",\"unit\":\"s\""), .verdict = "ok",
     .script = "echo 'loss: 5 GB'; echo 'loss: 250 ms'", .points = "loss@0=0.25",
     .check = check_unread},
    {"replaced_twice", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1'; echo 'loss 3'; echo 'loss 2'; echo 'loss 1'",
     .points = "loss@1=3 loss@1=2 loss@1=1", .check = check_replaced_twice},
    {"printed_again", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'epoch 1 loss 3'; echo 'epoch 1 loss 2'; echo 'epoch 1 step 1 loss 1'; "
               "echo 'epoch 1 step 1 loss 0'",
     .points = "loss@1=3 loss@1=2 loss@1=1 loss@1=0", .check = check_replaced_thrice},
    {"units_late", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'wait: 5'; echo 'wait: 6 ms'", .points = "wait@0=5 wait@1=6"},
    {"units_undeclared", .from = "lines", .extra = DECLARED(""), .verdict = "ok",
     .script = "echo 'loss: 5 ms'", .points = "loss@0=5"},
    {"step_negative", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'step: -1 loss: 3'; echo 'step: 2.5 loss: 2'", .points = "loss@0=3 loss@1=2"},
    {"resume_without_total", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'Epoch 3 step 5 loss 1'", .points = "loss@5=1"},
    {"part_and_step", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo \"{'loss': 0.5, 'epoch': 0.25, 'step': 3}\"",
     .points = "loss@3=0.5 epoch@3=0.25"},
    {"average", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "echo 'now the loss 3 was seen'; echo 'then the loss 2 was seen'",
     .points = "loss@0=3 loss@1=2"},
    {"bar_alone", .from = "lines", .extra = ANY, .verdict = "ok", .check = check_nothing_unread,
     .script = "printf ' 50%%|#####     | 5/10 [00:01<00:01,  3.20it/s]\\n'"},
    {"regex_without_group", .from = "regex", .verdict = "ok", .check = check_unread,
     .extra = "{\"manifest\":{\"metrics\":[{\"name\":\"acc\",\"step_unit\":\"step\",\"pattern\":"
              "\"acc\"},{\"name\":\"loss\",\"step_unit\":\"step\",\"pattern\":\"loss (.*)\"}]}}",
     .script = "echo 'acc 1'; echo 'loss 0.25'"},
    {"regex_garbage", .from = "regex", .verdict = "ok", .check = check_unread,
     .extra = DECLARED(",\"unit\":\"s\",\"pattern\":\"loss (.*)\""),
     .script = "echo 'loss 0.5x5'; echo 'loss 0.25'", .points = "loss@0=0.25"},
    {"regex_unit", .from = "regex", .verdict = "ok", .check = check_unread,
     .extra = DECLARED(",\"unit\":\"s\",\"pattern\":\"loss (.*)\""),
     .script = "echo 'loss 5GB'; echo 'loss 250ms'", .points = "loss@0=0.25"},
    {"long_first_line", .from = "lines", .extra = ANY, .verdict = "ok",
     .script = "printf 'loss 1\\rloss 2\\bloss 3'", .points = "loss@0=1 loss@1=2 loss@2=3"},
};

int main(void)
{
    return host_test(CASES, G_N_ELEMENTS(CASES), NULL, 0);
}
