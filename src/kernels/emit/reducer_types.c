/* reducer_types.c - the C types of states, nodes and results of our reducers.
 *
 * A state is what a reducer remembers of its elements, one or several numbers; a node is the state
 * of a finished block.  A place is the index of an element, as argmin finds it.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/emit/reducer_parts.h"

/* True if the fold's results are indices of elements, as of argmin. */
bool rd_is_place(const rd_fold *f)
{
    return rd_reducer_places(f->reducer);
}

/* Returns the C type of a fold's results. A bool is a uint64_t in folds. */
const char *rd_fold_type(const rd_fold *f)
{
    return f->type == RD_BOOL ? "uint64_t" : rd_register_type(f->type);
}

/* True if the state is always one of the elements or made of their bits, as a minimum or a
 * bitwise "and", so that it fits their type. The result of a sum or product (ARITH) may be
 * larger. */
static bool is_like_elements(const rd_fold *f)
{
    const rd_reducer_info *r = &rd_reducer_table[f->reducer];

    return r->n_state == 1 && r->op != RD_OP_none && rd_op_table[r->op].rule != RD_RULE_ARITH;
}

/* Returns the C type of the states that take elements. It is narrow for sums of small ints whose
 * blocks fit it (is_short), and for a minimum or maximum of small elements (narrow). Else it is
 * that of elements in registers. */
const char *rd_step_type(const rd_emit_fold *f)
{
    const char *const small =
        f->narrow && is_like_elements(f->fold) ? rd_small_type(f->fold->type) : NULL;

    return f->is_short ? rd_memory_type(f->sums) : small ? small : rd_fold_type(f->fold);
}

/* Returns the C type of nodes, the results of finished blocks: double for sums of f32, else that
 * of states. The lanes (partial accumulators) of a sum of small ints that is one block are
 * merged in row_sums, the narrow type that holds the whole sum. */
const char *rd_merge_type(const rd_emit_fold *f)
{
    if (f->is_short && f->one_block)
        return rd_memory_type(f->row_sums);
    return rd_fold_widens(f->fold) ? "double"
           : f->is_short           ? rd_fold_type(f->fold)
                                   : rd_step_type(f);
}

/* Returns the type in which steps compute: f32, f64, i64 or u64. Bools are summed as u64. */
rd_class rd_step_class(const rd_fold *f)
{
    return f->type == RD_BOOL ? RD_CLASS_u64 : rd_dtype_class(f->type);
}

/* Returns the bytes of a number of a state: 4 or 8, as in a register; 8 for bools, which are
 * summed as uint64_t. */
static int step_size(const rd_fold *f)
{
    return f->type == RD_BOOL ? 8 : rd_register_size(f->type);
}

/* True if number k of a state is its last one, the flag `seen` that an element came. */
static bool is_flag(const rd_emit_fold *f, int k)
{
    return f->seen && k == f->n_state - 1;
}

/* Returns the C type of indices of elements (places), as argmin keeps beside the element. It is as
 * wide as an element, so that a vector holds as many of both: int32_t if elements have 4 bytes and
 * all indices fit. f->places is how many elements an accumulator takes. */
const char *rd_place_type(const rd_emit_fold *f)
{
    return step_size(f->fold) == 4 && f->places < INT32_MAX ? "int32_t" : "int64_t";
}

/* True if a fold of no elements has another result than its identity (min: NaN, not infinity),
 * and the state does not show that no element came. The index of argmin shows it. */
static bool hides_emptiness(const rd_fold *f)
{
    return rd_reducer_table[f->reducer].empty && !rd_reducer_places(f->reducer);
}

/* True if the result of a fold without elements is the 0 with which its states begin, so that no
 * flag is needed: a sum by labels (n_group > 0), or of sparse rows (by_rows). */
static bool begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) && rd_reducer_is_sum(f->reducer);
}

/* Fills the facts of a built-in reducer. A state needs a flag (seen) that an element came if it
 * may meet none: by a mask, in an exclusive scan, or as a lane (partial accumulator) without
 * elements (empties). The flag is one more number of the state. places: how many elements an
 * accumulator takes. `bytes`: a number has at most 8 bytes in memory. */
void rd_emit_facts(rd_emit_fold *f, int64_t places)
{
    f->places = places;
    f->seen   = (f->masked || f->fold->exclusive || f->merges_empty) && hides_emptiness(f->fold) &&
              !(f->merges_empty && begins_with_0(f->fold));
    f->n_state = rd_reducer_table[f->fold->reducer].n_state + f->seen;
    f->bytes   = 8;
}

/* Returns the C type of number k of a state. The flag is a byte if neighbouring elements go to
 * accumulators of their own (cells), else an int as wide as the state, so that vectors hold as
 * many of both. Number 1 of argmin is an index. */
const char *rd_state_type(const rd_emit_fold *f, int k)
{
    if (f->user)
        return rd_user_state_type(f, k);
    if (is_flag(f, k))
        return f->cells ? "uint8_t" : step_size(f->fold) == 4 ? "int32_t" : "int64_t";
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_step_type(f);
}

/* Returns the type of states in names of the library's functions: "f32". */
const char *rd_state_elem(const rd_emit_fold *f)
{
    return rd_class_name(rd_step_class(f->fold));
}

/* Returns the C type of number k of a node, the result of a finished block. Sums of f32 are
 * double there; flags and a user's states stay as they are. */
const char *rd_node_type(const rd_emit_fold *f, int k)
{
    if (f->user || is_flag(f, k))
        return rd_state_type(f, k);
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_merge_type(f);
}

/* Returns the C type of the results that finish0() writes. Indices of elements, as of argmin,
 * are int64_t. */
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

/* Writes the parameters of a function that takes a state, or with `nodes` the result of a
 * finished block: a pointer for each number, "const float *s0, const float *s1". keep: "const "
 * or "". */
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
