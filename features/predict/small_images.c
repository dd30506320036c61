/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict` for an ImageNet network on small images. The zoo's resnet50 halves 32x32 images
 * twice in its stem (7x7 convolution of stride 2, pooling), as torchvision's does; users who train
 * "ResNet-50 on CIFAR-10" usually mean the variant with a 3x3 stem, which needs far more
 * computation. The estimate is for the named network and lists this as an assumption. */
#include "features/predict/step_answer.h"

#include "lib/net/net.h"

#include <math.h>

/* pixels: the height of Tiny ImageNet, the largest for which the 3x3 stem is usual */
#define SMALL_IMAGE 64

/* The variant with the 3x3 stem; NULL when the images are large or the zoo has no variant. */
static struct orch_net *small_image_net(const struct orch_time_question *q)
{
    if (!q->net || !q->net->family || q->net->input.h > SMALL_IMAGE)
        return NULL;
    g_autofree char *name = g_strconcat(q->net->family, "-cifar", NULL);
    const struct orch_net_options options = {.name = name,
                                             .channels = q->net->input.c,
                                             .height = q->net->input.h,
                                             .width = q->net->input.w,
                                             .classes = q->net->classes};
    return orch_net_make(&options, NULL);
}

/* Adds the assumption; `times_as_long` NaN: of no single device. */
static void assume(struct orch_time_question *q, const struct orch_net *other,
                   const struct orch_net_cost *costs, double times_as_long)
{
    double work = (double)orch_net_cost_sum(other, costs).macs /
                  (double)orch_net_cost_sum(q->net, q->costs).macs;
    g_autofree char *longer = isnan(times_as_long)
                                  ? g_strdup("")
                                  : g_strdup_printf(", %.2g times the time", times_as_long);
    orch_time_question_assume(q, "stem", "--net",
                              "ImageNet's (7x7 with stride 2, pooling); %s, made for small images, "
                              "has %.2g times the multiply-adds%s",
                              other->name, work, longer);
}

void orch_time_question_assume_stem(struct orch_time_question *q)
{
    struct orch_net *other = small_image_net(q);
    if (!other)
        return;
    g_autofree struct orch_net_cost *costs = orch_net_costs(other);
    assume(q, other, costs, (double)NAN);
    orch_net_free(other);
}

void orch_time_question_assume_stem_on(struct orch_time_question *q, struct orch_step_tiers *tiers,
                                       const struct orch_step_answer *answer)
{
    if (orch_net_has_frozen(q->net)) { /* the other one is not: their times are no comparison */
        orch_time_question_assume_stem(q);
        return;
    }
    struct orch_net *other = small_image_net(q);
    if (!other)
        return;
    struct orch_time_question that = *q;
    that.net = other;
    that.costs = orch_net_costs(other);
    that.table = NULL;
    struct orch_step_answer longer = {0};
    if (orch_candidate_estimate(&that, tiers, answer->c, answer->workers, answer->batch, &longer,
                                NULL))
        assume(q, other, that.costs, longer.step.total_s.mid / answer->step.total_s.mid);
    orch_step_answer_clear(&longer);
    g_free(that.costs);
    orch_layer_table_free(that.table);
    orch_net_free(other);
}
