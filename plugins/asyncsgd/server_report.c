/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/asyncsgd/server_report.h"

#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/validation.h"

/* Rows of the table of updates, and points of the metric staleness. */
enum { ROWS_MOST = 100000, POINTS_MOST = 1000 };

void orch_server_report_init(struct orch_server_report *r, const struct orch_session *session,
                             int learners)
{
    *r = (struct orch_server_report){
        .session = session,
        .learners = learners,
        .csv = g_string_new("time (s),learner,version read,version updated,staleness,learning "
                            "rate,loss\n"),
        .counts = g_array_new(FALSE, TRUE, sizeof(int64_t)),
        .sums = g_new0(double, learners),
        .by_learner = g_new0(double, learners),
    };
}

void orch_server_report_begin(struct orch_server_report *r)
{
    if (!r->begin_ns)
        r->begin_ns = orch_mono_ns();
}

static double server_report_elapsed_s(const struct orch_server_report *r)
{
    return (double)(orch_mono_ns() - r->begin_ns - r->paused_ns) / 1e9;
}

static void append_row(struct orch_server_report *r, const struct orch_server_gradient *g)
{
    char time[ORCH_REAL_CHARS], rate[ORCH_REAL_CHARS], loss[ORCH_REAL_CHARS];
    const double images = (double)g->totals.images;
    g_string_append_printf(
        r->csv, "%s,%d,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,%s\n",
        orch_real_format(server_report_elapsed_s(r), time), g->learner + 1, g->version_read,
        g->version_before, g->version_before - g->version_read, orch_real_format(g->rate, rate),
        orch_real_format(g->totals.loss / images, loss));
}

void orch_server_report_gradient(struct orch_server_report *r, const struct orch_server_gradient *g)
{
    const struct orch_host *host = r->session->host;
    const int64_t staleness = g->version_before - g->version_read;
    if (r->gradients < ROWS_MOST)
        append_row(r, g);
    if (r->gradients < POINTS_MOST)
        host->metric(host, "staleness", r->gradients + 1, (double)staleness);
    if (staleness >= r->counts->len)
        g_array_set_size(r->counts, (guint)staleness + 1);
    g_array_index(r->counts, int64_t, staleness)++;
    r->sums[g->learner] += (double)staleness;
    r->by_learner[g->learner]++;
    r->gradients++;
    r->since.images += g->totals.images;
    r->since.correct += g->totals.correct;
    r->since.loss += g->totals.loss;
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static double share(const struct orch_torch_totals *totals)
{
    return (double)totals->correct / (double)totals->images;
}

static void report_point(const struct orch_server_report *r, int64_t epoch, int64_t version)
{
    const struct orch_host *host = r->session->host;
    const double elapsed_s = server_report_elapsed_s(r);
    host->metric(host, "val_accuracy", version, share(&r->val));
    host->metric(host, "val_error", version, 1 - share(&r->val));
    host->metric(host, "val_loss", version, r->val.loss / (double)r->val.images);
    host->metric(host, "train_loss", version, r->since.loss / (double)r->since.images);
    host->metric(host, "train_accuracy", version, share(&r->since));
    if (!host->smoke(host)) /* its steps are times, which two smoke runs do not share */
        host->metric(host, "timed_accuracy", (int64_t)(elapsed_s * 1e3), share(&r->val));
    host->metric(host, "epoch_time", epoch, elapsed_s - r->since_s);
    host->metric(host, "epoch_accuracy", epoch, share(&r->val));
    host->progress(host, (double)epoch, (double)r->session->epochs);
}

bool orch_server_report_epoch(struct orch_server_report *r, int64_t epoch, int64_t version,
                              GError **error)
{
    const int64_t begin_ns = orch_mono_ns();
    const bool ok = orch_validate(r->session, r->session->val_part, NULL, &r->val, error);
    r->paused_ns += orch_mono_ns() - begin_ns;
    if (!ok)
        return false;
    report_point(r, epoch, version);
    r->best = MAX(r->best, share(&r->val));
    r->since = (struct orch_torch_totals){0};
    r->since_s = server_report_elapsed_s(r);
    return true;
}

/* ---- end --------------------------------------------------------------------------------------
 */

static void report_staleness(const struct orch_server_report *r)
{
    const struct orch_host *host = r->session->host;
    double sum = 0;
    for (int i = 0; i < r->learners; i++) {
        sum += r->sums[i];
        host->metric(host, "learner_gradients", i + 1, r->by_learner[i]);
        if (r->by_learner[i] > 0)
            host->metric(host, "learner_staleness", i + 1, r->sums[i] / r->by_learner[i]);
    }
    for (guint i = 0; i < r->counts->len; i++)
        host->metric(host, "staleness_share", i,
                     (double)g_array_index(r->counts, int64_t, i) / (double)r->gradients);
    host->result(host, "mean_staleness", sum / (double)r->gradients);
    host->result(host, "max_staleness", r->counts->len - 1);
}

static void report_times(const struct orch_server_report *r, int64_t versions, double training_s)
{
    const struct orch_host *host = r->session->host;
    host->result(host, "updates", (double)versions);
    host->result(host, "applied_gradients", (double)r->gradients);
    host->result(host, "training_time", training_s);
    host->result(host, "validation_time", (double)r->paused_ns / 1e9);
    host->result(host, "updates_per_s", (double)versions / training_s);
    host->result(host, "gradients_per_s", (double)r->gradients / training_s);
    host->result(host, "images_per_s",
                 (double)(r->gradients * r->session->training->batch) / training_s);
    host->result(host, "final_accuracy", share(&r->val));
    host->result(host, "final_loss", r->val.loss / (double)r->val.images);
    host->result(host, "best_accuracy", r->best);
}

static bool write_tables(const struct orch_server_report *r, GError **error)
{
    const struct orch_host *host = r->session->host;
    g_autoptr(GString) histogram = g_string_new("staleness,gradients\n");
    for (guint i = 0; i < r->counts->len; i++)
        g_string_append_printf(histogram, "%u,%" G_GINT64_FORMAT "\n", i,
                               g_array_index(r->counts, int64_t, i));
    if (r->gradients > ROWS_MOST)
        orch_training_note(host,
                           "the table of updates holds only the first %d of %" G_GINT64_FORMAT,
                           ROWS_MOST, r->gradients);
    if (!g_file_set_contents("updates.csv", r->csv->str, (gssize)r->csv->len, error) ||
        !g_file_set_contents("histogram.csv", histogram->str, (gssize)histogram->len, error))
        return false;
    host->artifact(host, "updates", "updates.csv");
    host->artifact(host, "histogram", "histogram.csv");
    return true;
}

static bool write_weights(const struct orch_session *s, GError **error)
{
    struct orch_weights *weights = orch_torch_state_copy(s->torch, s->model, error);
    const bool ok = weights && orch_weights_save(weights, "weights.safetensors", false, error);
    orch_weights_free(weights);
    if (ok)
        s->host->artifact(s->host, "weights", "weights.safetensors");
    return ok;
}

static bool validate_fully(const struct orch_session *s, GError **error)
{
    struct orch_torch_totals all;
    if (!s->training->full_validation)
        return true;
    if (!orch_validate(s, s->val, NULL, &all, error))
        return false;
    s->host->result(s->host, "full_accuracy", share(&all));
    s->host->result(s->host, "full_loss", all.loss / (double)all.images);
    return true;
}

bool orch_server_report_end(struct orch_server_report *r, int64_t versions, GError **error)
{
    report_staleness(r);
    report_times(r, versions, r->since_s);
    return write_tables(r, error) && write_weights(r->session, error) &&
           validate_fully(r->session, error);
}

void orch_server_report_clear(struct orch_server_report *r)
{
    if (r->csv)
        g_string_free(r->csv, TRUE);
    if (r->counts)
        g_array_unref(r->counts);
    g_free(r->sums);
    g_free(r->by_learner);
    *r = (struct orch_server_report){0};
}
