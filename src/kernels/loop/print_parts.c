/* print_parts.c - positions, loops and values of a tree as text for people.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A term of a position with `axis` -1 is a value, an index that is read at
 * run time. A loop is `by_call` if the text runs it by one call of a function.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/print_tree.h"
#include <inttypes.h>

static const char *const for_names[] = { "serial", "block", "once",  "vector",
                                         "unroll", "jam",   "items", "threads" };

/* ---- Positions ------------------------------------------------------------------------------- */
/* Adds the name of an axis: "i2" of the program's, "lo" and "hi" for the bounds of a task's share,
 * "m0", "m1" .. for the other marks (axes bound to the begin or end of a round). */
void rd_axis_text(rd_text *to, const rd_schedule *t, int32_t axis)
{
    const int32_t mark = axis - t->p->n_axis;

    if (mark < 0)
        rd_text_add(to, "i%" PRId32, axis);
    else if (mark < RD_MARKS)
        rd_text_add(to, mark == RD_MARK_LO ? "lo" : "hi");
    else
        rd_text_add(to, "m%" PRId32, mark - RD_MARKS);
}

/* Adds a position: "i1 + 3000*i0 - 64"; a value as a term is "r7". */
void rd_linear_text(rd_text *to, const rd_schedule *t, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term     = &t->term[at->first + k];
        const bool            negative = term->coef < 0;
        const int64_t         coef     = negative ? -term->coef : term->coef;

        rd_text_add(to, "%s", k && negative ? " - " : k ? " + " : negative ? "-" : "");
        if (coef != 1)
            rd_text_add(to, "%" PRId64 "*", coef);
        if (term->axis < 0)
            rd_text_add(to, "r%" PRId32, term->value);
        else
            rd_axis_text(to, t, term->axis);
    }
    if (at->n == 0)
        rd_text_add(to, "%" PRId64, at->offset);
    else if (at->offset)
        rd_text_add(to, " %c %" PRId64, at->offset < 0 ? '-' : '+',
                    at->offset < 0 ? -at->offset : at->offset);
}

/* Adds a bound of a loop: "least(m0 + 64, hi)", "3000 down to m0 + 16 k". Of several parts the
 * least, or the greatest ("most"), counts: `of_several` is the word. " up to .. k" tells that a
 * part is rounded up to `base` + a multiple of `multiple`. */
static void add_edge(rd_text *to, const rd_schedule *t, const rd_edge *edge, const char *of_several)
{
    if (edge->n > 1)
        rd_text_add(to, "%s(", of_several);
    for (int32_t k = 0; k < edge->n; k++) {
        const rd_edge_part *part = &edge->part[k];

        rd_text_add(to, k ? ", " : "");
        rd_linear_text(to, t, &part->at);
        if (part->multiple > 1) {
            rd_text_add(to, part->round_up ? " up to " : " down to ");
            rd_linear_text(to, t, &part->base);
            rd_text_add(to, " + %" PRId64 " k", part->multiple);
        }
    }
    rd_text_add(to, edge->n > 1 ? ")" : "");
}

/* Adds "s0[i1 + 3000*i0]" for the program's memory, "a3[i0 - m0]" for an array of the tree. */
void rd_memory_text(rd_text *to, const rd_schedule *t, int32_t slot, int32_t store,
                    const rd_linear *at)
{
    rd_text_add(to, slot >= 0 ? "s%" PRId32 "[" : "a%" PRId32 "[", slot >= 0 ? slot : store);
    rd_linear_text(to, t, at);
    rd_text_add(to, "]");
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Adds the line of a loop: its kind, axis, width (of 64), padding (in 64), bounds, step, marks
 * (axes bound to the ends of a round), and how it is run:
 *
 *     serial i0 of 64 to 3000 down to 0 + 64 k by 64, starts m0, stops m1 */
void rd_loop_text(rd_text *to, const rd_schedule *t, const rd_for *loop)
{
    rd_text_add(to, "%s ", for_names[loop->kind]);
    rd_axis_text(to, t, loop->axis);
    if (loop->width)
        rd_text_add(to, " of %" PRId32, loop->width);
    if (loop->padded)
        rd_text_add(to, " in %" PRId32, loop->padded);
    if (loop->padded_rounds)
        rd_text_add(to, " in %" PRId64, loop->padded_rounds);
    if (!rd_is_number(&loop->from, 0)) {
        rd_text_add(to, " from ");
        add_edge(to, t, &loop->from, "most");
    }
    rd_text_add(to, " to ");
    add_edge(to, t, &loop->to, "least");
    if (loop->step > 1)
        rd_text_add(to, " by %" PRId64, loop->step);
    if (loop->start_mark >= 0) {
        rd_text_add(to, ", starts ");
        rd_axis_text(to, t, loop->start_mark);
    }
    if (loop->stop_mark >= 0) {
        rd_text_add(to, ", stops ");
        rd_axis_text(to, t, loop->stop_mark);
    }
    if (loop->in_order && loop->kind == RD_FOR_ITEM)
        rd_text_add(to, ", in order");
    if (loop->unroll)
        rd_text_add(to, ", %" PRId32 " at a time", loop->unroll);
    rd_text_add(to, "%s%s%s", loop->backwards ? ", backwards" : "",
                loop->by_call ? ", by call" : "", loop->nontemporal ? ", non-temporal" : "");
    rd_text_add(to, "%s%s", loop->flattened ? ", flat" : "", loop->hidden ? ", hidden" : "");
    rd_text_add(to, "%s%s", loop->split_reduction ? ", split" : "",
                loop->by_block ? ", by block" : "");
    rd_text_add(to, "%s%s", loop->by_team ? ", by team" : "", loop->skewed ? ", skewed" : "");
    if (loop->team)
        rd_text_add(to, ", team of %" PRId32, loop->team);
    if (loop->prefetched)
        rd_text_add(to, ", %" PRId32 " prefetched", loop->prefetched);
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* Adds a constant, with as many digits as give the same number again: "0.5", "3". */
static void add_constant(rd_text *to, const rd_tree_value *let)
{
    if (rd_dtype_kind(let->type) == RD_KIND_FLOAT)
        rd_text_add(to, "%.17g",
                    rd_dtype_class(let->type) == RD_CLASS_f64 ? let->word.f64
                                                              : (double)let->word.f32);
    else
        rd_text_add(to, "%" PRId64, let->word.i64);
}

/* Adds what makes a value, before its operands: "choice f32", "f32 of bool" (a cast), "load f32".
 */
static void add_name(rd_text *to, const rd_schedule *t, const rd_tree_value *let)
{
    switch (let->kind) {
    case RD_I_CONST: rd_text_add(to, "number %s ", rd_dtype_name(let->type)); break;
    case RD_I_COORD: rd_text_add(to, "coordinate "); break;
    case RD_I_LOAD: rd_text_add(to, "load %s ", rd_dtype_name(let->type)); break;
    case RD_I_MAP:
        rd_text_add(to, "%s %s", rd_op_table[let->op].name, rd_dtype_name(let->type));
        break;
    case RD_I_CAST:
        rd_text_add(to, "%s of %s", rd_dtype_name(let->type), rd_dtype_name(let->from));
        break;
    case RD_I_SELECT: rd_text_add(to, "choice %s", rd_dtype_name(let->type)); break;
    case RD_I_INDEX: rd_text_add(to, "index below %" PRId64 " of", let->word.i64); break;
    case RD_I_CALL: rd_text_add(to, "call %s", t->p->call[let->arg].name); break;
    default: break;
    }
}

/* Adds the line of a value: "r3 = choice f32 r0, r1, r2", "r0 = load f32 s0[i1]". " by 4": a
 * vector access of 4 elements; " of r2": the load of r2 has already read them. */
void rd_let_text(rd_text *to, const rd_schedule *t, int32_t value)
{
    const rd_tree_value *let = &t->let[value];

    rd_text_add(to, "r%" PRId32 " = ", value);
    add_name(to, t, let);
    if (let->kind == RD_I_CONST)
        add_constant(to, let);
    if (let->kind == RD_I_LOAD)
        rd_memory_text(to, t, let->slot, let->store, &let->at);
    if (let->kind == RD_I_COORD)
        rd_linear_text(to, t, &let->at);
    if (let->made_by >= 0 && t->stmt[let->made_by].vector_width)
        rd_text_add(to, " by %" PRId32, t->stmt[let->made_by].vector_width);
    if (let->made_by >= 0 && t->stmt[let->made_by].loaded_by >= 0)
        rd_text_add(to, " of r%" PRId32, t->stmt[t->stmt[let->made_by].loaded_by].value);
    for (int32_t k = 0; k < let->n; k++)
        rd_text_add(to, "%s r%" PRId32, k ? "," : "", t->operand[let->first + k]);
}
