/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/semisup/pretrain.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/optimizer.h"
#include "plugins/semisup/pretraining_set.h"
#include "plugins/semisup/stages.h"

#include <math.h>
#include <string.h>

/* What is reported of the stages, and kept for a later attempt. NaN: there is no such result. */
enum fact {
    TEACHER_ACCURACY,
    PRETRAINED_ACCURACY,
    PRETRAINING_TIME,
    SET_IMAGES,
    SET_DISTINCT,
    SET_PRECISION,
    SET_PRECISION_MIN,
    SET_CLASS_MIN,
    SET_CLASS_MAX,
    REPLACED_LABELS,
    FACTS
};
static const char *const FACT_NAMES[FACTS] = {
    [TEACHER_ACCURACY] = "teacher_accuracy",
    [PRETRAINED_ACCURACY] = "pretrained_accuracy",
    [PRETRAINING_TIME] = "pretraining_time",
    [SET_IMAGES] = "pretraining_images",
    [SET_DISTINCT] = "pretraining_distinct",
    [SET_PRECISION] = "pretraining_precision",
    [SET_PRECISION_MIN] = "pretraining_precision_min",
    [SET_CLASS_MIN] = "pretraining_class_min",
    [SET_CLASS_MAX] = "pretraining_class_max",
    [REPLACED_LABELS] = "replaced_labels",
};

struct outcome {
    double facts[FACTS];
    GString *csv; /* the pre-training set by class */
};

/* ---- teacher ----------------------------------------------------------------------------------
 */

bool orch_semisup_load_teacher(const struct orch_semisup *semi, GError **error)
{
    const struct orch_session *t = &semi->teacher;
    struct orch_torch_load_report report = {0};
    struct orch_weights *weights = orch_weights_load(semi->params->teacher, error);
    bool ok = weights &&
              orch_torch_state_load(t->torch, t->model, t->net, weights, false, &report, error);
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);
    if (!ok)
        g_prefix_error(error, "teacher of network '%s': ", t->net->name);
    return ok;
}

/* Trains on `stage`. Fails if the loss is not finite. */
static bool train(struct orch_semisup *semi, const struct orch_session *s,
                  const struct orch_semisup_stage *stage, GError **error)
{
    struct orch_semisup_end end;
    if (!orch_semisup_train(s, stage, &end, error))
        return false;
    semi->has_diverged = !end.is_finite;
    if (end.is_finite)
        return true;
    g_autofree char *first = end.first_bad < end.last_bad
                                 ? g_strdup_printf("s %" G_GINT64_FORMAT " to", end.first_bad)
                                 : g_strdup("");
    orch_error_set(error, ORCH_ERROR_TRIAL, "try a lower 'pretrain_lr' or 'teacher_lr'",
                   "%s: the loss is not finite, for the first time in step%s %" G_GINT64_FORMAT,
                   stage->phase, first, end.last_bad);
    return false;
}

/* Scores of the teacher on the unlabelled images, after it was trained where it has no weights. */
static float *ask_teacher(struct orch_semisup *semi, struct outcome *out, GError **error)
{
    const struct orch_semisup_params *p = semi->params;
    const struct orch_session *t = &semi->teacher;
    const struct orch_semisup_stage stage = {.phase = "training the teacher",
                                             .metric = "teacher_loss",
                                             .stream = "teacher's images",
                                             .subset = semi->session->train,
                                             .steps = p->teacher_steps,
                                             .lr = p->teacher_lr};
    if ((!p->teacher || t->host->smoke(t->host)) && !train(semi, t, &stage, error))
        return NULL;
    return orch_semisup_accuracy(t, &out->facts[TEACHER_ACCURACY], error)
               ? orch_semisup_scores(t, semi->unlabelled, error)
               : NULL;
}

/* ---- the set ----------------------------------------------------------------------------------
 */

static void describe(const struct orch_pretraining_set *set, const struct orch_semisup *semi,
                     struct outcome *out)
{
    double correct = 0, *facts = out->facts;
    facts[SET_IMAGES] = (double)set->images->count;
    facts[SET_DISTINCT] = (double)set->distinct;
    facts[SET_CLASS_MIN] = facts[SET_CLASS_MAX] = (double)set->count[0];
    for (int c = 0; c < set->images->classes; c++) {
        const double count = (double)set->count[c];
        correct += (double)set->correct[c];
        facts[SET_CLASS_MIN] = fmin(facts[SET_CLASS_MIN], count);
        facts[SET_CLASS_MAX] = fmax(facts[SET_CLASS_MAX], count);
        if (count > 0)
            facts[SET_PRECISION_MIN] =
                fmin(facts[SET_PRECISION_MIN], (double)set->correct[c] / count);
    }
    facts[SET_PRECISION] = correct / facts[SET_IMAGES];
    if (semi->supervision == ORCH_SUPERVISION_WEAK)
        facts[REPLACED_LABELS] = (double)set->replaced_labels;
    out->csv = orch_pretraining_set_csv(set, semi);
}

static struct orch_pretraining_set *make_set(struct orch_semisup *semi, struct outcome *out,
                                             GError **error)
{
    const bool has_teacher = semi->supervision == ORCH_SUPERVISION_SEMI;
    g_autofree float *scores = has_teacher ? ask_teacher(semi, out, error) : NULL;
    if (has_teacher && !scores)
        return NULL;
    struct orch_pretraining_set *set = orch_pretraining_set_new(semi, scores, error);
    if (set)
        describe(set, semi, out);
    return set;
}

/* ---- student ----------------------------------------------------------------------------------
 */

/* Gives the last layer group initial weights again, other ones than before. */
static bool renew_head(const struct orch_session *s, GError **error)
{
    struct orch_session fresh;
    bool ok = orch_session_of_net(s, s->training->net, "new head", &fresh, error);
    for (size_t i = 0; ok && i < s->torch->tensor_count(s->model); i++) {
        struct orch_torch_tensor tensor;
        s->torch->tensor_describe(s->model, i, &tensor);
        if (tensor.group != s->net->group_count - 1)
            continue;
        g_autofree float *values = g_new(float, tensor.count + 1);
        ok = s->torch->tensor_get(fresh.model, i, values, error) &&
             s->torch->tensor_set(s->model, i, values, error);
    }
    if (fresh.model)
        orch_session_release(&fresh);
    return ok;
}

static bool train_student(struct orch_semisup *semi, struct outcome *out, GError **error)
{
    const struct orch_semisup_params *p = semi->params;
    const struct orch_session *s = semi->session;
    struct orch_pretraining_set *set = make_set(semi, out, error);
    if (!set)
        return false;
    const struct orch_semisup_stage stage = {.phase = "pre-training the student",
                                             .metric = "pretrain_loss",
                                             .stream = "pre-training images",
                                             .subset = set->images,
                                             .steps = p->pretrain_steps,
                                             .lr = p->pretrain_lr};
    bool ok = train(semi, s, &stage, error) &&
              orch_semisup_accuracy(s, &out->facts[PRETRAINED_ACCURACY], error) &&
              (!p->new_head || renew_head(s, error));
    orch_pretraining_set_free(set);
    return ok;
}

/* ---- the file of a later attempt --------------------------------------------------------------
 */

static const char FACTS_NAME[] = "semisup.results", CSV_NAME[] = "semisup.pretraining_set";

static char *file_path(const struct orch_host *host)
{
    const char *folder = host->checkpoint_dir(host);
    return folder && !host->smoke(host) ? g_build_filename(folder, "pretrained.safetensors", NULL)
                                        : NULL;
}

static bool keep(const struct orch_session *s, const struct outcome *out, const char *path,
                 GError **error)
{
    const int64_t facts = FACTS, bytes = (int64_t)out->csv->len;
    struct orch_weights *w = orch_torch_state_copy(s->torch, s->model, error);
    bool ok = w &&
              orch_weights_add(w, FACTS_NAME, ORCH_DTYPE_FLOAT64, 1, &facts, out->facts, error) &&
              orch_weights_add(w, CSV_NAME, ORCH_DTYPE_UINT8, 1, &bytes, out->csv->str, error) &&
              orch_weights_save(w, path, true, error);
    orch_weights_free(w);
    return ok;
}

/* Reads what `keep` wrote. */
static bool take_up(const struct orch_session *s, const char *path, struct outcome *out,
                    GError **error)
{
    struct orch_weights *w = orch_weights_load(path, error);
    const struct orch_weight *facts = w ? orch_weights_find(w, FACTS_NAME) : NULL;
    const struct orch_weight *csv = w ? orch_weights_find(w, CSV_NAME) : NULL;
    bool ok = w && orch_torch_state_load(s->torch, s->model, s->net, w, false, NULL, error);
    if (ok && (!facts || !csv || facts->dtype != ORCH_DTYPE_FLOAT64 || facts->count != FACTS)) {
        orch_error_set(error, ORCH_ERROR_CHECK, "remove the file to start again",
                       "'%s' does not hold results of plugin 'semisup'", path);
        ok = false;
    }
    if (ok) {
        memcpy(out->facts, facts->data, sizeof out->facts);
        out->csv = g_string_new_len(csv->data, (gssize)csv->bytes);
        orch_training_note(s->host, "an earlier attempt had already pre-trained the student");
    }
    orch_weights_free(w);
    return ok;
}

/* ---- all together -----------------------------------------------------------------------------
 */

static bool report(const struct orch_host *host, const struct outcome *out, GError **error)
{
    for (int i = 0; i < FACTS; i++)
        if (!isnan(out->facts[i]))
            host->result(host, FACT_NAMES[i], out->facts[i]);
    if (!g_file_set_contents("pretraining_set.csv", out->csv->str, (gssize)out->csv->len, error))
        return false;
    host->artifact(host, "pretraining_set", "pretraining_set.csv");
    return true;
}

static bool pretrain_anew(struct orch_semisup *semi, const char *path, struct outcome *out,
                          GError **error)
{
    const struct orch_session *s = semi->session;
    const int64_t begin = orch_mono_ns();
    if (!train_student(semi, out, error))
        return false;
    out->facts[PRETRAINING_TIME] = (double)(orch_mono_ns() - begin) / 1e9;
    return !path || s->host->cancelled(s->host) || keep(s, out, path, error);
}

bool orch_semisup_pretrain(struct orch_semisup *semi, GError **error)
{
    const struct orch_session *s = semi->session;
    if (semi->params->pretrain_steps == 0)
        return true;
    struct outcome out = {0};
    for (int i = 0; i < FACTS; i++)
        out.facts[i] = NAN;
    g_autofree char *path = file_path(s->host);
    bool ok = path && g_file_test(path, G_FILE_TEST_EXISTS)
                  ? take_up(s, path, &out, error)
                  : pretrain_anew(semi, path, &out, error);
    ok = ok && report(s->host, &out, error) && orch_training_optimizer(s, s->model, error);
    if (out.csv)
        g_string_free(out.csv, TRUE);
    return ok;
}
