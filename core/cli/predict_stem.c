/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict` for an ImageNet network on small images. The zoo's resnet50 halves 32x32 images
 * twice in its stem (7x7 convolution of stride 2, pooling), as torchvision's does; who trains
 * "ResNet-50 on CIFAR-10" usually means the variant with a 3x3 stem, which computes far more. The
 * answer is for the network that was named, and says so. */
#include "core/cli/predict_step.h"

#include "lib/net/net.h"

#define SMALL_IMAGE 64 /* rows; Tiny ImageNet's, the largest for which the 3x3 stem is usual */

/* The variant with the 3x3 stem, or NULL: the images are large, or the zoo has none. */
static struct orch_net *small_image_net(const struct question *q)
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

static void assume(struct question *q, const struct orch_net *other, const char *verb, double times,
                   const char *of)
{
    question_assume(q, "stem", "--net",
                    "that of ImageNet (7x7 with stride 2, pooling); %s has the 3x3 stem that is "
                    "usual for small images, and %s %.2g times %s",
                    other->name, verb, times, of);
}

void question_assume_stem(struct question *q)
{
    struct orch_net *other = small_image_net(q);
    if (!other)
        return;
    struct orch_net_cost *costs = orch_net_costs(other);
    assume(q, other, "needs",
           (double)orch_net_cost_sum(other, costs).macs /
               (double)orch_net_cost_sum(q->net, q->costs).macs,
           "the multiply-adds");
    g_free(costs);
    orch_net_free(other);
}

void question_assume_stem_on(struct question *q, struct tiers *tiers, const struct candidate *c,
                             const struct answer *answer)
{
    struct orch_net *other = small_image_net(q);
    if (!other)
        return;
    struct question that = *q;
    that.net = other;
    that.costs = orch_net_costs(other);
    that.table = NULL;
    struct answer longer = {0};
    if (candidate_ask(&that, tiers, c, answer->workers, answer->batch, &longer, NULL))
        assume(q, other, "takes", longer.step.total_s / answer->step.total_s, "as long");
    answer_clear(&longer);
    g_free(that.costs);
    orch_layer_table_free(that.table);
    orch_net_free(other);
}
