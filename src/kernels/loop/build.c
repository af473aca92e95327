/* build.c - the loop tree of a program as it stands: every loop is serial.
 *
 * Words: a tile loop visits ranges of an axis, and a loop inside visits the indices of one range.
 * A mark is an axis of the tree that is bound to the begin or the end of a range.  A row of places
 * is a loop with bounds that are read from memory (sparse arrays). Several tasks share the root
 * axis; a share is one task's part of it.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. A fold is a reduction or a scan. */
#include "kernels/loop/build.h"
#include <stdlib.h>

/* ---- Loops ----------------------------------------------------------------------------------- */
static void add_instructions(rd_building *b, int32_t from, int32_t to);

/* Adds a LOAD of a bound of a sparse row (the first place of its stored elements, or the one
 * behind its last) and returns it as a position. It is not counted as an element read. */
static rd_linear row_edge(rd_building *b, int32_t address)
{
    const rd_address *at    = &b->t->p->address[address];
    rd_stmt           stmt  = rd_stmt_of(RD_S_LET);
    rd_tree_value     let   = { .kind      = RD_I_LOAD,
                                .type      = at->type,
                                .from      = at->type,
                                .arg       = address,
                                .slot      = at->slot,
                                .store     = -1,
                                .uncounted = true,
                                .at        = rd_build_position(b, at) };
    const int32_t     value = rd_add_let(b->t, &let);

    stmt.value   = value;
    stmt.n_value = 1;
    let.made_by  = rd_build_add(b, &stmt);
    if (!b->t->failed)
        b->t->let[value].made_by = let.made_by;
    return rd_linear_plus_value(b->t, rd_linear_of(0), /*coef=*/1, value);
}

/* Gives the rounds of a tile loop two marks (axes bound to the ends of a range), and makes them
 * the range of its axis for the loops inside. */
static void open_tile(rd_building *b, rd_for *loop, rd_build_range *r)
{
    loop->start_mark = rd_add_mark(b->t);
    loop->stop_mark  = rd_add_mark(b->t);
    r->from          = rd_linear_plus_axis(b->t, rd_linear_of(0), /*coef=*/1, loop->start_mark);
    r->to            = rd_linear_plus_axis(b->t, rd_linear_of(0), /*coef=*/1, loop->stop_mark);
}

/* Returns the most rounds of a loop of the program; -1: they are known only at run time (a sparse
 * row). A loop in a tile (range) of its axis has the indices of one tile; a loop over tiles has
 * extent / step rounds. */
static int64_t rounds_of(const rd_program *p, int32_t number)
{
    const rd_loop *l     = &p->loop[number];
    int64_t        width = p->axis_extent[l->axis];

    if (rd_is_sparse_row(l))
        return -1;
    for (int32_t k = l->parent; k >= 0; k = p->loop[k].parent)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == l->axis &&
            p->loop[k].step < width)
            width = p->loop[k].step;
    return l->kind == RD_LOOP_TILE ? (width + l->step - 1) / l->step : width;
}

/* Adds a LOOP statement, "serial i1 to 3000", with its body. While the body is built, the axis is
 * bound, and its range may be a tile; the old range is restored behind it. */
static void add_loop(rd_building *b, int32_t number)
{
    const rd_program    *p           = b->t->p;
    const rd_loop       *l           = &p->loop[number];
    rd_build_range      *r           = &b->range[l->axis];
    const rd_build_range outer_range = *r;
    const int32_t        body        = b->body;
    rd_for               loop        = { .kind          = RD_FOR_SERIAL,
                                         .axis          = l->axis,
                                         .start_mark    = -1,
                                         .stop_mark     = -1,
                                         .step          = l->kind == RD_LOOP_TILE ? l->step : 1,
                                         .extent        = rounds_of(p, number),
                                         .backwards     = l->backwards,
                                         .program_loop  = number,
                                         .strips_number = -1 };

    if (rd_is_sparse_row(l)) {
        r->from = row_edge(b, l->row_from);
        r->to   = row_edge(b, l->row_to);
    }
    loop.from = rd_edge_of(r->from);
    loop.to   = rd_edge_of(r->to);
    if (l->kind == RD_LOOP_TILE)
        open_tile(b, &loop, r);
    r->bound        = true;
    b->stmt[number] = b->body = rd_add_loop(b->t, &loop);
    rd_append(b->t, body, b->body);
    add_instructions(b, l->begin + 1, l->end);
    b->body = body;
    *r      = outer_range;
}

/* Adds the statements of one instruction that is no loop, by its kind. All that is not named makes
 * a value. */
static void add_instruction(rd_building *b, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_STORE: rd_build_store(b, inst); break;
    case RD_I_START: rd_build_begin(b, inst); break;
    case RD_I_STEP:
    case RD_I_SCAN: rd_build_step(b, inst); break;
    case RD_I_CLOSE: rd_build_close(b, inst); break;
    case RD_I_SORT: rd_build_sort(b, inst); break;
    case RD_I_EXIT: rd_build_exit(b, inst); break;
    default: rd_build_value(b, inst);
    }
}

/* Adds the statements of instructions [from, to) of the program. A loop adds those of its body
 * itself, so they are passed over here. */
static void add_instructions(rd_building *b, int32_t from, int32_t to)
{
    const rd_program *p = b->t->p;

    for (int32_t i = from; i < to && !b->t->failed; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            add_loop(b, p->inst[i].arg);
            i = p->loop[p->inst[i].arg].end;
        } else
            add_instruction(b, &p->inst[i]);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Adds the first array of states of each fold, store number k for fold k, in the task's memory:
 * n_cell cells (accumulators), each with `lanes` states side by side. */
static void add_states(rd_building *b)
{
    for (int32_t k = 0; k < b->t->p->n_fold; k++) {
        const rd_fold      *f      = &b->t->p->fold[k];
        const rd_tree_array states = { .storage     = RD_IN_TASK,
                                       .type        = f->type,
                                       .fold        = k,
                                       .extent      = f->n_cell * f->lanes,
                                       .lanes       = b->t->fold[k].lanes,
                                       .cell_stride = f->lanes,
                                       .lane_stride = 1 };

        b->states[k] = rd_add_store(b->t, &states);
    }
}

/* Sets the range of each axis: all of it. If several tasks run the program, the root axis, which
 * they share, has the task's part, from mark LO to mark HI. */
static void add_ranges(rd_building *b)
{
    const rd_program *p = b->t->p;

    for (int32_t a = 0; a < p->n_axis; a++)
        b->range[a] = (rd_build_range){ rd_linear_of(0), rd_linear_of(p->axis_extent[a]), false };
    if (p->root >= 0 && !b->t->whole) {
        rd_build_range *root = &b->range[p->root];

        root->from = rd_linear_plus_axis(b->t, rd_linear_of(0), /*coef=*/1, p->n_axis + RD_MARK_LO);
        root->to   = rd_linear_plus_axis(b->t, rd_linear_of(0), /*coef=*/1, p->n_axis + RD_MARK_HI);
    }
}

/* Adds the three parts of the program: the head (once per task), the body (each task's share) and
 * the tail (once at the end), each as a PART statement with its instructions. */
static void add_parts(rd_building *b)
{
    const rd_program *p    = b->t->p;
    const int32_t     at[] = { 0, p->body, p->tail, p->n_inst };

    for (int k = 0; k < RD_N_PARTS && !b->t->failed; k++) {
        rd_stmt part = rd_stmt_of(RD_S_PART);

        part.arg      = k;
        b->t->part[k] = b->body = rd_add_stmt(b->t, &part);
        add_instructions(b, at[k], at[k + 1]);
    }
}

/* Builds the tree: first a value for each register, then arrays of states, then statements. Where
 * memory lacks, all of it is freed and the result is NULL. `none`: a value that nothing makes yet.
 * The caller frees the tree by rd_schedule_free(); the program and its folds must outlive it. */
rd_schedule *rd_schedule_build(const rd_program *p, const rd_loop_fold *fold, bool whole)
{
    rd_building b = { .t      = calloc(1, sizeof *b.t),
                      .range  = calloc((size_t)p->n_axis + 1, sizeof *b.range),
                      .states = calloc((size_t)p->n_fold + 1, sizeof *b.states),
                      .stmt   = calloc((size_t)p->n_loop + 1, sizeof *b.stmt) };

    if (b.t && b.range && b.states && b.stmt) {
        const rd_tree_value none = { .slot = -1, .store = -1, .made_by = -1 };

        *b.t =
            (rd_schedule){ .p = p, .fold = fold, .whole = whole, .n_axis = p->n_axis + RD_MARKS };
        if (rd_room_for_first(b.t)) {
            for (int32_t k = 0; k < p->n_reg; k++)
                rd_add_let(b.t, &none);
            add_ranges(&b);
            add_states(&b);
            add_parts(&b);
        }
    }
    if (!b.range || !b.states || !b.stmt || (b.t && b.t->failed)) {
        rd_schedule_free(b.t);
        b.t = NULL;
    }
    free(b.range);
    free(b.states);
    free(b.stmt);
    return b.t;
}
