/* reducer_types.c - the C types of states, nodes and results of our reducers. */
#include "kernels/emit/reducer_parts.h"

bool rd_is_place(const rd_fold *f)
{
    return rd_reducer_places(f->reducer);
}

/* The C type of results.  Bools are u64 in folds. */
const char *rd_fold_type(const rd_fold *f)
{
    return f->type == RD_BOOL ? "uint64_t" : rd_register_type(f->type);
}

/* True if the state is one of the elements, or made of their bits.  Sums and products leave the
 * type. */
static bool is_like_elements(const rd_fold *f)
{
    const rd_reducer_info *r = &rd_reducer_table[f->reducer];

    return r->n_state == 1 && r->op != RD_OP_none && rd_op_table[r->op].rule != RD_RULE_ARITH;
}

/* The C type of states in a block. */
const char *rd_step_type(const rd_emit_fold *f)
{
    const char *const small =
        f->narrow && is_like_elements(f->fold) ? rd_small_type(f->fold->type) : NULL;

    return f->is_short ? rd_memory_type(f->sums) : small ? small : rd_fold_type(f->fold);
}

/* The C type of nodes.  Lanes of a short sum of one block are merged in the narrow type of the
 * whole sum. */
const char *rd_merge_type(const rd_emit_fold *f)
{
    if (f->is_short && f->one_block)
        return rd_memory_type(f->row_sums);
    return rd_fold_widens(f->fold) ? "double"
           : f->is_short           ? rd_fold_type(f->fold)
                                   : rd_step_type(f);
}

rd_class rd_step_class(const rd_fold *f)
{
    return f->type == RD_BOOL ? RD_CLASS_u64 : rd_dtype_class(f->type);
}

static int step_size(const rd_fold *f)
{
    return f->type == RD_BOOL ? 8 : rd_register_size(f->type);
}

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

/* True if an empty fold differs from its identity, and the state does not show it.  A place
 * shows it. */
static bool hides_emptiness(const rd_fold *f)
{
    return rd_reducer_table[f->reducer].empty && !rd_reducer_places(f->reducer);
}

/* True if the sum of nothing is the value it begins with, also of floats by label. */
static bool begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) && rd_reducer_is_sum(f->reducer);
}

void rd_emit_facts(rd_emit_fold *f, int64_t places)
{
    f->places = places;
    f->seen   = (f->masked || f->fold->exclusive || f->empties) && hides_emptiness(f->fold) &&
              !(f->empties && begins_with_0(f->fold));
    f->n_state = rd_reducer_table[f->fold->reducer].n_state + f->seen;
    f->bytes   = 8;
}

const char *rd_state_type(const rd_emit_fold *f, int k)
{
    if (f->user)
        return rd_user_state_type(f, k);
    if (is_flag(f, k))
        return f->cells ? "uint8_t" : step_size(f->fold) == 4 ? "int32_t" : "int64_t";
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_step_type(f);
}

const char *rd_state_elem(const rd_emit_fold *f)
{
    return rd_class_name(rd_step_class(f->fold));
}

const char *rd_node_type(const rd_emit_fold *f, int k)
{
    if (f->user || is_flag(f, k))
        return rd_state_type(f, k);
    return rd_is_place(f->fold) && k == 1 ? rd_place_type(f) : rd_merge_type(f);
}

const char *rd_result_type(const rd_fold *f)
{
    if (f->user)
        return rd_register_type(f->out);
    return rd_is_place(f) ? "int64_t" : rd_fold_type(f);
}

void rd_add_each(rd_text *to, const rd_emit_fold *f, const char *format)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, k ? ", " : "");
        rd_text_add(to, format, k);
    }
}

/* Writes the parameters of states or nodes: "const float *s0, const float *s1". */
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
