/* node.c - a node of the combine tree: the fold of some elements, by one of our reducers or a
 * user's.
 *
 * A node is a count of elements and, if there are any, the reducer's state.  Nodes of single blocks
 * are merged to nodes of more; `tree` is the code for them, `code` the code within a block.
 * Without `code` the reducer is a user's.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/cpu/reference/node.h"
#include "core/combine_tree.h"
#include "kernels/math/prefix_sums.h"
#include <string.h>

/* Returns a pointer to the count of elements of a node, its first 8 bytes. */
static int64_t *count(void *node)
{
    return node;
}

/* Returns how many elements a node of the combine tree has. */
static int64_t elements(const void *node)
{
    return *(const int64_t *)node;
}

/* Returns the state (accumulator) of the reducer in a node, to be changed. */
static void *state(const rd_node_info *info, void *node)
{
    return (char *)node + info->state;
}

/* Returns the state (accumulator) of the reducer in a node. */
static const void *state_of(const rd_node_info *info, const void *node)
{
    return (const char *)node + info->state;
}

/* Adds one element x, with its second operand w, to the state of a user's reducer, in the types
 * that it takes.  `first`: the state must be initialised before. */
static void user_step(const rd_reducer *user, void *s, rd_word x, rd_word w, bool first, int64_t i)
{
    _Alignas(16) char memory[16], second[16];

    if (first)
        user->init(s);
    rd_word_store(memory, user->in, x);
    if (user->step2) {
        rd_word_store(second, user->in2, w);
        user->step2(s, /*n=*/1, memory, /*stride=*/1, second, /*stride2=*/1, i);
    } else
        user->step(s, /*n=*/1, memory, /*stride=*/1, i);
}

/* Sets y to the results of a user's reducer.  Results are written to `spare` in the type that the
 * reducer gives (out), and loaded from there.  A node without elements gets an initialised state,
 * behind them in `spare`. */
static void user_finish(const rd_node_info *info, const void *node, char *spare, rd_word *y)
{
    const rd_reducer *user  = info->fold->user;
    char             *empty = spare + info->spare_bytes - (info->bytes - info->state);
    const void       *s     = state_of(info, node);

    if (!elements(node)) {
        user->init(empty);
        s = empty;
    }
    user->finish(s, spare);
    for (int32_t k = 0; k < user->n_out; k++)
        y[k] = rd_word_load(spare + (int64_t)k * rd_dtype_size(user->out), user->out);
}

/* Returns the greatest (high) or least value of a type: the identity of min or max, which any
 * element replaces. Registers have 64 bits, of which narrow ints leave the high ones unused. */
rd_word rd_fold_extreme(rd_dtype type, bool high)
{
    const int unused = 64 - 8 * rd_dtype_size(type);

    switch (rd_dtype_kind(type)) {
    case RD_KIND_BOOL: return (rd_word){ .u64 = high };
    case RD_KIND_UINT: return (rd_word){ .u64 = high ? UINT64_MAX >> unused : 0 };
    case RD_KIND_INT:
        return (rd_word){ .i64 = high ? INT64_MAX >> unused : -(INT64_MAX >> unused) - 1 };
    case RD_KIND_FLOAT:
    case RD_KIND_COMPLEX: break; /* loops know none */
    }
    return rd_word_from_double(high ? INFINITY : -INFINITY, type);
}

/* Converts results to the type that the fold has asked for; positions (argmin, argmax) are i64
 * before. */
static void to_results(const rd_fold *fold, rd_word *y)
{
    const rd_dtype type = rd_reducer_places(fold->reducer) ? RD_I64 : fold->type;

    for (int32_t k = 0; fold->out != type && k < fold->n_out; k++)
        y[k] = rd_word_convert(y[k], type, fold->out);
}

/* Sets y to the results of a fold without elements: those of `empty` if the reducer has them (NaN
 * of a minimum, say), unless the caller has asked for the identity. */
void rd_fold_of_nothing(const rd_fold *fold, rd_word *y)
{
    const rd_reducer_code *code = rd_reducer_code_of(fold->reducer, rd_dtype_class(fold->type));
    rd_word                s[RD_MAX_STATE];

    if (rd_reducer_table[fold->reducer].empty && !fold->identity) {
        code->empty(y);
    } else {
        code->identity(s, fold->type);
        code->finish(s, fold->ddof, /*whole=*/0, y);
    }
    to_results(fold, y);
}

/* Returns the layout of a node, and the code for it: the state lies behind the count; a user's at a
 * multiple of 16, with room for vectors. Spare memory is for a user's results, and behind them a
 * state. */
rd_node_info rd_node_info_of(const rd_fold *fold)
{
    rd_node_info info = { .fold = fold };

    if (fold->user) {
        const int64_t bytes = (fold->user->state_size + 15) / 16 * 16;

        info.state = 16;
        info.bytes = info.state + bytes;
        info.spare_bytes =
            ((int64_t)fold->user->n_out * rd_dtype_size(fold->user->out) + 15) / 16 * 16 + bytes;
    } else {
        info.code  = rd_reducer_code_of(fold->reducer, rd_dtype_class(fold->type));
        info.wide  = rd_fold_widens(fold);
        info.pair  = rd_fold_has_pairs(fold);
        info.tree  = info.wide ? rd_reducer_code_of(fold->reducer, RD_CLASS_f64) : info.code;
        info.state = 8;
        info.bytes =
            info.state + 8 * (int64_t)(rd_reducer_table[fold->reducer].n_state + info.pair);
    }
    return info;
}

/* Empties a node: without elements its state has no meaning. */
void rd_node_clear(void *node)
{
    *count(node) = 0;
}

/* Copies a node; an empty one has no state to copy. */
void rd_node_copy(const rd_node_info *info, void *to, const void *from)
{
    if (elements(from))
        memcpy(to, from, (size_t)info->bytes);
    else
        rd_node_clear(to);
}

/* Adds one element with its weight and flat index to a node.  The first element begins the
 * state. */
void rd_node_step(const rd_node_info *info, void *node, rd_word x, rd_word weight, int64_t i)
{
    const bool first = (*count(node))++ == 0;

    if (!info->code)
        user_step(info->fold->user, state(info, node), x, weight, first, i);
    else if (first)
        info->code->first(state(info, node), x, weight, i);
    else
        info->code->step(state(info, node), x, weight, i);
}

/* Adds n elements by one call of a user's reducer; i is the flat index of the first one. */
void rd_node_steps(const rd_node_info *info, void *node, int64_t n, const rd_node_elements *x,
                   int64_t i)
{
    const rd_reducer *user = info->fold->user;

    if (n > 0 && *count(node) == 0)
        user->init(state(info, node));
    if (n > 0 && user->step2)
        user->step2(state(info, node), n, x->at, x->stride, x->second, x->along, i);
    else if (n > 0)
        user->step(state(info, node), n, x->at, x->stride, i);
    *count(node) += n;
}

/* True if the test of a user's reducer says of the state of a node that no further element counts
 * (early exit). */
bool rd_node_is_decided(const rd_node_info *info, const void *node)
{
    return elements(node) && info->fold->user->done(state_of(info, node));
}

/* Turns the finished node of a block into one that can be merged.  Sums of f32 (wide) go on in
 * f64. */
void rd_node_block(const rd_node_info *info, void *node)
{
    rd_word *s = state(info, node);

    if (!info->code || !elements(node))
        return;
    info->code->block(s);
    if (info->wide)
        s->f64 = s->f32;
}

/* Merges node b into node a by the given code; NULL: by the user's reducer.  A node without
 * elements is left out. */
static void merge_as(const rd_node_info *info, const rd_reducer_code *code, void *a, const void *b)
{
    if (!elements(b))
        return;
    if (!elements(a)) {
        rd_node_copy(info, a, b);
        return;
    }
    if (code)
        code->merge(state(info, a), state_of(info, b));
    else
        info->fold->user->merge(state(info, a), state_of(info, b));
    *count(a) += elements(b);
}

/* Merges node b, of later elements of the same block, into node a, in the type of the elements. */
void rd_node_merge_in_block(const rd_node_info *info, void *a, const void *b)
{
    merge_as(info, info->code, a, b);
}

/* Merges node b, of later blocks, into node a, in the type of finished blocks (f64 for sums of
 * f32). */
void rd_node_merge(const rd_node_info *info, void *a, const void *b)
{
    merge_as(info, info->tree, a, b);
}

/* Merges the state b of a lane, which has elements, into the state s. */
typedef void lanes_fn(rd_word *s, const rd_word *b);

/* Merges the node of lane b into that of lane a by `take`, unless one has no elements. */
static void take_lane(const rd_node_info *info, lanes_fn *take, void *a, const void *b)
{
    if (!elements(b))
        return;
    if (!elements(a)) {
        rd_node_copy(info, a, b);
        return;
    }
    take(state(info, a), state_of(info, b));
    *count(a) += elements(b);
}

/* Merges the nodes of lanes (accumulators of one result) by halves: lane l takes lane l + h for h =
 * lanes/2 .. 1, by `take`; NULL: as blocks merge. */
static void halve(const rd_node_info *info, lanes_fn *take, char *first, int32_t lanes)
{
    for (int32_t half = lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half; l++) {
            void *const a = first + l * info->bytes, *const b = first + (l + half) * info->bytes;

            if (take)
                take_lane(info, take, a, b);
            else
                rd_node_merge(info, a, b);
        }
}

/* Merges the contiguous nodes of lanes (accumulators of one result) into the first one.  Some
 * reducers (logsumexp) first find a common value of all lanes (pick), align every lane with it, and
 * add them.  The common value is found in copies (picked). */
void rd_node_merge_lanes(const rd_node_info *info, void *first, int32_t lanes)
{
    const rd_fold       *fold = info->fold;
    const rd_lanes_code *code =
        info->code ? rd_lanes_code_of(fold->reducer, rd_dtype_class(fold->type)) : NULL;
    _Alignas(16) char picked[RD_TREE_LANES * 8 * (1 + RD_MAX_STATE)];

    if (!code || lanes == 1) {
        halve(info, /*take=*/NULL, first, lanes);
        return;
    }
    memcpy(picked, first, (size_t)(lanes * info->bytes));
    halve(info, code->pick, picked, lanes);
    for (int32_t l = 0; l < lanes; l++) {
        char *const node = (char *)first + l * info->bytes;

        if (elements(node))
            code->align(state(info, node), state_of(info, picked));
    }
    halve(info, code->add, first, lanes);
}

/* Returns the two words of a running sum before a block, high and low part; both -0 if there is no
 * block before. */
static rd_word *two_words(const rd_node_info *info, void *before)
{
    rd_word *s = state(info, before);

    if (!elements(before))
        s[0] = s[1] = rd_word_from_double(-0.0, info->fold->type);
    return s;
}

/* Adds a finished block to what a scan has before it (the carry).  Running sums of floats (pair)
 * keep two words; an empty block adds -0, which changes nothing.  `words` are sums of earlier
 * blocks, which are added by a tree (prefix_sums.h); `number` is that of the block. */
void rd_node_take_block(const rd_node_info *info, void *before, int64_t number, const void *block,
                        double *words)
{
    if (!info->pair) {
        rd_node_merge(info, before, block);
        return;
    }
    rd_word       *s            = two_words(info, before);
    const rd_word *x            = state_of(info, block);
    const bool     has_elements = elements(block) > 0;

    if (rd_dtype_class(info->fold->type) == RD_CLASS_f32)
        rd_take_blocks_f32(/*n=*/1, number, words, /*pitch=*/1,
                           has_elements ? &x->f32 : &(float){ -0.0F }, &s[0].f32, &s[1].f32);
    else
        rd_take_blocks_f64(/*n=*/1, number, words, /*pitch=*/1,
                           has_elements ? &x->f64 : &(double){ -0.0 }, &s[0].f64, &s[1].f64);
    *count(before) += elements(block);
}

/* Adds the prefix of the current block to the blocks before it, for a result of a scan. s[0] and
 * s[1] are the high and the low part of the sum before; s[0] gets the result. */
void rd_node_merge_prefix(const rd_node_info *info, void *before, const void *prefix)
{
    if (!info->pair) {
        rd_node_merge(info, before, prefix);
        return;
    }
    rd_word       *s = two_words(info, before);
    const rd_word *x = state_of(info, prefix);

    if (rd_dtype_class(info->fold->type) == RD_CLASS_f32)
        s->f32 = s[0].f32 + (s[1].f32 + (elements(prefix) ? x->f32 : -0.0F));
    else
        s->f64 = s[0].f64 + (s[1].f64 + (elements(prefix) ? x->f64 : -0.0));
    *count(before) += elements(prefix);
}

/* Sets y to the results of a node: finalises its state, and converts it to the type of the results.
 * Sums that begin with 0 have no -0: adding 0 removes the sign. */
void rd_node_finish(const rd_node_info *info, const void *node, char *spare, rd_word *y)
{
    const rd_fold *fold = info->fold;

    if (!info->code) {
        user_finish(info, node, spare, y);
        return;
    }
    if (!elements(node)) {
        rd_fold_of_nothing(fold, y);
        return;
    }
    info->tree->finish(state_of(info, node), fold->ddof, elements(node), y);
    if (info->wide)
        y->f32 = (float)y->f64;
    if (rd_fold_begins_with_0(fold) && rd_dtype_class(fold->type) == RD_CLASS_f64)
        y->f64 += 0;
    else if (rd_fold_begins_with_0(fold))
        y->f32 += 0;
    to_results(fold, y);
}
