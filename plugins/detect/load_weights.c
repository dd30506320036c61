/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads weights of a detector, whose classes may differ from those of this trial. Each row of a
 * score layer belongs to one class. Rows are copied by the name of the class; a class that the
 * weights do not have keeps its initial rows, or is an error where nothing is learned. */
#include "plugins/detect/detect.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/samples/class_names.h"
#include "plugins/common/scenes/scene_open.h"
#include "plugins/common/training/notes.h"

#include <string.h>

/** Keys of the metadata of a weights file. */
static const char SIZE_KEY[] = "image_size", MEAN_KEY[] = "pixel_mean",
                  DEVIATION_KEY[] = "pixel_deviation", KIND_KEY[] = "kind";

/* ---- names of classes ---------------------------------------------------------------------------
 */

/* The classes of pytorch-ssd's published weights, whose files list no class names. Caller frees. */
static char **voc_names(void)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    g_strv_builder_add(names, "background");
    g_strv_builder_addv(names, (const char **)(uintptr_t)orch_voc_classes);
    return g_strv_builder_end(names);
}

/* The number of classes of the weights, with the background, by the shape of their first score
 * layer; 0 if they have no such layer. */
static int64_t classes_in(const struct orch_weights *weights, const struct orch_detector *d,
                          const struct orch_net *net)
{
    const struct orch_net_node *node = orch_net_output(net, 1);
    const struct orch_net_tensor *tensor = orch_net_tensor(net, node->first_tensor);
    const struct orch_weight *weight = orch_weights_find(weights, tensor->name);
    const int per_cell = orch_prior_spec_per_cell(&d->spec, 0);
    return weight && weight->rank > 0 && weight->shape[0] % per_cell == 0
               ? weight->shape[0] / per_cell
               : 0;
}

/* The names of the classes of the weights. A file without names is taken to have the classes of
 * Pascal VOC if their number is the same, else those of this trial if their number is. NULL if the
 * classes are not known. Caller frees. */
static char **their_names(struct orch_detect *detect, const struct orch_weights *weights,
                          int64_t count)
{
    char **names = orch_weights_class_names(weights);
    if (names && (int64_t)g_strv_length(names) == count)
        return names;
    g_strfreev(names);
    if (count == ORCH_VOC_CLASSES + 1) {
        orch_training_note(detect->session->host,
                           "the weights do not name their 20 classes; orch assumes those of Pascal "
                           "VOC in alphabetical order");
        return voc_names();
    }
    if (count != detect->detector->classes)
        return NULL;
    orch_training_note(
        detect->session->host,
        "the weights do not name their classes; orch assumes those of the data, in the same order");
    return g_strdupv(orch_object_data_names(detect->data));
}

/* The class of that name, else one whose name is the same but for case and punctuation; -1: none.
 */
static int find_name(char *const *names, const char *name)
{
    int same = -1;
    for (int i = 1; names && names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
        if (same < 0 && orch_name_is_same(names[i], name))
            same = i;
    }
    return same;
}

/* ---- rows of classes ----------------------------------------------------------------------------
 */

/* For each class of this trial, the class of the weights whose row is copied; -1: none. Caller
 * frees. NULL with the error set. */
static int *choose_rows(struct orch_detect *detect, char *const *theirs, GError **error)
{
    char *const *ours = orch_object_data_names(detect->data);
    const bool must_have = orch_detect_is_mode(detect->params, "test");
    g_autoptr(GString) missing = g_string_new(NULL);
    int *from = g_new(int, detect->detector->classes);
    from[0] = theirs ? 0 : -1;
    for (int c = 1; c < detect->detector->classes; c++) {
        from[c] = find_name(theirs, ours[c]);
        if (from[c] < 0)
            g_string_append_printf(missing, "%s'%s'", missing->len ? ", " : "", ours[c]);
    }
    if (!missing->len)
        return from;
    g_autofree char *known = theirs ? g_strjoinv(", ", (char **)(uintptr_t)theirs + 1) : NULL;
    if (!must_have) {
        orch_training_note(detect->session->host,
                           "classes that the weights lack begin with untrained scores: %s",
                           missing->str);
        return from;
    }
    orch_error_set(error, ORCH_ERROR_RECIPE, "train on these classes first, with mode: full",
                   "mode 'test': the weights have no class %s; their classes are %s", missing->str,
                   known ? known : "not named, and their number differs");
    g_free(from);
    return NULL;
}

/* Copies the rows of a score layer's tensor. Its first axis has `per_cell` blocks of one row for
 * each class. */
static bool copy_rows(struct orch_detect *detect, const struct orch_weight *weight, int index,
                      int per_cell, const int *from, int64_t theirs, GError **error)
{
    const struct orch_session *s = detect->session;
    const struct orch_net_tensor *tensor = orch_net_tensor(s->net, index);
    const int64_t ours = detect->detector->classes, row = tensor->count / tensor->shape[0];
    if (weight->count != per_cell * theirs * row) {
        orch_error_set(error, ORCH_ERROR_CHECK, "check that these are the weights of this network",
                       "the weights do not fit network '%s': %s has %" G_GINT64_FORMAT
                       " values for %" G_GINT64_FORMAT " classes",
                       s->net->name, weight->name, weight->count, theirs);
        return false;
    }
    g_autofree float *values = g_new(float, tensor->count), *given = g_new(float, weight->count);
    orch_weight_to_float(weight, given);
    if (!s->torch->tensor_get(s->model, (size_t)index, values, error))
        return false;
    for (int a = 0; a < per_cell; a++)
        for (int64_t c = 0; c < ours; c++)
            if (from[c] >= 0)
                memcpy(values + (a * ours + c) * row, given + (a * theirs + from[c]) * row,
                       sizeof(float) * (size_t)row);
    return s->torch->tensor_set(s->model, (size_t)index, values, error);
}

/* Copies the rows of all score layers. `kept` maps the names of their tensors to weights. */
static bool copy_scores(struct orch_detect *detect, GHashTable *kept, const int *from,
                        int64_t theirs, GError **error)
{
    const struct orch_detector *d = detect->detector;
    const struct orch_net *net = detect->session->net;
    for (int m = 0; m < d->spec.map_count; m++) {
        const struct orch_net_node *node = orch_net_output(net, 2 * m + 1);
        for (int i = node->first_tensor; i < node->first_tensor + node->tensor_count; i++) {
            const struct orch_weight *weight =
                g_hash_table_lookup(kept, orch_net_tensor(net, i)->name);
            if (weight && !copy_rows(detect, weight, i, orch_prior_spec_per_cell(&d->spec, m), from,
                                     theirs, error))
                return false;
        }
    }
    return true;
}

/* ---- loading ------------------------------------------------------------------------------------
 */

/* Removes the tensors of the outputs of a kind (0: boxes, 1: scores) from weights->by_name, so that
 * orch_torch_state_load does not find them. Returns name -> struct orch_weight *. */
static GHashTable *take_out(struct orch_weights *weights, const struct orch_net *net, int kind)
{
    GHashTable *taken = g_hash_table_new(g_str_hash, g_str_equal);
    for (int o = kind; o < orch_net_output_count(net); o += 2) {
        const struct orch_net_node *node = orch_net_output(net, o);
        for (int i = node->first_tensor; i < node->first_tensor + node->tensor_count; i++) {
            const struct orch_weight *weight =
                orch_weights_find(weights, orch_net_tensor(net, i)->name);
            if (!weight)
                continue;
            g_hash_table_insert(taken, weight->name, (gpointer)(uintptr_t)weight);
            g_hash_table_remove(weights->by_name, weight->name);
        }
    }
    return taken;
}

static bool load_classes(struct orch_detect *detect, GHashTable *scores,
                         const struct orch_weights *weights, int64_t count, GError **error)
{
    g_auto(GStrv) theirs = count ? their_names(detect, weights, count) : NULL;
    g_autofree int *from = choose_rows(detect, theirs, error);
    return from && (!theirs || copy_scores(detect, scores, from, count, error));
}

/* The predictors of boxes do not depend on the classes: weights without them, or for other priors,
 * are those of another network. */
static bool boxes_fit(const struct orch_net *net, const struct orch_weights *weights,
                      GError **error)
{
    for (int o = 0; o < orch_net_output_count(net); o += 2) {
        const struct orch_net_node *node = orch_net_output(net, o);
        for (int i = node->first_tensor; i < node->first_tensor + node->tensor_count; i++) {
            const struct orch_net_tensor *tensor = orch_net_tensor(net, i);
            const struct orch_weight *weight = orch_weights_find(weights, tensor->name);
            if (weight && orch_weight_has_shape(weight, tensor->rank, tensor->shape))
                continue;
            orch_error_set(error, ORCH_ERROR_CHECK,
                           "set net to the network of the weights, or new_head: true",
                           weight ? "'%s', which predicts boxes, has another shape in the weights"
                                  : "the weights have no '%s', which predicts boxes",
                           tensor->name);
            return false;
        }
    }
    return true;
}

static bool load(struct orch_detect *detect, struct orch_weights *weights, GError **error)
{
    const struct orch_session *s = detect->session;
    const int64_t count = classes_in(weights, detect->detector, s->net);
    struct orch_torch_load_report report = {0};
    g_autoptr(GHashTable) scores = take_out(weights, s->net, 1);
    g_autoptr(GHashTable) boxes = detect->params->new_head ? take_out(weights, s->net, 0) : NULL;
    bool ok = orch_torch_state_load(s->torch, s->model, s->net, weights, true, &report, error) &&
              (boxes || boxes_fit(s->net, weights, error));
    if (ok)
        orch_training_note(s->host, "%zu tensors come from the weights; layers for boxes are %s",
                           report.loaded, boxes ? "new" : "from the weights");
    orch_torch_load_report_clear(&report);
    return ok && (detect->params->new_head || load_classes(detect, scores, weights, count, error));
}

bool orch_detect_load(struct orch_detect *detect, GError **error)
{
    struct orch_weights *weights = orch_weights_load(detect->params->t.weights, error);
    bool ok = weights && load(detect, weights, error);
    orch_weights_free(weights);
    return ok;
}

/* ---- writing ------------------------------------------------------------------------------------
 */

static void put(struct orch_weights *weights, const char *key, json_t *value)
{
    g_hash_table_insert(weights->metadata, g_strdup(key), orch_json_canonical(value));
    json_decref(value);
}

bool orch_detect_label(const struct orch_detect *detect, struct orch_weights *weights,
                       GError **error)
{
    (void)error;
    const struct orch_session_data *data = &detect->session->data;
    orch_weights_set_class_names(weights, orch_object_data_names(detect->data));
    put(weights, SIZE_KEY, json_integer(data->width));
    put(weights, MEAN_KEY, json_real((double)ORCH_SCENE_MEAN));
    put(weights, DEVIATION_KEY, json_real((double)ORCH_SCENE_DEVIATION));
    g_hash_table_insert(weights->metadata, g_strdup(KIND_KEY), g_strdup("detector"));
    return true;
}
