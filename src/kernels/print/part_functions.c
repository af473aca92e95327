/* part_functions.c - the functions of a program's parts as text: what they begin and end with.
 *
 *     static void body(rd_nest_call *q)
 *     {
 *         const int64_t N0 = q->number[0];
 *         char *const x0 = q->slot[0];
 *         const int64_t lo = q->lo, hi = q->hi;
 *         ...
 *         q->loads += loads;
 *     }
 *
 * The parts of a program are its head, its body, which each task runs on its share of the root
 * axis, and its tail.  A whole program is one function.
 *
 * Words. A fold is a reduction or a scan. */
#include "core/bytes.h"
#include "kernels/print/print.h"
#include <inttypes.h>

static const char *const part_names[] = { "head", "body", "tail" };

/* ---- What a part begins with ----------------------------------------------------------------- */
/* Prints how values that the head makes reach the other functions of the text, through 8 bytes
 * each of the task's state, from byte `at` on. With `store`, in the head: "*(float *)(q->state +
 * 672128) = r2;". Else: "const float r2 = *(const float *)(q->state + 672128);". */
static void print_head_values(rd_printing *n, int64_t at, bool store)
{
    const rd_schedule *t = n->t;

    for (int32_t s = t->stmt[t->part[RD_PART_HEAD]].first; s >= 0; s = t->stmt[s].next) {
        const int32_t value = t->stmt[s].value;
        const char   *type;

        if (t->stmt[s].kind != RD_S_LET)
            continue;
        type = rd_register_type(t->let[value].type);
        if (store)
            rd_print_line(n, "*(%s *)(q->state + %" PRId64 ") = r%" PRId32 ";", type, at, value);
        else
            rd_print_line(n, "const %s r%" PRId32 " = *(const %s *)(q->state + %" PRId64 ");", type,
                          value, type, at);
        at += 8;
    }
}

/* Adds "rd_row_at_i32((const int32_t *)x2 + 0, N3, q->lo)". x2 holds the number of the first
 * stored element of each row of a sparse array, and N3 is the number of rows. The call finds the
 * first row that begins at element q->lo or behind it. `bound` is "lo" or "hi". */
static void add_row_at(rd_printing *n, rd_text *to, const rd_address *begin, const char *bound)
{
    rd_text_add(to, "rd_row_at_%s((const %s *)x%" PRId32 " + ", rd_dtype_name(begin->type),
                rd_memory_type(begin->type), begin->slot);
    rd_print_number(n, to, begin->offset);
    rd_text_add(to, ", ");
    rd_print_number(n, to, n->t->p->axis_extent[n->t->p->root]);
    rd_text_add(to, ", q->%s)", bound);
}

/* Prints the rows of a sparse array that a task does: "const int64_t lo = rd_row_at_i32(..), hi
 * = ..;". Tasks share the stored elements evenly, q->lo to q->hi, and a task does the rows that
 * begin in its share. The task with the last element also does empty rows at the end. */
static void declare_rows(rd_printing *n, const rd_loop *row)
{
    const rd_program *p     = n->t->p;
    const rd_address *begin = &p->address[row->row_from];
    rd_text           lo = { 0 }, hi = { 0 }, elements = { 0 }, rows = { 0 };

    add_row_at(n, &lo, begin, "lo");
    add_row_at(n, &hi, begin, "hi");
    rd_print_number(n, &elements, p->axis_extent[row->axis]);
    rd_print_number(n, &rows, p->axis_extent[p->root]);
    rd_print_line(n, "const int64_t lo = %s, hi = q->hi < %s ? %s : %s;", lo.at, elements.at, hi.at,
                  rows.at);
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
    rd_text_end(&elements, n->to);
    rd_text_end(&rows, n->to);
}

/* Prints the task's share of the root axis, the axis that tasks divide: "const int64_t lo =
 * q->lo, hi = q->hi;". If that axis numbers the rows of a sparse array, lo and hi are the rows
 * of the share. A whole program runs as one task and has no share. */
static void declare_share(rd_printing *n)
{
    const rd_program *p = n->t->p;

    if (p->root < 0 || n->t->whole)
        return;
    for (int32_t k = 0; k < p->n_loop; k++)
        if (rd_is_sparse_row(&p->loop[k]) && rd_axis_of_rows(p, &p->loop[k]) == p->root) {
            declare_rows(n, &p->loop[k]);
            return;
        }
    rd_print_line(n, "const int64_t lo = q->lo, hi = q->hi;");
}

/* Prints bounds of the task in the folds (reductions) that several tasks share (split), in steps: a
 * step takes one element in each lane (partial accumulator).
 *
 *     bound "lo", in the head:        const int64_t first0 = q->lo * 1;
 *     bound "hi", behind the body:    f0[1] = q->hi * 1;
 *
 * If the root axis goes along the lanes, its indices are divided by the number of lanes,
 * upwards. */
static void declare_steps(rd_printing *n, const char *bound)
{
    const rd_program *p = n->t->p;

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_fold *fold = &p->fold[k];
        const int64_t  coef = n->t->fold[k].split ? rd_coef(&fold->lane, p->root) : 0;
        rd_text        step = { 0 };

        if (!n->t->fold[k].split)
            continue;
        if (coef)
            rd_text_add(&step, "(q->%s * %" PRId64 " + %" PRId32 ") / %" PRId32, bound, coef,
                        fold->lanes - 1, fold->lanes);
        else {
            rd_text_add(&step, "q->%s * ", bound);
            rd_print_number(n, &step, rd_coef(&fold->lane_line, p->root) * rd_rows_of_lanes(fold));
        }
        /* the bound is "lo" or "hi" */
        if (bound[0] == 'l')
            rd_print_line(n, "const int64_t first%" PRId32 " = %s;", k, step.at);
        else
            rd_print_line(n, "f%" PRId32 "[1] = %s;", k, step.at);
        rd_text_end(&step, n->to);
    }
}

/* Prints the names that the function of a part may use: x0 .. for buffers, the states, the
 * share, and counters. Compilers leave out those that it does not use. */
static void begin_part(rd_printing *n)
{
    n->indent = 1;
    for (int32_t s = 0; s < n->n_slot; s++)
        rd_print_line(n, "char *const x%" PRId32 " = q->slot[%" PRId32 "];", s, s);
    rd_print_declare_states(n);
    declare_share(n);
    rd_print_line(n, "int64_t loads = 0;");
    rd_print_line(n, "int32_t failed = 0;");
    rd_print_line(n, "uint32_t warnings = 0;");
}

/* Prints what the function reports to its caller: elements loaded, failed indices, warnings. A
 * memory fence comes first if it has non-temporal stores, so that other threads see them. */
static void end_part(rd_printing *n)
{
    if (n->nontemporal)
        rd_print_line(n, "NONTEMPORAL_FENCE");
    n->nontemporal = false;
    rd_print_line(n, "q->loads += loads;");
    rd_print_line(n, "q->failed |= failed;");
    rd_print_line(n, "q->warnings |= warnings;");
}

/* ---- Parts ----------------------------------------------------------------------------------- */
/* Prints the body of a part: head, body or tail. Values of the head reach the other parts
 * through the task's state from byte `values` on. The head declares the first step of each fold
 * that tasks share, and the body stores the step behind the last one. */
static void print_part(rd_printing *n, int part, int64_t values)
{
    if (part == RD_PART_HEAD)
        declare_steps(n, /*bound=*/"lo");
    else
        print_head_values(n, values, /*store=*/false);
    rd_print_body(n, n->t->part[part]);
    if (part == RD_PART_HEAD)
        print_head_values(n, values, /*store=*/true);
    if (part == RD_PART_BODY)
        declare_steps(n, /*bound=*/"hi");
}

/* True if the part (head, body or tail) has nothing to do; in most programs the body does all.
 * RD_N_PARTS stands for all parts as one function. With a fold that tasks share (split), a part
 * also sets the bounds of the task's steps. */
static bool is_empty(const rd_schedule *t, int part)
{
    if (part == RD_N_PARTS || t->stmt[t->part[part]].first >= 0)
        return false;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (t->fold[k].split)
            return false;
    return true;
}

/* Prints the function of one part, or with RD_N_PARTS of all parts. The body is printed to a
 * text of its own first, because it finds which numbers N0 .. the function declares before it.
 * values: where the head's values lie in the task's state, in bytes. */
static void print_function(rd_printing *n, rd_text *to, const char *name, int part, int64_t values)
{
    rd_text body = { 0 };

    if (is_empty(n->t, part)) {
        rd_text_add(to, "static void %s(rd_nest_call *q)\n{\n    (void)q;\n}\n\n", name);
        return;
    }
    n->to = &body;
    begin_part(n);
    if (part < RD_N_PARTS)
        print_part(n, part, values);
    for (int k = 0; part == RD_N_PARTS && k < RD_N_PARTS; k++)
        rd_print_body(n, n->t->part[k]);
    end_part(n);
    rd_text_add(to, "static void %s(rd_nest_call *q)\n{\n", name);
    for (int32_t k = 0; k < n->n_number; k++)
        rd_text_add(to, "    const int64_t N%" PRId32 " = q->number[%" PRId32 "];\n", k, k);
    rd_text_add(to, "%s}\n\n", body.at ? body.at : "");
    rd_text_end(&body, to);
}

/* Prints the function "whole" of a program that runs as one task, or "head", "body" and "tail".
 * In the second case each value may need 8 bytes of the task's state to reach another function;
 * rd_piece() allots them. */
void rd_print_parts(rd_printing *n, rd_text *to)
{
    const rd_schedule *t      = n->t;
    const int64_t      values = rd_piece(&n->state, t->whole ? 0 : t->n_let, /*each=*/8);

    if (t->whole)
        print_function(n, to, "whole", RD_N_PARTS, values);
    for (int k = 0; !t->whole && k < RD_N_PARTS; k++)
        print_function(n, to, part_names[k], k, values);
}
