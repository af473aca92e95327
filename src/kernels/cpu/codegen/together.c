/* together.c - rows of a loop that go together, so that a state is read and written once for all of
 * them, or an element is read once: as rounds that are written out in one loop over the strip; or
 * jammed, where each row has a loop inside that stays one (coordinates of points): of that loop the
 * rounds of all rows are written out (Callahan, Carr and Kennedy, 1990, "Improving Register
 * Allocation for Subscripted Variables"). */
#include "kernels/cpu/codegen/parts.h"
#include "core/caches.h"
#include <inttypes.h>

enum { RD_FETCHED_BYTES = 4096 };

/* Do further indices of an axis meet the same states? */
static bool keeps_states(const rd_codegen_fold *f, int32_t axis)
{
    return !rd_coef(&f->of.fold->cell, axis) && (f->mode == RD_FOLD_LANES || f->lanes == 1);
}

/* Rows that come from memory one after the other, and are short, the longest too: several side by
 * side end before prefetchers know them, one by one they are one run.  Of 4 KiB on they are
 * fetched. */
static bool streams_short_rows(const rd_codegen *n, int32_t loop)
{
    int64_t row = 0;

    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++) {
        const rd_address *at =
            n->p->inst[i].kind == RD_I_LOAD ? &n->p->address[n->p->inst[i].arg] : NULL;
        double bytes = at ? (double)rd_dtype_size(at->type) : 0;

        if (!at || rd_coef(at, n->here->axis) != 1 || !rd_coef(at, n->p->loop[loop].axis))
            continue;
        for (int32_t k = 0; k < at->n_add; k++)
            bytes *= at->add[k].axis < 0 ? 1 : (double)n->p->axis_extent[at->add[k].axis];
        const int64_t strip = rd_reach(n->p, n->here->axis) * rd_dtype_size(at->type);

        if (bytes > RD_CACHED_BYTES && strip > row)
            row = strip;
    }
    return row > 0 && row < (rd_fetches_ahead(n, loop) ? RD_FETCHED_BYTES : RD_RUN_BYTES);
}

/* So many that what moves to and fro, the states, is little beside what is read. */
static int rows_together(const rd_codegen *n, int32_t loop)
{
    int states = 0;

    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++)
        if (n->p->inst[i].kind == RD_I_STEP && !n->fold[n->p->inst[i].arg].inner)
            states += n->fold[n->p->inst[i].arg].of.n_state;
    return states > 2 ? 8 : 4;
}

/* Instructions of a round, with those of loops that are written out.  Halves are rounded by a dozen
 * each, of which chains keep gcc's combiner for half a minute. */
static int64_t written(const rd_codegen *n, int32_t loop)
{
    enum { ROUNDING = 12 };
    int64_t count = 0;

    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++) {
        int64_t times = rd_dtype_is_half(n->p->inst[i].type) ? ROUNDING : 1;

        for (int32_t k = n->p->inst[i].loop; k != loop && times < 1000; k = n->p->loop[k].parent)
            times *= n->p->loop[k].axis == n->here->axis ? 1 : n->p->loop[k].extent;
        count += times;
    }
    return count;
}

/* All steps of the fold in a row meet the same state, or one by the strip's element. */
static bool keeps_cell(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    for (int32_t k = n->p->inst[f->step].loop; k != loop; k = n->p->loop[k].parent)
        if (n->p->loop[k].axis != n->here->axis && rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return false;
    return keeps_states(f, n->p->loop[loop].axis);
}

/* A loop over the strip can do it for a few rows at once; a fold that begins and ends in a row has
 * its states in variables. */
static bool may_go_together(const rd_codegen *n, int32_t loop, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];

    switch (inst->kind) {
    case RD_I_START:
    case RD_I_CLOSE: return n->fold[inst->arg].inner;
    case RD_I_LOOP:
        return n->p->loop[inst->arg].axis == n->here->axis ||
               rd_writes_out(n, inst->arg, n->here->axis);
    case RD_I_LOAD:
        return !rd_lies_apart(n, i, n->here->axis) &&
               (n->reuse[i] < 0 || n->p->loop[n->reuse[i]].begin <= n->p->loop[loop].begin);
    case RD_I_STORE: return rd_coef(&n->p->address[inst->arg], n->here->axis) == 1;
    case RD_I_STEP:
    case RD_I_SCAN:
        return !rd_has_groups(&n->fold[inst->arg]) && !rd_cuts(n, inst) &&
               !n->fold[inst->arg].levels &&
               (n->fold[inst->arg].inner || keeps_cell(n, &n->fold[inst->arg], loop));
    default: return !rd_cuts(n, inst);
    }
}

bool rd_goes_together(const rd_codegen *n, int32_t loop)
{
    enum { MOST = 256 };
    const rd_loop *l     = &n->p->loop[loop];
    const int      rows  = rows_together(n, loop);
    bool           steps = false;

    if (!n->here || l->backwards || n->unrolled || rd_trips(n->p, loop) < rows ||
        streams_short_rows(n, loop) || rows * written(n, loop) > MOST)
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < l->end; i++) {
        if (!may_go_together(n, loop, i))
            return false;
        steps |= rd_takes_step(&n->p->inst[i]) && !n->fold[n->p->inst[i].arg].inner;
    }
    return steps;
}

/* ---- Jammed rows ----------------------------------------------------------------------------- */
enum { JAMMED = 4, MOST_WIDTH = 128 };

/* Its one loop inside that is not over the strip, -1. */
static int32_t loop_in(const rd_codegen *n, int32_t loop)
{
    int32_t found = -1;

    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++) {
        const int32_t k = n->p->inst[i].kind == RD_I_LOOP ? n->p->inst[i].arg : -1;

        if (k < 0 || n->p->loop[k].axis == n->here->axis)
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

/* A fold of one block that begins and ends in a row. */
static bool may_be_jammed(const rd_codegen_fold *f)
{
    return f->mode == RD_FOLD_CELLS && f->local && !f->inner && !f->room && !f->of.fold->scan &&
           !f->of.user && f->lanes == 1;
}

/* Does an instruction of the loop inside read what is made, or stored, in the row around it? */
static bool reads_row(const rd_codegen *n, int32_t i, int32_t loop, int32_t inside)
{
    const rd_program *p     = n->p;
    const rd_inst    *inst  = &p->inst[i];
    bool              found = false;
    int32_t           reg[RD_MOST_READ];

    for (int32_t k = rd_inst_reads(p, inst, reg) - 1; k >= 0; k--)
        found |= rd_within(n, n->made[reg[k]], loop) && !rd_within(n, n->made[reg[k]], inside);
    for (int32_t k = p->loop[loop].begin; inst->kind == RD_I_LOAD && k < p->loop[loop].end; k++)
        found |= p->inst[k].kind == RD_I_STORE &&
                 p->address[p->inst[k].arg].slot == p->address[inst->arg].slot;
    return found;
}

/* Are elements of the strip read that are the same for all rows?  Else there is nothing to share. */
static bool shares(const rd_codegen *n, int32_t loop, int32_t inside)
{
    bool found = false;

    for (int32_t i = n->p->loop[inside].begin; i < n->p->loop[inside].end; i++)
        found |= n->p->inst[i].kind == RD_I_LOAD && n->varies[n->p->inst[i].dst] &&
                 !rd_coef(&n->p->address[n->p->inst[i].arg], n->p->loop[loop].axis);
    return found;
}

bool rd_goes_jammed(const rd_codegen *n, int32_t loop)
{
    const rd_loop *l = &n->p->loop[loop];
    const int32_t  k = n->here && !n->unrolled && !n->here->wide ? loop_in(n, loop) : -1;

    if (k < 0 || l->backwards || rd_is_row(&n->p->loop[k]) || n->here->width > MOST_WIDTH ||
        rd_trips(n->p, loop) < JAMMED || rd_writes_out(n, k, n->here->axis) ||
        rd_ends_blocks(n, k) || !rd_goes_together(n, k) || !shares(n, loop, k))
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_START && !may_be_jammed(&n->fold[inst->arg]))
            return false;
        if (inst->kind == RD_I_EXIT || inst->kind == RD_I_SCAN ||
            (inst->kind == RD_I_LOAD && n->reuse[i] >= 0 &&
             n->p->loop[n->reuse[i]].begin > n->p->loop[loop].begin))
            return false;
        if (rd_within(n, i, k) &&
            (inst->kind == RD_I_STORE || reads_row(n, i, loop, k) ||
             (inst->kind == RD_I_STEP && !rd_within(n, n->fold[inst->arg].start, loop))))
            return false;
    }
    return true;
}

/* The rows' states lie one after the other; this is row number `row` from now on. */
static void at_row(rd_codegen *n, int32_t loop, int32_t row)
{
    n->bind[n->p->loop[loop].axis].number = row;
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (rd_within(n, n->fold[k].start, loop))
            n->fold[k].row = row;
}

static void set_rows(rd_codegen *n, int32_t loop, int32_t rows)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (rd_within(n, n->fold[k].start, loop))
            n->fold[k].rows = rows;
}

/* Of a row all but where folds begin, and but loops, which are over the strip. */
static bool is_behind(const rd_inst *inst)
{
    return inst->kind != RD_I_START && inst->kind != RD_I_LOOP && inst->kind != RD_I_END;
}

/* Folds begin, the loop inside takes its rounds for all rows; and then comes what else stands in
 * each, which that loop does not read. */
static void walk_jam(rd_codegen *n, int32_t loop)
{
    const int32_t inside = loop_in(n, loop), from = n->p->loop[loop].begin + 1,
                  to = n->p->loop[loop].end;

    set_rows(n, loop, JAMMED);
    for (int32_t i = from; i < to; i++)
        if (n->p->inst[i].kind == RD_I_START)
            rd_codegen_start(n, n->p->inst[i].arg);
    n->jam = loop;
    rd_walk_items(n, n->p->loop[inside].begin, n->p->loop[inside].end + 1);
    rd_strip_loop_end(n);
    n->jam = -1;
    for (int32_t row = 0; row < JAMMED; row++) {
        at_row(n, loop, row);
        rd_line(n, "{");
        n->indent++;
        for (int32_t i = from; i < to; i++)
            if (i == n->p->loop[inside].begin)
                i = n->p->loop[inside].end;
            else if (is_behind(&n->p->inst[i]))
                rd_walk_items(n, i, i + 1);
        rd_strip_loop_end(n);
        n->indent--;
        rd_line(n, "}");
    }
    at_row(n, loop, 0);
    set_rows(n, loop, 1);
}

/* ---- Rounds of a loop over the strip --------------------------------------------------------- */
static void add_rounds(rd_codegen *n, int32_t loop, int rows)
{
    const rd_loop *l = &n->p->loop[loop];

    n->bind[l->axis].number = 0;
    if (rows > 1 && rd_fetches_ahead(n, loop)) {
        rd_strip_loop(n);
        rd_add_ahead(n, loop, rows);
    }
    rd_states_hold(n, loop);
    n->unrolled++;
    for (int k = 0; k < rows; k++) {
        n->bind[l->axis].number = k;
        rd_text_add(rd_strip_loop(n), " {");
        rd_walk_body(n, loop);
        rd_text_add(rd_strip_loop(n), " }");
    }
    n->unrolled--;
    rd_states_drop(n, loop);
}

static void walk_rows(rd_codegen *n, int32_t loop, int rows)
{
    if (n->jam < 0) {
        add_rounds(n, loop, rows);
        return;
    }
    for (int32_t row = 0; row < JAMMED; row++) {
        at_row(n, n->jam, row);
        rd_text_add(rd_strip_loop(n), " {");
        add_rounds(n, loop, rows);
        rd_text_add(rd_strip_loop(n), " }");
    }
    at_row(n, n->jam, 0);
}

/* As many rows as may be go together, then one at a time. */
void rd_walk_together(rd_codegen *n, int32_t loop, const char *from, const char *to)
{
    const int32_t a     = n->p->loop[loop].axis;
    const rd_bind kept  = n->bind[a];
    const bool    jams  = rd_goes_jammed(n, loop);
    const int     steps = jams ? JAMMED : rows_together(n, loop);

    rd_line(n, "int64_t i%d = %s;", a, from);
    for (int rows = steps; rows > 0; rows = rows > 1 ? 1 : 0) {
        rd_line(n, "for (; i%d + %d <= %s; i%d += %d) {", a, rows, to, a, rows);
        n->indent++;
        n->bind[a] = (rd_bind){ .kind = RD_BIND_LATER, .range = kept.range };
        if (jams && rows > 1)
            walk_jam(n, loop);
        else if (jams)
            rd_walk_body(n, loop);
        else
            walk_rows(n, loop, rows);
        rd_strip_loop_end(n);
        if (!jams && rows > 1)
            rd_codegen_exit_rows(n, loop, rows, to);
        n->indent--;
        rd_line(n, "}");
    }
    n->bind[a] = kept;
}
