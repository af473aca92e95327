/* reducer_types.c - the C types of states, nodes and results of our reducers.
 *
 * A state is what a reducer remembers of its elements, one or several numbers; a node is the state
 * of a finished block.  A place is the index of an element, as argmin finds it.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/emit/reducer_parts.h"

/* True if the fold's results are places (indices of elements), as of argmin. */
bool rd_is_place(const rd_fold *f)
{
    return rd_reducer_places(f->reducer);
}

/* The C type of results.  Bools are u64 in folds. */
const char *rd_fold_type(const rd_fold *f)
{
    return f->type == RD_BOOL ? "uint64_t" : rd_register_type(f->type);
}

/* True if the state is one of the elements, or made of their bits: one number, by an operator that
 * is no arithmetic.  Sums and products leave the type. */
static bool is_like_elements(const rd_fold *f)
{
    const rd_reducer_info *r = &rd_reducer_table[f->reducer];

    return r->n_state == 1 && r->op != RD_OP_none && rd_op_table[r->op].rule != RD_RULE_ARITH;
}

/* The C type of states in a block: a narrow one for short sums (is_short), or for extremes of small
 * elements (narrow); else that of elements in registers. */
const char *rd_step_type(const rd_emit_fold *f)
{
    const char *const small =
        f->narrow && is_like_elements(f->fold) ? rd_small_type(f->fold->type) : NULL;

    return f->is_short ? rd_memory_type(f->sums) : small ? small : rd_fold_type(f->fold);
}

/* The C type of nodes: double for sums of f32 (rd_fold_widens), else that of states.  Lanes
 * (partial accumulators) of a short sum of one block are merged in the narrow type of the whole
 * sum. */
const char *rd_merge_type(const rd_emit_fold *f)
{
    if (f->is_short && f->one_block)
        return rd_memory_type(f->row_sums);
    return rd_fold_widens(f->fold) ? "double"
           : f->is_short           ? rd_fold_type(f->fold)
                                   : rd_step_type(f);
}

/* The class of types in which steps compute.  Bools are summed as u64. */
rd_class rd_step_class(const rd_fold *f)
{
    return f->type == RD_BOOL ? RD_CLASS_u64 : rd_dtype_class(f->type);
}

/* The bytes of an element in a state: as in a register.  A bool becomes a number of 8 bytes. */
static int step_size(const rd_fold *f)
{
    return f->type == RD_BOOL ? 8 : rd_register_size(f->type);
}

/* True if number k of a state is its flag `seen`, the last one. */
static bool is_flag(const rd_emit_fold *f, int k)
{
    return f->seen && k == f->n_state - 1;
}

/* The C type of places: as wide as elements, so that vectors hold as many of both; narrow if all
 * places fit. */
const char *rd_place_type(const rd_emit_fold *f)
{
    return step_size(f->fold) == 4 && f->places < INT32_MAX ? "int32_t" : "int64_t";
}

/* True if an empty fold differs from its identity, and the state does not show that no element
 * came.  A place shows it. */
static bool hides_emptiness(const rd_fold *f)
{
    return rd_reducer_table[f->reducer].empty && !rd_reducer_places(f->reducer);
}

/* True if the result of a fold without elements is the 0 that its states begin with, so that no
 * flag is needed: a sum by labels (n_group > 0), or of sparse rows (by_rows). */
static bool begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) && rd_reducer_is_sum(f->reducer);
}

/* Fills the facts of a built-in reducer. States need a flag that an element came where they may
 * meet none: by a mask, in an exclusive scan, or as lanes (partial accumulators) that have none
 * (empties). The flag is one more number of a state. `bytes`: a number has at most 8 bytes in
 * memory. */
void rd_emit_facts(rd_emit_fold *f, int64_t places)
{
    f->places = places;
    f->seen   = (f->masked || f->fold->exclusive || f->empties) && hides_emptiness(f->fold) &&
              !(f->empties && begins_with_0(f->fold));
    f->n_state = rd_reducer_table[f->fold->reducer].n_state + f->seen;
    f->bytes   = 8;
}

/* The C type of number k of a state.  A flag is a byte where neighbours are cells (accumulators),
 * else an int as wide as the state; number 1 of argmin is a place. */
const char *rd_state_type(const rd_emit_fold *f, int k)
{
    if (f->user)
        return rd_user_state_type(f, k);
    if (is_flag(f, k))
        return f->cells ? "uint8_t" : step_size(f->fold) == 4 ? "int32_t" : "int64_t";
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_step_type(f);
}

/* The name of the class of states, in functions of the library: "f32". */
const char *rd_state_elem(const rd_emit_fold *f)
{
    return rd_class_name(rd_step_class(f->fold));
}

/* The C type of number k of a node (result of a block). */
const char *rd_node_type(const rd_emit_fold *f, int k)
{
    if (f->user || is_flag(f, k))
        return rd_state_type(f, k);
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_merge_type(f);
}

/* The C type of the results of finish0().  Places (indices of elements, as of argmin) are
 * int64_t. */
const char *rd_result_type(const rd_fold *f)
{
    if (f->user)
        return rd_register_type(f->out);
    return rd_is_place(f) ? "int64_t" : rd_fold_type(f);
}

/* Writes all numbers of a state by a format that takes k, with commas: "&s0[l], &s1[l]". */
void rd_add_each(rd_text *to, const rd_emit_fold *f, const char *format)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, k ? ", " : "");
        rd_text_add(to, format, k);
    }
}

/* Writes the parameters of states or nodes (results of blocks): "const float *s0, const float
 * *s1". */
void rd_add_parameters(rd_text *to, const rd_emit_fold *f, bool nodes, const char *keep, char name)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "%s%s%s *%c%d", k ? ", " : "", keep,
                    nodes ? rd_node_type(f, k) : rd_state_type(f, k), name, k);
}

/* Writes the head of a function up to its first parameters:
 *
 *     static inline void step0(float *s0 */
void rd_begin_function(rd_text *to, const rd_emit_fold *f, int number, const char *name, bool nodes)
{
    rd_text_add(to, "static inline void %s%d(", name, number);
    rd_add_parameters(to, f, nodes, "", 's');
}
