/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 and sizes of data sets are those that TensorFlow Datasets checks; MD5 are from the
 * authors' pages. Torchvision publishes the first eight digits of the SHA-256 in the file names. */
#include "lib/data/catalogue.h"

#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

#define FASHION "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
#define MNIST_A "https://storage.googleapis.com/cvdf-datasets/mnist/"
#define MNIST_B "https://ossci-datasets.s3.amazonaws.com/mnist/"
#define CIFAR "https://www.cs.toronto.edu/~kriz/"
#define DECATHLON "http://www.robots.ox.ac.uk/~vgg/share/decathlon-1.0-data.tar.gz"
#define VOC "http://host.robots.ox.ac.uk/pascal/VOC/voc2007/"
#define VOC_MIRROR "https://pjreddie.com/media/files/"
#define OPEN_IMAGES "https://storage.googleapis.com/openimages/"
#define PYTORCH "https://download.pytorch.org/models/"

/* clang-format off: one file, one line */
#define FASHION_FILE(file, size, sha, sum)                                                         \
    {                                                                                              \
        .urls = {FASHION file}, .path = "fashion-mnist/" file, .bytes = size, .sha256 = sha,       \
        .md5 = sum                                                                                 \
    }
#define MNIST_FILE(file, size, sha, sum)                                                           \
    {                                                                                              \
        .urls = {MNIST_A file, MNIST_B file}, .path = "mnist/" file, .bytes = size, .sha256 = sha, \
        .md5 = sum                                                                                 \
    }
#define DECATHLON_SET(set, folder, words, terms, source)                                           \
    {                                                                                              \
        .name = set, .kind = ORCH_DATA_SET, .about = words ", Visual Decathlon, short side 72",    \
        .licence = terms, .citation = source "; Rebuffi et al. 2017 (Visual Decathlon)",           \
        .files = {                                                                                 \
            {.urls = {DECATHLON},                                                                  \
             .path = "archives/decathlon-1.0-data.tar.gz",                                         \
             .bytes = 406351554,                                                                   \
             .sha256 = "8eca928bda025d855c91a78db45b3b18bc322efd7b1462a041e62c27b3c83c25",         \
             .member = folder ".tar",                                                              \
             .top = folder,                                                                        \
             .into = set,                                                                          \
             .shared = true}                                                                       \
        }                                                                                          \
    }
/* A file consists almost entirely of its parameters with 4 bytes each. */
#define WEIGHTS(called, file, digits, parameters, words)                                           \
    {                                                                                              \
        .name = called, .kind = ORCH_DATA_WEIGHTS, .about = words,                                 \
        .licence = "BSD-3-Clause (torchvision); trained on ImageNet, which is for research",       \
        .citation = "torchvision", .about_bytes = INT64_C(4) * parameters, .files = {              \
            {.urls = {PYTORCH file "-" digits ".pth"},                                             \
             .path = "weights/" file "-" digits ".pth",                                            \
             .sha256 = digits}                                                                     \
        }                                                                                          \
    }

static const struct orch_data_entry CATALOGUE[] = {
    {.name = "fashion-mnist",
     .kind = ORCH_DATA_SET,
     .about = "70,000 grey images of clothes, 28x28, 10 classes",
     .licence = "MIT",
     .citation = "Xiao, Rasul and Vollgraf 2017, arXiv:1708.07747",
     .package = "dataset-fashion-mnist",
     .files = {FASHION_FILE("train-images-idx3-ubyte.gz", 26421880,
                            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                            "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
               FASHION_FILE("train-labels-idx1-ubyte.gz", 29515,
                            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                            "25c81989df183df01b3e8a0aad5dffbe"),
               FASHION_FILE("t10k-images-idx3-ubyte.gz", 4422102,
                            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                            "bef4ecab320f06d8554ea6380940ec79"),
               FASHION_FILE("t10k-labels-idx1-ubyte.gz", 5148,
                            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
                            "bb300cfdad3c16e7a12a480ee83cd310")}},
    {.name = "mnist",
     .kind = ORCH_DATA_SET,
     .about = "70,000 grey images of digits, 28x28, 10 classes",
     .licence = "CC-BY-SA-3.0",
     .citation = "LeCun, Bottou, Bengio and Haffner 1998",
     .files = {MNIST_FILE("train-images-idx3-ubyte.gz", 9912422,
                          "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                          "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
               MNIST_FILE("train-labels-idx1-ubyte.gz", 28881,
                          "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                          "d53e105ee54ea40749a09fcbcd1e9432"),
               MNIST_FILE("t10k-images-idx3-ubyte.gz", 1648877,
                          "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                          "9fb629c4189551a2d022fa330f9573f3"),
               MNIST_FILE("t10k-labels-idx1-ubyte.gz", 4542,
                          "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                          "ec29112dd5afa0611ce80d1b7f02629c")}},
    {.name = "cifar10",
     .kind = ORCH_DATA_SET,
     .about = "60,000 colour images, 32x32, 10 classes",
     .licence = "none stated",
     .citation = "Krizhevsky 2009, Learning Multiple Layers of Features",
     .files = {{.urls = {CIFAR "cifar-10-binary.tar.gz"},
                .path = "archives/cifar-10-binary.tar.gz",
                .bytes = 170052171,
                .sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                .md5 = "c32a1d4ab5d03f1284b67883e8d87530",
                .top = "cifar-10-batches-bin",
                .into = "cifar10/cifar-10-batches-bin"}}},
    {.name = "cifar100",
     .kind = ORCH_DATA_SET,
     .about = "60,000 colour images, 32x32, 100 classes",
     .licence = "none stated",
     .citation = "Krizhevsky 2009, Learning Multiple Layers of Features",
     .files = {{.urls = {CIFAR "cifar-100-binary.tar.gz"},
                .path = "archives/cifar-100-binary.tar.gz",
                .bytes = 168513733,
                .sha256 = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
                .md5 = "03b5dce01913d631647c71ecec9e9cb8",
                .top = "cifar-100-binary",
                .into = "cifar100/cifar-100-binary"}}},
    DECATHLON_SET("aircraft", "aircraft", "10,000 photographs of aircraft, 100 variants",
                  "non-commercial research", "Maji et al. 2013 (FGVC-Aircraft)"),
    DECATHLON_SET("decathlon-cifar100", "cifar100", "60,000 images, 100 classes", "none stated",
                  "Krizhevsky 2009"),
    DECATHLON_SET("daimlerpedcls", "daimlerpedcls", "pedestrians or none, 2 classes",
                  "non-commercial research", "Munder and Gavrila 2006"),
    DECATHLON_SET("dtd", "dtd", "5,640 textures, 47 classes", "research",
                  "Cimpoi et al. 2014 (DTD)"),
    DECATHLON_SET("gtsrb", "gtsrb", "51,839 German traffic signs, 43 classes", "none stated",
                  "Stallkamp et al. 2012"),
    DECATHLON_SET("omniglot", "omniglot", "32,460 handwritten characters, 1,623 classes", "MIT",
                  "Lake et al. 2015"),
    DECATHLON_SET("svhn", "svhn", "99,289 house numbers, 10 classes", "non-commercial",
                  "Netzer et al. 2011"),
    DECATHLON_SET("ucf101", "ucf101", "13,320 videos of actions as dynamic images, 101 classes",
                  "none stated", "Soomro et al. 2012; Bilen et al. 2016"),
    DECATHLON_SET("vgg-flowers", "vgg-flowers", "8,189 flowers, 102 classes", "none stated",
                  "Nilsback and Zisserman 2008"),
    {.name = "voc2007",
     .kind = ORCH_DATA_SET,
     .about = "9,963 photographs with boxes of 24,640 objects, 20 classes",
     .licence = "flickr's terms of use; research",
     .citation = "Everingham et al. 2010, The PASCAL Visual Object Classes Challenge",
     .files = {{.urls = {VOC "VOCtrainval_06-Nov-2007.tar",
                         VOC_MIRROR "VOCtrainval_06-Nov-2007.tar"},
                .path = "archives/VOCtrainval_06-Nov-2007.tar",
                .bytes = 460032000,
                .md5 = "c52e279531787c972589f7e41ab4ae64",
                .top = "VOCdevkit/VOC2007",
                .into = "voc2007/trainval"},
               {.urls = {VOC "VOCtest_06-Nov-2007.tar", VOC_MIRROR "VOCtest_06-Nov-2007.tar"},
                .path = "archives/VOCtest_06-Nov-2007.tar",
                .bytes = 451020800,
                .md5 = "b6e924de25625d8de591ea690078ad9f",
                .top = "VOCdevkit/VOC2007",
                .into = "voc2007/test"}}},
    {.name = "open-images",
     .kind = ORCH_DATA_SET,
     .about = "boxes in 167,056 photographs, 601 classes; the images by hand: 'orch help data'",
     .licence = "CC-BY-4.0 (boxes), CC-BY-2.0 (images)",
     .citation = "Kuznetsova et al. 2020, The Open Images Dataset V4",
     .about_bytes = 102000000,
     .files = {{.urls = {OPEN_IMAGES "v5/class-descriptions-boxable.csv"},
                .path = "open-images/class-descriptions-boxable.csv"},
               {.urls = {OPEN_IMAGES "v5/validation-annotations-bbox.csv"},
                .path = "open-images/validation-annotations-bbox.csv"},
               {.urls = {OPEN_IMAGES "v5/test-annotations-bbox.csv"},
                .path = "open-images/test-annotations-bbox.csv"}}},
    WEIGHTS("alexnet", "alexnet-owt", "7be5be79", 61100840, "AlexNet"),
    WEIGHTS("densenet121", "densenet121", "a639ec97", 7978856, "DenseNet-121"),
    WEIGHTS("densenet161", "densenet161", "8d451a50", 28681000, "DenseNet-161"),
    WEIGHTS("densenet169", "densenet169", "b2777c0a", 14149480, "DenseNet-169"),
    WEIGHTS("densenet201", "densenet201", "c1103571", 20013928, "DenseNet-201"),
    WEIGHTS("googlenet", "googlenet", "1378be20", 13004888, "GoogLeNet with auxiliary heads"),
    WEIGHTS("inception_v3", "inception_v3_google", "0cc3c7bd", 27161264, "Inception v3"),
    WEIGHTS("mobilenet_v2", "mobilenet_v2", "b0353104", 3504872, "MobileNet v2"),
    WEIGHTS("mobilenet_v2-v2", "mobilenet_v2", "7ebf99e0", 3504872, "MobileNet v2, new recipe"),
    WEIGHTS("resnet18", "resnet18", "f37072fd", 11689512, "ResNet-18"),
    WEIGHTS("resnet34", "resnet34", "b627a593", 21797672, "ResNet-34"),
    WEIGHTS("resnet50", "resnet50", "0676ba61", 25557032, "ResNet-50"),
    WEIGHTS("resnet50-v2", "resnet50", "11ad3fa6", 25557032, "ResNet-50, new recipe"),
    WEIGHTS("resnet101", "resnet101", "63fe2227", 44549160, "ResNet-101"),
    WEIGHTS("resnet101-v2", "resnet101", "cd907fc2", 44549160, "ResNet-101, new recipe"),
    WEIGHTS("resnet152", "resnet152", "394f9c45", 60192808, "ResNet-152"),
    WEIGHTS("resnet152-v2", "resnet152", "f82ba261", 60192808, "ResNet-152, new recipe"),
    WEIGHTS("squeezenet1_0", "squeezenet1_0", "b66bff10", 1248424, "SqueezeNet 1.0"),
    WEIGHTS("squeezenet1_1", "squeezenet1_1", "b8a52dc0", 1235496, "SqueezeNet 1.1"),
    WEIGHTS("vgg11", "vgg11", "8a719046", 132863336, "VGG-11"),
    WEIGHTS("vgg13", "vgg13", "19584684", 133047848, "VGG-13"),
    WEIGHTS("vgg16", "vgg16", "397923af", 138357544, "VGG-16"),
    WEIGHTS("vgg19", "vgg19", "dcbb9e9d", 143667240, "VGG-19"),
    {0}};
/* clang-format on */

const struct orch_data_entry *orch_data_catalogue(void)
{
    return CATALOGUE;
}

/* Alternative names of data sets. */
static const char *const SET_ALIASES[][2] = {
    {"imagenet1k", "imagenet"}, {"imagenet2012", "imagenet"}, {"ilsvrc2012", "imagenet"},
    {"ilsvrc", "imagenet"},     {"fmnist", "fashion-mnist"},
};

bool orch_data_set_is_named(const char *set, const char *name)
{
    if (orch_name_is_same(set, name))
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(SET_ALIASES); i++)
        if (strcmp(SET_ALIASES[i][1], set) == 0 && orch_name_is_same(SET_ALIASES[i][0], name))
            return true;
    return false;
}

const struct orch_data_entry *orch_data_find(const char *name)
{
    for (const struct orch_data_entry *entry = CATALOGUE; entry->name; entry++)
        if (orch_data_set_is_named(entry->name, name))
            return entry;
    return NULL;
}

char *orch_data_suggest(const char *name)
{
    const char *names[G_N_ELEMENTS(CATALOGUE)];
    for (unsigned i = 0; i < G_N_ELEMENTS(CATALOGUE); i++)
        names[i] = CATALOGUE[i].name; /* the last one is NULL */
    return orch_suggest_hint(name, names);
}

int64_t orch_data_bytes(const struct orch_data_entry *entry, bool *out_exact)
{
    int64_t bytes = 0;
    bool exact = true;
    for (const struct orch_data_file *file = entry->files; file->path; file++) {
        bytes += file->bytes;
        exact = exact && file->bytes > 0;
    }
    if (out_exact)
        *out_exact = exact;
    return exact ? bytes : entry->about_bytes;
}

char *orch_data_cache(void)
{
    const char *env = g_getenv("ORCH_DATA");
    if (env && *env)
        return g_canonicalize_filename(env, NULL);
    return g_build_filename(g_get_user_cache_dir(), "orch", "data", NULL);
}

GPtrArray *orch_data_places(const char *root)
{
    GPtrArray *places = g_ptr_array_new_with_free_func(g_free);
    const char *env = g_getenv("ORCH_DATA");
    if (root && *root) {
        g_ptr_array_add(places, g_strdup(root));
        return places;
    }
    if (env && *env)
        g_ptr_array_add(places, g_canonicalize_filename(env, NULL));
    g_ptr_array_add(places, g_build_filename(g_get_user_cache_dir(), "orch", "data", NULL));
    g_ptr_array_add(places, g_strdup("/usr/share/datasets"));
    return places;
}

const char *orch_data_kept(const struct orch_data_file *file)
{
    return file->top ? file->into : file->path;
}

/* True if the file exists at the place, possibly without its .gz compression. */
static bool is_in(const char *place, const struct orch_data_file *file)
{
    g_autofree char *path = g_build_filename(place, orch_data_kept(file), NULL);
    if (access(path, F_OK) == 0)
        return true;
    if (file->top || !g_str_has_suffix(path, ".gz"))
        return false;
    path[strlen(path) - strlen(".gz")] = '\0';
    return access(path, F_OK) == 0;
}

static char *locate_in(const struct orch_data_entry *entry, const char *place)
{
    for (const struct orch_data_file *file = entry->files; file->path; file++)
        if (!is_in(place, file))
            return NULL;
    if (entry->kind == ORCH_DATA_WEIGHTS)
        return g_build_filename(place, entry->files[0].path, NULL);
    return g_build_filename(place, entry->name, NULL);
}

/* Finds the file in torchvision's cache, which uses the same names. */
static char *locate_in_torch(const struct orch_data_entry *entry)
{
    const char *home = g_getenv("TORCH_HOME");
    g_autofree char *usual = g_build_filename(g_get_user_cache_dir(), "torch", NULL);
    g_autofree char *base = g_path_get_basename(entry->files[0].path);
    char *path = g_build_filename(home && *home ? home : usual, "hub", "checkpoints", base, NULL);
    if (access(path, F_OK) != 0)
        g_clear_pointer(&path, g_free);
    return path;
}

char *orch_data_locate(const struct orch_data_entry *entry, const char *cache)
{
    g_autoptr(GPtrArray) places = orch_data_places(NULL);
    if (cache)
        g_ptr_array_insert(places, 0, g_strdup(cache));
    for (guint i = 0; i < places->len; i++) {
        char *path = locate_in(entry, places->pdata[i]);
        if (path)
            return path;
    }
    return entry->kind == ORCH_DATA_WEIGHTS ? locate_in_torch(entry) : NULL;
}
