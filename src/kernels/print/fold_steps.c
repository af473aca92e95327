/* fold_steps.c - statements of folds as text: where they begin, take elements and end blocks.
 *
 *     for (int64_t l = 0; l < 64; l++) { begin0(&s0_0[l]); }
 *     step0(&s0_0[i1 % 64], r3, 1, i1);
 *     if (t % 64 == 63) push0(&s0_0[0], tree0, 64, 0, 64, t >> 6, 0);
 *
 * fold_ends.c has the ends of folds.
 *
 * A cell is an accumulator of a fold, and a lane one of its states.  A block is 64 steps or so; its
 * result goes to the combine tree by push0().  A step is line * rows of lanes + lane / lanes.  f0
 * exists if tasks share the fold.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* ---- Begin ----------------------------------------------------------------------------------- */
/* Adds the loop that sets all states of an array to the identity: "for (int64_t l = 0; l < N0;
 * l++) { begin0(&s0_0[l]); }". With name 's' they are states of the open blocks, and the fold's
 * first array has discard states (of elements in no group) behind them. With name 'p' they are
 * what a scan has before its open block; a running sum (pair) also sets q0_0 and the doubles
 * w0_0 there. */
static void add_begins(rd_printing *n, rd_text *to, const rd_stmt *s, char name)
{
    const rd_print_fold *f      = &n->fold[s->fold];
    const int64_t        more   = name == 's' && s->store == s->fold ? f->discard : 0;
    const int64_t        states = n->t->store[s->store].extent + more;
    const char           of[]   = { name, 0 };

    rd_text_add(to, "for (int64_t l = 0; l < ");
    if (n->t->store[s->store].storage == RD_IN_TASK)
        rd_print_number(n, to, states);
    else
        rd_text_add(to, "%" PRId64, states);
    rd_text_add(to, "; l++) {");
    rd_add_user_begin(to, &f->emit, s->fold, of, "l");
    rd_text_add(to, " begin%" PRId32 "(", s->fold);
    rd_print_state_addresses(to, f, name, s->store, "l");
    rd_text_add(to, ");%s", name == 'p' && f->hi_lo_sums ? "" : " }");
    if (name != 'p' || !f->hi_lo_sums)
        return;
    rd_text_add(to, " q%" PRId32 "_0[l] = -0.0F; } rd_prefix_sum_begin(", s->store);
    rd_print_number(n, to, states * n->t->fold[s->fold].n_words);
    rd_text_add(to, ", w%" PRId32 "_0);", s->store);
}

/* Prints how the only state of a fold, in a variable, becomes the identity: "begin0(&s2_0[0]);". */
static void begin_one(rd_printing *n, const rd_stmt *s)
{
    rd_text states = { 0 };

    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, "0");
    rd_print_line(n, "begin%" PRId32 "(%s);", s->fold, states.at);
    rd_text_end(&states, n->to);
}

/* Prints the begin of a fold: its states are set to the identity. If tasks share the fold
 * (split), f0[0] becomes the number of the block with which the task begins, its first step >>
 * 6; f0[1], the step behind its last one, is set when the body ends. */
void rd_print_begin(rd_printing *n, const rd_stmt *s)
{
    const rd_print_fold *f    = &n->fold[s->fold];
    rd_text              line = { 0 };

    if (rd_is_one_state(n, s)) {
        begin_one(n, s);
        return;
    }
    add_begins(n, &line, s, 's');
    if (f->emit.fold->scan && f->blocks) {
        rd_text_add(&line, " ");
        add_begins(n, &line, s, 'p');
    }
    rd_print_line(n, "%s", line.at ? line.at : "");
    rd_text_end(&line, n->to);
    if (n->t->fold[s->fold].split)
        rd_print_line(n, "f%" PRId32 "[0] = first%" PRId32 " >> %d; f%" PRId32 "[1] = 0;", s->fold,
                      s->fold, f->shift, s->fold);
}

/* ---- Step ------------------------------------------------------------------------------------ */
/* Prints the step of one element x, which the state at a subscript takes: "step0(&s0_0[i], r3,
 * 1, i1);". A step with a label (group-by) finds the state of its group. */
void rd_print_step(rd_printing *n, const rd_stmt *s)
{
    rd_text states = { 0 }, at = { 0 };

    rd_print_begin_line(n);
    if (s->label >= 0)
        rd_print_group_step(n, n->to, s);
    else {
        rd_print_state_subscript(n, &at, s);
        rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, at.at);
        rd_print_add_step(n, n->to, s, states.at);
    }
    rd_text_add(n->to, "\n");
    rd_text_end(&states, n->to);
    rd_text_end(&at, n->to);
}

/* ---- Ends of blocks -------------------------------------------------------------------------- */
/* Adds the test that the element is in the last lane (partial accumulator) of its step, which
 * takes one element for each lane, or is the last element of all: " && ((i0) % 64 == 63 || i0 ==
 * N2)". With no more elements than lanes only the second test is needed. */
static void add_is_last_lane(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_fold *f = &n->t->p->fold[s->fold];

    if (f->lanes == 1)
        return;
    rd_text_add(to, " && (");
    if (f->lane_extent > f->lanes) {
        rd_text_add(to, "(");
        rd_print_linear(n, to, &s->fold_at.lane);
        rd_text_add(to, ") %% %" PRId32 " == %" PRId32 " || ", f->lanes, f->lanes - 1);
    }
    rd_print_linear(n, to, &s->fold_at.lane);
    rd_text_add(to, " == ");
    rd_print_number(n, to, f->lane_extent - 1);
    rd_text_add(to, ")");
}

/* Adds the last arguments of push0(), ", t0 >> 6, 0);": the number of the block that ends (64 steps
 * each), and the task's first block, 0 if tasks do not share the fold. */
static void add_block_number(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step)
{
    rd_text_add(to, ", %s >> %d, ", step, n->fold[s->fold].shift);
    rd_text_add(to, n->t->fold[s->fold].split ? "f%" PRId32 "[0]);" : "0);", s->fold);
}

/* Adds a loop that ends the block in every group's accumulator, whether the group got elements
 * or not: "for (int64_t g = 0; g < N2; g++) { const int64_t at = 0 + g * 1; push0(&s0_0[at],
 * ..); }". push0() makes states nodes of the combine tree. */
static void add_push_of_groups(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step,
                               const char *at)
{
    const rd_print_fold *f = &n->fold[s->fold];

    rd_text_add(to, "for (int64_t g = 0; g < ");
    rd_print_number(n, to, f->emit.fold->n_group);
    rd_text_add(to, "; g++) { const int64_t at = %s + g * ", at);
    rd_print_number(n, to, f->emit.fold->group_stride * n->t->store[s->store].cell_stride);
    rd_text_add(to, "; push%" PRId32 "(", s->fold);
    rd_print_block_arguments(n, to, s, "at");
    add_block_number(n, to, s, step);
    rd_text_add(to, " }");
}

/* Adds the end of a block, "push0(states, tree0, 64, at, 64, t0 >> 6, 0);", which makes states
 * nodes of the combine tree, for one accumulator or for all (s->all_cells). A group-by fold does so
 * for each group. */
static void add_push(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step)
{
    const rd_print_fold *f  = &n->fold[s->fold];
    rd_text              at = { 0 };

    rd_print_cell_subscript(n, &at, s);
    if (f->emit.fold->n_group && !s->all_cells) {
        add_push_of_groups(n, to, s, step, at.at);
        rd_text_end(&at, n->to);
        return;
    }
    rd_text_add(to, "push%" PRId32 "(", s->fold);
    rd_print_block_arguments(n, to, s, at.at);
    add_block_number(n, to, s, step);
    rd_text_end(&at, n->to);
}

/* Adds the test for the last element of a block (64 steps of one element in each lane, a partial
 * accumulator) if the elements of all lanes follow each other in one loop: "if ((i0 + 1) % 2048
 * == 0) { const int64_t t0 = (i0) / 32; ". If the number of steps is whole blocks, the last
 * element of all ends a block, too, even in the middle of a step. */
static void add_is_last_in_line(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_fold *f     = &n->t->p->fold[s->fold];
    rd_text        place = { 0 };

    rd_print_linear(n, &place, &s->fold_at.lane);
    rd_text_add(to, "if ((%s + 1) %% %" PRId64 " == 0", place.at, f->lanes * f->steps);
    if (n->t->fold[s->fold].steps % f->steps == 0) {
        rd_text_add(to, " || %s == ", place.at);
        rd_print_number(n, to, f->lane_extent - 1);
    }
    rd_text_add(to, ") { const int64_t t%" PRId32 " = (%s) / %" PRId32 "; ", s->fold, place.at,
                f->lanes);
    rd_text_end(&place, n->to);
}

/* Adds the test for the last element of a block of 64 steps, where t0 is the number of the
 * element's step: "{ const int64_t t0 = (i0); if (t0 % 64 == 63) ". */
static void add_is_last(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_fold *f = &n->t->p->fold[s->fold];

    rd_text_add(to, "{ const int64_t t%" PRId32 " = ", s->fold);
    rd_print_step_number(n, to, s);
    rd_text_add(to, "; if (t%" PRId32 " %% %" PRId64 " == %" PRId64, s->fold, f->steps,
                f->steps - 1);
    add_is_last_lane(n, to, s);
    rd_text_add(to, ") ");
}

/* Prints the end of a block, if the element is its last: "{ const int64_t t0 = (i0); if (t0 % 64
 * == 63) push0(...); }". A reduction pushes the block to its combine tree; a scan adds it to
 * what is before the next block (carry). If the elements of all lanes follow each other (outer
 * is 0), a shorter test will do. */
void rd_print_block_end(rd_printing *n, const rd_stmt *s)
{
    const rd_fold *f    = &n->t->p->fold[s->fold];
    rd_text        line = { 0 }, step = { 0 };

    rd_text_add(&step, "t%" PRId32, s->fold);
    if (s->fold_at.lane_line.n == 0 && s->fold_at.lane_line.offset == 0 && s->fold_at.lane.n &&
        f->lanes > 1 && f->lane_extent > f->lanes)
        add_is_last_in_line(n, &line, s);
    else
        add_is_last(n, &line, s);
    if (f->scan)
        rd_print_carry(n, &line, s, step.at);
    else
        add_push(n, &line, s, step.at);
    rd_text_add(&line, " }");
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
    rd_text_end(&step, n->to);
}

/* Returns the block loop around the statement: each of its rounds is a range that ends where a
 * block of a fold does. */
static const rd_for *blocks_around(const rd_printing *n, const rd_stmt *s)
{
    int32_t k = s->parent;

    while (n->t->stmt[k].kind != RD_S_LOOP || rd_loop_of(n->t, k)->kind != RD_FOR_BLOCK)
        k = n->t->stmt[k].parent;
    return rd_loop_of(n->t, k);
}

/* Prints how a range m0 .. m1 is cut where the block of its first element ends, after 64 - t0 %
 * 64 more steps: "{ const int64_t t0 = m0; m1 = LESS(m1, m0 + (64 - t0 % 64) * 1); }". If the
 * loop goes along the lanes (partial accumulators), a step is as many indices as lanes.
 * Backwards, m0 is raised. */
void rd_print_block_limit(rd_printing *n, const rd_stmt *s)
{
    const rd_fold *f    = &n->t->p->fold[s->fold];
    const rd_for  *loop = blocks_around(n, s);
    const bool     lanes =
        rd_linear_coef(n->t, &s->fold_at.lane, loop->start_mark) == 1 && f->lane_extent > f->lanes;
    rd_text line = { 0 }, start = { 0 }, stop = { 0 };

    rd_print_axis(n, &start, loop->start_mark);
    rd_print_axis(n, &stop, loop->stop_mark);
    rd_text_add(&line, "{ const int64_t t%" PRId32 " = ", s->fold);
    rd_print_step_number(n, &line, s);
    if (loop->backwards)
        rd_text_add(&line, "; %s = MORE(%s, %s - (%" PRId64 " - t%" PRId32 " %% %" PRId64 ")); }",
                    start.at, start.at, stop.at, f->steps, s->fold, f->steps);
    else
        rd_text_add(&line,
                    "; %s = LESS(%s, %s + (%" PRId64 " - t%" PRId32 " %% %" PRId64 ") * %" PRId32
                    "); }",
                    stop.at, stop.at, start.at, f->steps, s->fold, f->steps, lanes ? f->lanes : 1);
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
    rd_text_end(&start, n->to);
    rd_text_end(&stop, n->to);
}
