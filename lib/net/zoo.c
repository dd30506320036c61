/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of networks, with builders in zoo_*.c. Layers have torchvision's names if it has the
 * network, so that its weights can be loaded by name. To add a network, add a builder and a row. */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- the table ----------------------------------------------------------------------------- */

#define INPUT(channels, side, classes, trains) {channels, side, side}, classes, trains, 0
#define GREY(side) INPUT(1, side, 10, true)
#define IMAGENET INPUT(3, 224, 1000, true)
#define CIFAR INPUT(3, 32, 10, true)
#define TOKENS(count, vocabulary)                                                                  \
    {1, MIN(count, ORCH_NET_TOKENS_USUAL), 1}, vocabulary, false, count
#define COUNTED_IMAGENET INPUT(3, 224, 1000, false)
#define B(name) orch_net_build_##name, NULL
#define SIZED(name, sizes) orch_net_build_##name, sizes
/* a published one: where, of which family and sizes */
#define OF(name, source, family, sizes, input)                                                     \
    {                                                                                              \
        name, source "; " #family ":" sizes, input, SIZED(family, sizes), 0                        \
    }
#define BERT_MASKED true /* predicts masked tokens */
#define OF_MASKED(name, source, sizes, input)                                                      \
    {                                                                                              \
        name, source "; bert-mlm:" sizes, input, SIZED(bert, sizes), BERT_MASKED                   \
    }
#define MIXTURE true /* of experts */

static const struct orch_net_family ZOO[] = {
    {"lenet5", "LeCun et al. 1998, with tanh and average pooling", GREY(32), B(lenet5), 0},
    {"mlp:SIZES", "fully connected, ReLU; mlp is mlp:512,256", GREY(28), B(mlp), 0},
    {"alexnet", "Krizhevsky 2014, as torchvision has it", IMAGENET, B(alexnet), 0},
    {"alexnet-v2", "as PALEO has it: dense layers are convolutions", IMAGENET, B(alexnet_v2), 384},
    {"alexnet-owt", "alexnet-v2 with 256 channels in conv4 (PALEO's hybrid parallelism)", IMAGENET,
     B(alexnet_v2), 256},
    {"alexnet-grouped", "Krizhevsky et al. 2012: two groups, LRN", INPUT(3, 227, 1000, true),
     B(alexnet_grouped), 0},
    {"airbench:WIDTHS", "Jordan 2024; airbench is airbench:64,256,256", CIFAR, B(airbench), 0},
    {"airbench-relu:WIDTHS", "airbench with ReLU, faster on a CPU", CIFAR, B(airbench), 1},
    {"airbench-small:WIDTHS", "with ReLU and a stride of 2; airbench-small is airbench-small:32,64",
     GREY(28), B(airbench), 2},
    {"resnet-cifar:N", "He et al. 2015, 4.2: N = 6n+2, option A", CIFAR, B(resnet_cifar), 0},
    {"resnet20", "resnet-cifar:20", CIFAR, B(resnet_cifar), 20},
    {"resnet32", "resnet-cifar:32", CIFAR, B(resnet_cifar), 32},
    {"resnet44", "resnet-cifar:44", CIFAR, B(resnet_cifar), 44},
    {"resnet56", "resnet-cifar:56", CIFAR, B(resnet_cifar), 56},
    {"resnet110", "resnet-cifar:110", CIFAR, B(resnet_cifar), 110},
    {"resnet18", "He et al. 2015, as torchvision has it", IMAGENET, B(resnet), 18},
    {"resnet34", "He et al. 2015, as torchvision has it", IMAGENET, B(resnet), 34},
    {"resnet50", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, B(resnet), 50},
    {"resnet101", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, B(resnet), 101},
    {"resnet152", "He et al. 2015, stride in the 3x3 (torchvision)", IMAGENET, B(resnet), 152},
    {"resnet50-v1", "He et al. 2015, stride in the first 1x1", IMAGENET, B(resnet), 2050},
    {"resnet101-v1", "He et al. 2015, stride in the first 1x1", IMAGENET, B(resnet), 2101},
    {"resnet152-v1", "He et al. 2015, stride in the first 1x1", IMAGENET, B(resnet), 2152},
    {"resnext50_32x4d", "Xie et al. 2017", IMAGENET, B(resnet), 3050},
    {"wide_resnet50_2", "Zagoruyko and Komodakis 2016", IMAGENET, B(resnet), 4050},
    {"wide-resnet-28-10", "Zagoruyko and Komodakis 2016", CIFAR, B(wide_resnet), 2810},
    {"resnet18-cifar", "resnet18 with a 3x3 stem and no pooling", CIFAR, B(resnet), 1018},
    {"resnet34-cifar", "resnet34 with a 3x3 stem and no pooling", CIFAR, B(resnet), 1034},
    {"resnet50-cifar", "resnet50 with a 3x3 stem and no pooling", CIFAR, B(resnet), 1050},
    {"resnet101-cifar", "resnet101 with a 3x3 stem and no pooling", CIFAR, B(resnet), 1101},
    {"resnet152-cifar", "resnet152 with a 3x3 stem and no pooling", CIFAR, B(resnet), 1152},
    {"vgg11", "Simonyan and Zisserman 2014, A", IMAGENET, B(vgg), 11},
    {"vgg13", "Simonyan and Zisserman 2014, B", IMAGENET, B(vgg), 13},
    {"vgg16", "Simonyan and Zisserman 2014, D", IMAGENET, B(vgg), 16},
    {"vgg19", "Simonyan and Zisserman 2014, E", IMAGENET, B(vgg), 19},
    {"vgg11_bn", "vgg11 with batch norm", IMAGENET, B(vgg), 111},
    {"vgg13_bn", "vgg13 with batch norm", IMAGENET, B(vgg), 113},
    {"vgg16_bn", "vgg16 with batch norm", IMAGENET, B(vgg), 116},
    {"vgg19_bn", "vgg19 with batch norm", IMAGENET, B(vgg), 119},
    {"googlenet", "Szegedy et al. 2015, as torchvision has it, without auxiliary heads", IMAGENET,
     B(googlenet), 0},
    {"googlenet-aux", "googlenet with its two auxiliary heads", IMAGENET, B(googlenet), 1},
    {"googlenet-bvlc", "Szegedy et al. 2015 (Caffe): 5x5 branches, LRN", IMAGENET, B(googlenet), 2},
    {"googlenet-bvlc-aux", "googlenet-bvlc, two auxiliary heads", IMAGENET, B(googlenet), 3},
    {"inception_v3", "Szegedy et al. 2016, without the auxiliary head", INPUT(3, 299, 1000, true),
     B(inception_v3), 0},
    {"inception_v3-aux", "inception_v3 with its auxiliary head", INPUT(3, 299, 1000, true),
     B(inception_v3), 1},
    {"densenet121", "Huang et al. 2017", IMAGENET, B(densenet), 121},
    {"densenet169", "Huang et al. 2017", IMAGENET, B(densenet), 169},
    {"mobilenet_v1", "Howard et al. 2017", IMAGENET, B(mobilenet_v1), 0},
    {"mobilenet_v2", "Sandler et al. 2018", IMAGENET, B(mobilenet_v2), 0},
    {"squeezenet1_0", "Iandola et al. 2016", IMAGENET, B(squeezenet), 0},
    {"squeezenet1_1", "squeezenet1_0 that pools earlier", IMAGENET, B(squeezenet), 1},
    {"efficientnet_b0", "Tan and Le 2019", IMAGENET, B(efficientnet_b0), 0},
    {"ssd_mobilenet_v1", "Liu et al. 2016 on MobileNet v1; 90 classes of COCO and background",
     INPUT(3, 300, 91, false), B(ssd_mobilenet_v1), 0},
    {"mobilenet-v1-ssd", "Liu et al. 2016 as pytorch-ssd has it; 20 classes of VOC and background",
     INPUT(3, 300, 21, false), B(mobilenet_v1_ssd), 0},
    {"ssd-small:WIDTH", "a detector with 3 maps and 3x3 convolutions; ssd-small is ssd-small:16",
     INPUT(3, 96, 11, false), B(ssd_small), 0},
    {"nature-dqn", "Mnih et al. 2015; the classes are actions", INPUT(4, 84, 18, true),
     B(nature_dqn), 0},
    {"minatar-dqn", "Young and Tian 2019 (MinAtar); the classes are actions", INPUT(4, 10, 6, true),
     B(minatar_dqn), 0},
    {"inception-naive:FILTERS", "one inception module; filters as GoogLeNet's 3b",
     INPUT(256, 32, 1, false), B(inception_module), 0},
    {"inception-reduced:FILTERS", "one module with 1x1 reductions; filters as GoogLeNet's 3b",
     INPUT(256, 32, 1, false), B(inception_module), 1},
    {"bert:LAYERS,WIDTH,HEADS", "Devlin et al. 2019; a fourth size is the feed-forward layers'",
     TOKENS(512, 30522), B(bert), 0},
    OF("bert-base", "Devlin et al. 2019", bert, "12,768,12", TOKENS(512, 30522)),
    OF("bert-large", "Devlin et al. 2019", bert, "24,1024,16", TOKENS(512, 30522)),
    OF_MASKED("bert-base-cased", "Devlin et al. 2019", "12,768,12", TOKENS(512, 28996)),
    OF_MASKED("bert-large-cased", "Devlin et al. 2019", "24,1024,16", TOKENS(512, 28996)),
    OF_MASKED("distilbert-base-uncased", "Sanh et al. 2019", "6,768,12,kinds=-1,bare",
              TOKENS(512, 30522)),
    OF_MASKED("distilbert-base-cased", "Sanh et al. 2019", "6,768,12,kinds=-1,bare",
              TOKENS(512, 28996)),
    OF_MASKED("xlm-roberta-base", "Conneau et al. 2020", "12,768,12,kinds=1,pads=2",
              TOKENS(512, 250002)),
    OF_MASKED("xlm-roberta-large", "Conneau et al. 2020", "24,1024,16,kinds=1,pads=2",
              TOKENS(512, 250002)),
    {"bert-mlm:LAYERS,WIDTH,HEADS", "with the head that predicts masked tokens, not the pooler",
     TOKENS(512, 30522), B(bert), BERT_MASKED},
    OF_MASKED("bert-base-mlm", "Devlin et al. 2019", "12,768,12", TOKENS(512, 30522)),
    OF_MASKED("bert-large-mlm", "Devlin et al. 2019", "24,1024,16", TOKENS(512, 30522)),
    {"distilbert", "Sanh et al. 2019; half of bert-base's layers, without a pooler",
     TOKENS(512, 30522), SIZED(bert, "6,768,12,kinds=-1,bare"), 0},
    OF_MASKED("roberta-base", "Liu et al. 2019", "12,768,12,kinds=1,pads=2", TOKENS(512, 50265)),
    OF_MASKED("roberta-large", "Liu et al. 2019", "24,1024,16,kinds=1,pads=2", TOKENS(512, 50265)),
    {"gpt:LAYERS,WIDTH,HEADS", "as GPT-2; a fourth size is the feed-forward layers'",
     TOKENS(1024, 50257), B(gpt), 0},
    OF("distilgpt2", "Sanh et al. 2019", gpt, "6,768,12", TOKENS(1024, 50257)),
    OF("gpt2", "Radford et al. 2019, small", gpt, "12,768,12", TOKENS(1024, 50257)),
    OF("gpt2-medium", "Radford et al. 2019", gpt, "24,1024,16", TOKENS(1024, 50257)),
    OF("gpt2-large", "Radford et al. 2019", gpt, "36,1280,20", TOKENS(1024, 50257)),
    OF("gpt2-xl", "Radford et al. 2019", gpt, "48,1600,25", TOKENS(1024, 50257)),
    {"opt:LAYERS,WIDTH,HEADS", "Zhang et al. 2022; a fourth size is the feed-forward layers'",
     TOKENS(2048, 50272), B(opt), 0},
    OF("opt-125m", "Zhang et al. 2022", opt, "12,768,12", TOKENS(2048, 50272)),
    OF("opt-1.3b", "Zhang et al. 2022", opt, "24,2048,32", TOKENS(2048, 50272)),
    OF("opt-2.7b", "Zhang et al. 2022", opt, "32,2560,32", TOKENS(2048, 50272)),
    OF("opt-6.7b", "Zhang et al. 2022", opt, "32,4096,32", TOKENS(2048, 50272)),
    {"mpt:LAYERS,WIDTH,HEADS", "MosaicML 2023; a fourth size is the feed-forward layers'",
     TOKENS(2048, 50432), B(mpt), 0},
    OF("mpt-7b", "MosaicML 2023", mpt, "32,4096,32", TOKENS(2048, 50432)),
    OF("mpt-30b", "MosaicML 2023", mpt, "48,7168,64", TOKENS(8192, 50432)),
    {"llama:LAYERS,WIDTH,HEADS", "further sizes: the heads of keys, the feed-forward layers'",
     TOKENS(2048, 32000), B(llama), 0},
    OF("tinyllama", "Zhang et al. 2024, 1.1 B", llama, "22,2048,32,4,5632", TOKENS(2048, 32000)),
    OF("llama-2-7b", "Touvron et al. 2023", llama, "32,4096,32,32,11008", TOKENS(4096, 32000)),
    OF("llama-2-13b", "Touvron et al. 2023", llama, "40,5120,40,40,13824", TOKENS(4096, 32000)),
    OF("llama-2-70b", "Touvron et al. 2023", llama, "80,8192,64,8,28672", TOKENS(4096, 32000)),
    OF("llama-3-8b", "Grattafiori et al. 2024", llama, "32,4096,32,8,14336", TOKENS(8192, 128256)),
    OF("llama-3-70b", "Grattafiori et al. 2024", llama, "80,8192,64,8,28672", TOKENS(8192, 128256)),
    OF("llama-3.1-8b", "Meta 2024", llama, "32,4096,32,8,14336", TOKENS(131072, 128256)),
    OF("llama-3.1-70b", "Meta 2024", llama, "80,8192,64,8,28672", TOKENS(131072, 128256)),
    OF("llama-3.2-1b", "Meta 2024", llama, "16,2048,32,8,8192,tied", TOKENS(131072, 128256)),
    OF("llama-3.2-3b", "Meta 2024", llama, "28,3072,24,8,8192,tied", TOKENS(131072, 128256)),
    OF("mistral-7b", "Jiang et al. 2023", llama, "32,4096,32,8,14336", TOKENS(32768, 32000)),
    OF("mistral-7b-v0.3", "Mistral AI 2024", llama, "32,4096,32,8,14336", TOKENS(32768, 32768)),
    OF("qwen2.5-0.5b", "Qwen 2024", llama, "24,896,14,2,4864,tied,bias", TOKENS(32768, 151936)),
    OF("qwen2.5-1.5b", "Qwen 2024", llama, "28,1536,12,2,8960,tied,bias", TOKENS(32768, 151936)),
    OF("qwen2.5-7b", "Qwen 2024", llama, "28,3584,28,4,18944,bias", TOKENS(131072, 152064)),
    {"moe:LAYERS,WIDTH,HEADS",
     "llama of which each token has some of many experts; sizes as llama, experts=N, chosen=N",
     TOKENS(4096, 32000), B(llama), MIXTURE},
    {"mixtral-8x7b", "Jiang et al. 2024; moe:32,4096,32,8,14336,experts=8,chosen=2",
     TOKENS(32768, 32000), SIZED(llama, "32,4096,32,8,14336,experts=8,chosen=2"), MIXTURE},
    {"mixtral-8x22b", "Mistral AI 2024; moe:56,6144,48,8,16384,experts=8,chosen=2",
     TOKENS(65536, 32768), SIZED(llama, "56,6144,48,8,16384,experts=8,chosen=2"), MIXTURE},
    {"deepseek-v3", "DeepSeek-AI 2024, without the layer that predicts a further token",
     TOKENS(163840, 129280),
     SIZED(llama, "61,7168,128,128,18432,experts=256,chosen=8,expert=2048,shared=2048,dense=3,"
                  "routerbias,queryrank=1536,keyrank=512,rotary=64,head=128,values=128"),
     MIXTURE},
    {"qwen3-30b-a3b", "Qwen 2025; 128 experts, 8 for each token", TOKENS(40960, 151936),
     SIZED(llama, "48,2048,32,4,6144,head=128,headnorm,experts=128,chosen=8,expert=768"), MIXTURE},
    {"qwen3-235b-a22b", "Qwen 2025; 128 experts, 8 for each token", TOKENS(40960, 151936),
     SIZED(llama, "94,4096,64,4,12288,head=128,headnorm,experts=128,chosen=8,expert=1536"),
     MIXTURE},
    {"t5:LAYERS,WIDTH,HEADS",
     "Raffel et al. 2020; further sizes: the feed-forward layers', a head's", TOKENS(512, 32128),
     B(t5), 0},
    OF("t5-small", "Raffel et al. 2020", t5, "6,512,8", TOKENS(512, 32128)),
    OF("t5-base", "Raffel et al. 2020", t5, "12,768,12", TOKENS(512, 32128)),
    OF("t5-large", "Raffel et al. 2020", t5, "24,1024,16", TOKENS(512, 32128)),
    {"vit:LAYERS,WIDTH,HEADS",
     "Dosovitskiy et al. 2021; further sizes: the patch (16), the feed-forward layers'",
     COUNTED_IMAGENET, B(vit), 0},
    OF("vit_ti_16", "Touvron et al. 2021 (DeiT-Ti)", vit, "12,192,3,16", COUNTED_IMAGENET),
    OF("vit_s_16", "Touvron et al. 2021 (DeiT-S)", vit, "12,384,6,16", COUNTED_IMAGENET),
    OF("vit_b_16", "Dosovitskiy et al. 2021", vit, "12,768,12,16", COUNTED_IMAGENET),
    OF("vit_b_32", "Dosovitskiy et al. 2021", vit, "12,768,12,32", COUNTED_IMAGENET),
    OF("vit_l_16", "Dosovitskiy et al. 2021", vit, "24,1024,16,16", COUNTED_IMAGENET),
    OF("vit_l_32", "Dosovitskiy et al. 2021", vit, "24,1024,16,32", COUNTED_IMAGENET),
    OF("vit_h_14", "Dosovitskiy et al. 2021", vit, "32,1280,16,14", COUNTED_IMAGENET),
    {"convnext_tiny", "Liu et al. 2022, as torchvision has it", COUNTED_IMAGENET, B(convnext), 0},
    {"convnext_small", "Liu et al. 2022, as torchvision has it", COUNTED_IMAGENET, B(convnext), 1},
    {"convnext_base", "Liu et al. 2022, as torchvision has it", COUNTED_IMAGENET, B(convnext), 2},
    {"convnext_large", "Liu et al. 2022, as torchvision has it", COUNTED_IMAGENET, B(convnext), 3},
    {0},
};

const struct orch_net_family *orch_net_families(void)
{
    return ZOO;
}

/* Alternative names of networks in papers and other libraries. */
static const char *const ALIASES[][2] = {
    {"resnext50", "resnext50_32x4d"},
    {"squeezenet", "squeezenet1_0"},
    {"wrn-28-10", "wide-resnet-28-10"},
    {"gpt2-small", "gpt2"},
    {"bert", "bert-base"},
    {"bert-base-uncased", "bert-base-mlm"},
    {"bert-large-uncased", "bert-large-mlm"},
    {"roberta", "roberta-base"},
    {"t5", "t5-base"},
    {"mistral", "mistral-7b"},
    {"meta-llama-3-8b", "llama-3-8b"},
    {"meta-llama-3-70b", "llama-3-70b"},
    {"tinyllama-1.1b", "tinyllama"},
    {"tinyllama-1.1b-intermediate-step-1431k-3t", "tinyllama"},
    {"meta-llama-3.1-8b", "llama-3.1-8b"},
    {"llama-3.3-70b", "llama-3.1-70b"},
    {"mistral-7b-instruct-v0.2", "mistral-7b"},
    {"mistral-7b-instruct-v0.3", "mistral-7b-v0.3"},
    {"mixtral", "mixtral-8x7b"},
    {"deepseek-r1", "deepseek-v3"},
    {"qwen3-moe", "qwen3-30b-a3b"},
    {"opt-13b", "opt:40,5120,40"},
    {"opt-30b", "opt:48,7168,56"},
    {"opt-66b", "opt:64,9216,72"},
    {"vit-base-patch32-224", "vit_b_32"},
    {"vit-large-patch32-224", "vit_l_32"},
    {"llama-2", "llama-2-7b"},
    {"llama-3", "llama-3-8b"},
    {"vit-base", "vit_b_16"},
    {"vit-large", "vit_l_16"},
    {"vit-huge", "vit_h_14"},
    {"vit-tiny", "vit_ti_16"},
    {"vit-small", "vit_s_16"},
    {"deit-tiny", "vit_ti_16"},
    {"deit-small", "vit_s_16"},
    {"deit-base", "vit_b_16"},
    {"convnext", "convnext_tiny"},
    {"dqn", "nature-dqn"},
    {"mb1-ssd", "mobilenet-v1-ssd"},
};

/* The part of a pattern or name before the colon. Caller frees. */
static char *before_colon(const char *name)
{
    return g_strndup(name, strcspn(name, ":"));
}

/* As it is written, or in any spelling: then "opt-13b" is "opt-1.3b". */
static bool is_named(const char *own, const char *name, bool exactly)
{
    return exactly ? g_ascii_strcasecmp(own, name) == 0 : orch_name_is_same(own, name);
}

/* Finds a family by its name. `has_argument`: only families with an argument. */
static const struct orch_net_family *find_spelled(const char *name, bool has_argument, bool exactly)
{
    for (const struct orch_net_family *family = ZOO; family->pattern; family++) {
        g_autofree char *own = before_colon(family->pattern);
        if (is_named(own, name, exactly) && (strchr(family->pattern, ':') || !has_argument))
            return family;
    }
    return NULL;
}

/* Finds a family by its name or an alternative one, which may have sizes. */
static const struct orch_net_family *find_known(const char *name, const char **out_argument,
                                                bool exactly)
{
    const char *colon = strchr(name, ':');
    g_autofree char *own = before_colon(name);
    *out_argument = colon ? colon + 1 : NULL;
    const struct orch_net_family *found = find_spelled(own, colon, exactly);
    for (size_t i = 0; !found && i < G_N_ELEMENTS(ALIASES); i++) {
        const char *sizes = strchr(ALIASES[i][1], ':');
        g_autofree char *base = before_colon(ALIASES[i][1]);
        if (!is_named(ALIASES[i][0], own, exactly) || (sizes && colon))
            continue;
        found = find_spelled(base, colon || sizes, true);
        *out_argument = sizes ? sizes + 1 : *out_argument;
    }
    return found;
}

static const struct orch_net_family *find_family(const char *name, const char **out_argument);

/* "openai-community/gpt2" of Hugging Face's hub; "ViT-B/16" of papers. */
static const struct orch_net_family *find_published(const char *name, const char **out_argument)
{
    const char *slash = strchr(name, '/');
    if (!slash || slash == name || !slash[1] || strchr(slash + 1, '/') || *name == '.')
        return NULL;
    const struct orch_net_family *found = find_family(slash + 1, out_argument);
    g_autofree char *joined = g_strdup(name);
    joined[slash - name] = '-';
    return found || strchr(name, ':') ? found : find_family(joined, out_argument);
}

/* Finds the family for `name`, and the text after its colon (or NULL). Networks that were tuned
 * further have their base's sizes. */
static const struct orch_net_family *find_family(const char *name, const char **out_argument)
{
    static const char *const tuned[] = {"-hf",       "-base", "-chat", "-instruct", "-2507",
                                        "-thinking", "-v0.1", "-v1.0", "-0324",     "-patch16-224"};
    const struct orch_net_family *found = find_known(name, out_argument, true);
    found = found ? found : find_known(name, out_argument, false);
    found = found ? found : find_published(name, out_argument);
    for (size_t i = 0; !found && i < G_N_ELEMENTS(tuned); i++) {
        g_autofree char *lower = g_ascii_strdown(name, -1);
        size_t length = strlen(name) - (g_str_has_suffix(lower, tuned[i]) ? strlen(tuned[i]) : 0);
        g_autofree char *base = g_strndup(name, length);
        found = name[length] ? find_family(base, out_argument) : NULL;
    }
    return found;
}

char *orch_net_canonical_name(const char *name)
{
    const char *argument;
    const struct orch_net_family *family = find_family(name, &argument);
    if (!family || (argument && !*argument))
        return NULL;
    g_autofree char *own = before_colon(family->pattern);
    return argument ? g_strconcat(own, ":", argument, NULL) : g_strdup(own);
}

/* The first network whose name begins with `name`, however that is spelled ("wide resnet"). */
static const char *first_beginning(const char *name, const char *const *names)
{
    g_autofree char *begin = orch_name_key(name);
    for (; strlen(begin) > 2 && *names; names++) {
        g_autofree char *key = orch_name_key(*names);
        if (g_str_has_prefix(key, begin))
            return *names;
    }
    return NULL;
}

/* Appends up to three further networks that begin as the name does. */
static void append_others(GString *hint, const char *name, const char *near, const char *lead)
{
    g_autofree char *key = orch_name_key(name);
    int count = 0;
    if (strlen(key) < 3)
        return;
    key[3] = '\0';
    for (unsigned i = 0; ZOO[i].pattern && count < 3; i++) {
        g_autofree char *own = orch_name_key(ZOO[i].pattern);
        if (strcmp(ZOO[i].pattern, near) != 0 && g_str_has_prefix(own, key))
            g_string_append_printf(hint, "%s'%s'", count++ ? ", " : lead, ZOO[i].pattern);
    }
}

static void unknown_name(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(ZOO) + 1] = {NULL};
    for (unsigned i = 0; i < G_N_ELEMENTS(ZOO); i++)
        names[i] = ZOO[i].pattern;
    const char *near = orch_suggest(name, names);
    near = near ? near : first_beginning(name, names);
    GString *hint = g_string_new(NULL);
    if (near) {
        g_string_printf(hint, "did you mean '%s'?", near);
        append_others(hint, name, near, " others like it: ");
    } else {
        g_string_assign(hint, "'orch net ls' lists the networks that are known");
        append_others(hint, name, "", ", among them ");
    }
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint->str, "unknown network '%s'", name);
    g_string_free(hint, TRUE);
}

/* The request, with the family's defaults filled in. */
struct request {
    const struct orch_net_family *family;
    const char *name, *argument;
    struct orch_net_shape input;
    int64_t classes;
};

static struct orch_net *build(const struct request *request, bool *out_too_small, GError **error)
{
    struct orch_net_builder b;
    orch_net_builder_init(&b, request->name, request->family->pattern, request->input,
                          request->classes);
    const struct orch_net_family *family = request->family;
    family->build(&b, request->argument ? request->argument : family->sizes, family->variant);
    *out_too_small = b.is_too_small;
    struct orch_net *net = orch_net_builder_finish(&b, error);
    if (net && !orch_net_counts_check(net, 1, error))
        g_clear_pointer(&net, orch_net_free);
    return net;
}

static bool fits(struct request request, int64_t side)
{
    bool is_too_small = false;
    request.input.h = request.input.w = side;
    orch_net_free(build(&request, &is_too_small, NULL));
    return !is_too_small;
}

/* Finds the smallest square input: the first power of two that fits, then bisection below it. */
static int64_t smallest_side(const struct request *request)
{
    int64_t high = 1;
    while (!fits(*request, high))
        high *= 2;
    for (int64_t low = high / 2; high - low > 1;) {
        int64_t middle = (low + high) / 2;
        if (fits(*request, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

#define SIDE_MAX 16384
#define TOKENS_MAX (1 << 20) /* a sequence is an input of one column */

static bool check_range(const struct request *request, GError **error)
{
    const struct orch_net_shape *input = &request->input;
    int64_t rows_max = input->w == 1 ? TOKENS_MAX : SIDE_MAX;
    if (input->c >= 1 && input->c <= 4096 && input->h >= 1 && input->h <= rows_max &&
        input->w >= 1 && input->w <= SIDE_MAX && request->classes >= 1 &&
        request->classes <= 1000000)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "use 1 to 4096 channels, 1 to 16384 rows and columns (sequences: 1048576 "
                   "tokens), and 1 to 1000000 classes",
                   "network '%s': an input of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   "x%" G_GINT64_FORMAT " with %" G_GINT64_FORMAT " classes is out of range",
                   request->name, input->c, input->h, input->w, request->classes);
    return false;
}

/* Tokens are a column; images have rows and columns. A multilayer perceptron takes any values. */
static bool check_kind(const struct request *request, GError **error)
{
    const struct orch_net_shape *input = &request->input;
    bool is_of_tokens = request->family->positions > 0;
    if (is_of_tokens
            ? input->c == 1 && input->w == 1
            : input->w != 1 || input->h == 1 || g_str_has_prefix(request->family->pattern, "mlp"))
        return true;
    g_autofree char *given = orch_net_shape_format(*input);
    g_autofree char *usual = orch_net_shape_format(request->family->input);
    g_autofree char *hint = g_strdup_printf("its usual input is %s", usual);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "network '%s' takes %s, but the input %s is not one", request->name,
                   is_of_tokens ? "a sequence of tokens (1xTx1)" : "an image", given);
    return false;
}

struct orch_net *orch_net_make(const struct orch_net_options *options, GError **error)
{
    g_autofree char *name = orch_net_canonical_name(options->name);
    if (!name) {
        unknown_name(options->name, error);
        return NULL;
    }
    struct request request = {.name = name};
    request.family = find_family(name, &request.argument);
    const struct orch_net_shape *usual = &request.family->input;
    request.input = (struct orch_net_shape){options->channels ? options->channels : usual->c,
                                            options->height ? options->height : usual->h,
                                            options->width ? options->width : usual->w};
    request.classes = options->classes ? options->classes : request.family->classes;
    if (!check_kind(&request, error) || !check_range(&request, error))
        return NULL;
    bool is_too_small = false;
    g_autoptr(GError) why = NULL;
    struct orch_net *net = build(&request, &is_too_small, &why);
    if (net) {
        net->positions = strchr(options->name, ':') ? 0 : request.family->positions;
        return net;
    }
    if (!is_too_small) {
        g_propagate_error(error, g_steal_pointer(&why));
        return NULL;
    }
    int64_t side = smallest_side(&request);
    g_autofree char *hint = g_strdup_printf("its smallest input is %" G_GINT64_FORMAT
                                            "x%" G_GINT64_FORMAT "; small images: resnet-cifar:20",
                                            side, side);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s", why->message);
    return NULL;
}
