/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decoded model while it becomes a network of lib/net: its values with their shapes, its steps
 * (nodes) in an order that can be worked off. onnx_graph.c orders, onnx_fuse.c joins steps that
 * exporters took apart, onnx_ops.c has the table of operators, onnx_layer.c and onnx_shape.c say
 * what each does, onnx.c makes the network.
 *
 * A value that depends on an input of the model belongs to a node of the network; any other is a
 * constant, and of small constants the numbers are known: that is how shapes are worked out that
 * the model computes (Shape, Gather, Concat, Reshape).
 */
#ifndef ORCH_ONNX_ONNX_GRAPH_H
#define ORCH_ONNX_ONNX_GRAPH_H

#include "lib/net/build.h"
#include "lib/onnx/onnx_file.h"

#define ONNX_RANK_MAX 8
#define ONNX_FOLD_MAX 4096                   /* elements of a constant whose numbers are known */
#define ONNX_ELEMENTS_MAX ((int64_t)1 << 40) /* of one value */

enum { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_BOOL = 9 }; /* of TensorProto.DataType */

struct onnx_value {
    const char *name; /* in the file */
    bool is_made;
    int node; /* of the network; -1: a constant */
    int type; /* TensorProto.DataType, 0: not known */
    int rank;
    int64_t dims[ONNX_RANK_MAX];
    int channel;                     /* axis of the channels; -1: none (tokens) */
    double *numbers;                 /* of a constant; NULL: not known */
    const Onnx__TensorProto *weight; /* the initializer that a constant was made of */
    const char *guess;               /* operator above it whose shape was guessed; NULL: none */
};

/** A node of the model. */
struct onnx_step {
    const Onnx__NodeProto *proto;
    const char *op;      /* "Conv"; "com.example::Foo" outside of ONNX's own operators */
    const char *name;    /* fit to be printed */
    const char **inputs; /* names; "": left out */
    const char *output;  /* its first output that has a name */
    int input_count;
    bool is_wanted; /* the model's outputs depend on it */
};

struct onnx_graph {
    const Onnx__GraphProto *proto;
    const char *file;         /* in errors */
    GArray *steps;            /* struct onnx_step */
    GArray *order;            /* int: steps that are wanted, in order */
    GPtrArray *values;        /* struct onnx_value * */
    GHashTable *value_of;     /* name: struct onnx_value * */
    GHashTable *maker_of;     /* name: index of its step + 1 */
    GHashTable *user_of;      /* name: index of its only step + 1, G_MAXINT for several */
    GHashTable *declared;     /* name: Onnx__ValueInfoProto *, what the file says of its shape */
    GHashTable *initializers; /* name: Onnx__TensorProto * */
    GHashTable *counted;      /* Onnx__TensorProto * whose parameters have a layer */
    GStringChunk *names;
    struct orch_net_shape wanted; /* of the input, 0: the model's own */
    int64_t batch;                /* what values and counts are divided by */
    int64_t work;                 /* of all layers: sums of counts stay integers */
    int64_t numbers_left;         /* of constants, that may still be worked out */
    struct orch_net_builder builder;
    struct orch_onnx_notes *notes; /* NULL: not asked for */
};

/** Checks the initializers, indexes, joins steps and orders them. `g` is zeroed but for proto,
 * file, wanted and notes; the caller releases it in any case. */
bool onnx_graph_init(struct onnx_graph *g, GError **error);
void onnx_graph_release(struct onnx_graph *g);

static inline struct onnx_step *onnx_step_at(const struct onnx_graph *g, int index)
{
    return &g_array_index(g->steps, struct onnx_step, index);
}

/** The step that makes a value, -1 for none; the only one that reads it, -1 for none or several. */
int onnx_graph_maker(const struct onnx_graph *g, const char *value);
int onnx_graph_only_user(const struct onnx_graph *g, const char *value);
/** Is it an output of the model? */
bool onnx_graph_is_output(const struct onnx_graph *g, const char *value);

/** A value by its name, NULL while nothing made it. Initializers are made when first asked for. */
struct onnx_value *onnx_graph_value(struct onnx_graph *g, const char *name);
/** A new one: rank 0, a constant without numbers. */
struct onnx_value *onnx_graph_make(struct onnx_graph *g, const char *name);
/** The value that a tensor of the file holds, into `out`. */
void onnx_value_read(struct onnx_value *out, const Onnx__TensorProto *tensor);

int64_t onnx_value_count(const struct onnx_value *v);
bool onnx_value_is_constant(const struct onnx_value *v);
/** Its shape for one image. */
struct orch_net_shape onnx_value_shape(const struct onnx_graph *g, const struct onnx_value *v);
/** "1x3x224x224"; the caller frees. */
char *onnx_value_format(const struct onnx_value *v);

/** onnx_text_clean, living as long as the graph. */
const char *onnx_text(struct onnx_graph *g, const char *text);

/** Joins what exporters took apart: GELU, SiLU, hard swish, layer norm, biases behind products. */
void onnx_fuse(struct onnx_graph *g);

/** Works a step off: its outputs, and its node of the network. */
bool onnx_step_run(struct onnx_graph *g, const struct onnx_step *step, GError **error);

const Onnx__AttributeProto *onnx_attribute(const struct onnx_step *step, const char *name);
int64_t onnx_attribute_int(const struct onnx_step *step, const char *name, int64_t otherwise);
double onnx_attribute_float(const struct onnx_step *step, const char *name, double otherwise);
bool onnx_attribute_is(const struct onnx_step *step, const char *name, const char *text);

#endif
