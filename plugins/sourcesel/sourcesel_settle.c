/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial of sourcesel is about: which classes are sources and which are the target, and
 * whether its settings go together. Nothing is read. */
#include "plugins/sourcesel/sourcesel.h"

#include "lib/base/error.h"

#include <string.h>

bool orch_sourcesel_is_target(const struct sourcesel_params *p)
{
    return strcmp(p->stage, "target") == 0;
}

static bool is_triple(const struct sourcesel_params *p)
{
    return strcmp(p->labels, "nearest3") == 0 || strcmp(p->labels, "cfa") == 0;
}

static bool refuse(GError **error, const char *hint, const char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s", what);
    return false;
}

/* Names of all sets but the target, for `use` without names. */
static GPtrArray *other_names(const GPtrArray *all, const char *target)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < all->len; i++) {
        const struct orch_source_set *set = all->pdata[i];
        if (!target || strcmp(set->name, target) != 0)
            g_ptr_array_add(names, g_strdup(set->name));
    }
    return names;
}

static bool resolve_sources(struct sourcesel *s, const GPtrArray *all, GError **error)
{
    const struct sourcesel_params *p = s->params;
    g_autoptr(GPtrArray) names = other_names(all, p->target);
    struct orch_list use = p->use;
    for (size_t i = 0; p->target && i < use.count; i++)
        if (strcmp(((const char *const *)use.items)[i], p->target) == 0) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "leave the target out of 'use'",
                           "'use': '%s' is the target, which must not be a source", p->target);
            return false;
        }
    if (!use.count)
        use = (struct orch_list){names->len, names->pdata};
    if (!use.count)
        return refuse(error, "add another set to 'sources'", "sources: the target is the only set");
    s->sets = orch_source_sets_parse(&p->sources, &use, error);
    return s->sets != NULL;
}

static bool resolve(struct sourcesel *s, GError **error)
{
    const struct sourcesel_params *p = s->params;
    const struct orch_list everything = {0}, only = {1, &p->target};
    g_autoptr(GPtrArray) all = orch_source_sets_parse(&p->sources, &everything, error);
    if (!all)
        return false;
    if (p->target) {
        s->target_sets = orch_source_sets_parse(&p->sources, &only, NULL);
        if (!s->target_sets) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "use a name of the list 'sources'",
                           "target: there is no set '%s'", p->target);
            return false;
        }
    }
    if (!resolve_sources(s, all, error))
        return false;
    s->classes = orch_source_sets_classes(
        orch_sourcesel_is_target(p) && s->target_sets ? s->target_sets : s->sets);
    return true;
}

static bool check_base(const struct sourcesel *s, GError **error)
{
    const struct sourcesel_params *p = s->params;
    if (strcmp(p->labels, "sources") == 0 && s->sets->len < 2)
        return refuse(error, "name more sets in 'sources' or 'use'",
                      "labels: 'sources' needs at least 2 sources, but there is one");
    if (s->classes->len < 2)
        return refuse(error, "add classes to the source",
                      "the sources have one class, but a classifier needs two");
    if (!is_triple(p))
        return true;
    if (s->sets->len < 3) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "name more sets in 'sources' or 'use'",
                       "labels: %s needs three sources for each image, but there %s only %u",
                       p->labels, s->sets->len == 1 ? "is" : "are", s->sets->len);
        return false;
    }
    return p->extractor ||
           refuse(
               error, "e.g. extractor: \"${extractor.weights}\"",
               "labels: 'nearest3' and 'cfa' need a network that gives features: set 'extractor'");
}

static bool check_target(const struct sourcesel *s, GError **error)
{
    const struct sourcesel_params *p = s->params;
    const bool is_feature = strcmp(p->mode, "feature") == 0;
    if (!p->target)
        return refuse(error, "name the set to train on, for example target: tops",
                      "stage: 'target' needs a target");
    if (s->classes->len < 2)
        return refuse(error, "add classes to the target",
                      "the target has one class, but a classifier needs two");
    if (strcmp(p->mode, "scratch") != 0 && !p->t.weights)
        return refuse(error, "e.g. weights: \"${base.weights}\"",
                      "modes 'full' and 'feature' need a base network: set 'weights'");
    if (is_feature && (p->t.freeze || p->t.layer_rates.count))
        return refuse(error, NULL, "'freeze' and 'layer_rates' need mode 'full'");
    return true;
}

bool orch_sourcesel_settle(struct sourcesel *out, const struct sourcesel_params *p, GError **error)
{
    *out = (struct sourcesel){.params = p, .training = p->t};
    if (p->t.classes.count)
        return refuse(error, "write the classes into 'sources'",
                      "classes: 'sourcesel' takes its classes from the lists of 'sources'");
    if (!resolve(out, error))
        return false;
    const bool is_target = orch_sourcesel_is_target(p);
    out->training.classes = (struct orch_list){out->classes->len, out->classes->data};
    if (is_target && strcmp(p->mode, "scratch") == 0)
        out->training.weights = NULL;
    out->training.feature_extractor = is_target && strcmp(p->mode, "feature") == 0;
    return is_target ? check_target(out, error) : check_base(out, error);
}

int64_t orch_sourcesel_images(const struct sourcesel *s, int64_t images)
{
    const int64_t reference = s->params->reference_images * (int64_t)s->classes->len;
    return strcmp(s->params->labels, "sources") == 0 ? MIN(reference, images) : images;
}

void orch_sourcesel_clear(struct sourcesel *s)
{
    orch_session_close(s->session);
    g_clear_pointer(&s->sets, g_ptr_array_unref);
    g_clear_pointer(&s->target_sets, g_ptr_array_unref);
    g_clear_pointer(&s->classes, g_array_unref);
    s->session = NULL;
}

struct orch_subset *orch_sourcesel_reference(const struct sourcesel *s,
                                             const struct orch_session *session, GError **error)
{
    const bool is_smoke = session->host->smoke(session->host);
    g_autoptr(GArray) classes = orch_source_sets_classes(s->sets);
    return orch_subset_new(session->train_set,
                           is_smoke ? NULL : (const int64_t *)(void *)classes->data,
                           is_smoke ? 0 : classes->len, s->params->reference_images,
                           session->host->derive_seed(session->host, "reference"), error);
}

int orch_sourcesel_source_of(const struct sourcesel *s, const struct orch_session *session,
                             const struct orch_subset *subset, int label)
{
    return session->host->smoke(session->host)
               ? label % (int)s->sets->len
               : orch_source_sets_find(s->sets, subset->class_of[label]);
}
