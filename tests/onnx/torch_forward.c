/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * torch_forward: reads lines "NET FILE". For each it computes a batch of two images with LibTorch,
 * as the training plugins do in evaluation, and writes FILE (safetensors) with the weights, the
 * images as 'random/input' and each output as 'random/output/NAME'. The network has the smallest
 * input of a list that it takes and seven classes, which are printed: "CxHxW CLASSES". Prints an
 * empty line for a network that LibTorch does not compute. All values are drawn, those of norms,
 * too, so that nothing cancels. One process serves all networks, for LibTorch's start takes longer
 * than most of them.
 */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 2, CLASSES = 7 };

static void stop_on(const GError *error)
{
    if (!error)
        return;
    fprintf(stderr, "torch_forward: %s\n", error->message);
    exit(1);
}

static struct orch_net *make_small(const char *name)
{
    static const int64_t sides[] = {16, 20, 32, 64, 96, 160, 224, 300};
    struct orch_net_options options = {.name = name, .classes = CLASSES};
    struct orch_net *net = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(sides) && !net; i++) {
        options.height = options.width = sides[i];
        net = orch_net_make(&options, NULL);
        options.width = 1; /* of a sequence */
        net = net ? net : orch_net_make(&options, NULL);
    }
    if (!net) {
        fprintf(stderr, "torch_forward: no network '%s'\n", name);
        exit(1);
    }
    return net;
}

static double draw(uint64_t *state, double low, double high)
{
    return low + (high - low) * orch_random_unit(state);
}

/* Values of the size of initial ones, but for biases and norms, which are all equal in a fresh
 * network. */
static void fill(const struct orch_net_tensor *tensor, bool is_of_norm, uint64_t *state,
                 float *values)
{
    bool is_shift = tensor->role == ORCH_NET_BIAS || tensor->role == ORCH_NET_RUNNING_MEAN;
    double low = is_of_norm ? 0.5 : -1.7 * tensor->init_scale;
    double high = is_of_norm ? 1.5 : 1.7 * tensor->init_scale;
    for (int64_t i = 0; i < tensor->count; i++)
        values[i] = (float)(is_shift ? draw(state, -0.2, 0.2) : draw(state, low, high));
}

static void set_values(const struct orch_torch *torch, struct orch_torch_model *model,
                       const struct orch_net *net)
{
    GError *error = NULL;
    uint64_t state = 5;
    for (guint i = 0; i < net->tensors->len && !error; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, (int)i);
        bool is_of_norm = orch_net_node(net, tensor->node)->op == ORCH_NET_BATCHNORM2D;
        g_autofree float *values = g_new(float, tensor->count);
        fill(tensor, is_of_norm, &state, values);
        torch->tensor_set(model, i, values, &error);
    }
    stop_on(error);
}

static void add_array(struct orch_weights *weights, const char *prefix, const char *name, int rank,
                      const int64_t *shape, const float *data)
{
    GError *error = NULL;
    g_autofree char *full = g_strconcat(prefix, name, NULL);
    orch_weights_add(weights, full, ORCH_DTYPE_FLOAT32, rank, shape, data, &error);
    stop_on(error);
}

static void compute(const struct orch_torch *torch, struct orch_torch_model *model,
                    const struct orch_net *net, struct orch_weights *weights)
{
    GError *error = NULL;
    uint64_t state = 3;
    const int64_t shape[4] = {IMAGES, net->input.c, net->input.h, net->input.w};
    int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
    g_autofree float *images = g_new(float, count);
    for (int64_t i = 0; i < count; i++)
        images[i] = (float)draw(&state, -2, 2);
    const struct orch_torch_batch batch = {.images = images, .count = IMAGES};
    g_autofree struct orch_torch_array *outputs =
        g_new0(struct orch_torch_array, torch->output_count(model));
    torch->forward(model, &batch, ORCH_TORCH_INFER, false, outputs, &error);
    stop_on(error);
    add_array(weights, "random/", "input", 4, shape, images);
    for (size_t i = 0; i < torch->output_count(model); i++)
        add_array(weights, "random/output/", outputs[i].name, outputs[i].rank, outputs[i].shape,
                  outputs[i].data);
}

static void answer(const struct orch_torch *torch, const char *name, const char *path)
{
    GError *error = NULL;
    struct orch_net *net = make_small(name);
    const struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_model *model = torch->model_new(net, &setup, NULL);
    if (!model) {
        puts("");
        orch_net_free(net);
        return;
    }
    set_values(torch, model, net);
    struct orch_weights *weights = orch_torch_state_copy(torch, model, &error);
    stop_on(error);
    compute(torch, model, net, weights);
    orch_weights_save(weights, path, false, &error);
    stop_on(error);
    printf("%dx%dx%d %d\n", (int)net->input.c, (int)net->input.h, (int)net->input.w,
           (int)net->classes);
    orch_weights_free(weights);
    torch->model_free(model);
    orch_net_free(net);
}

int main(void)
{
    GError *error = NULL;
    const struct orch_torch *torch = orch_torch_load(&error);
    stop_on(error);
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        char *path = strchr(g_strchomp(line), ' ');
        if (!path)
            return 2;
        *path++ = '\0';
        answer(torch, line, path);
        fflush(stdout);
    }
    return 0;
}
