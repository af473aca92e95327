/* nests.c - nests of loops that one compiled pass can replace: a loop whose indices are the pass's
 * rows, in it loops over one other axis, whose indices are its columns, and short loops, which are
 * written out or stay loops.
 *
 *   for i2:                                  rows
 *     fold1 starts
 *     for i1 of 3:                           written out
 *       for i0: fold1 takes (x - y)^2        columns
 *     for i0: scratch = fold1                not stored, but kept in a register
 *     for i0: fold0 takes exp(-scratch)
 *
 * The machine goes from loop to loop with scratch rows between them.  A pass computes all of an
 * element at once: what one loop over the columns hands to the next is the same element's. */
#include "kernels/cpu/tile/run/arrivals.h"
#include "kernels/cpu/tile/plan/passes.h"

/* Most indices of a short loop, most loops inside each other, most rows of scratch, most lanes of a
 * fold. */
enum { SHORT = 64, MOST_SHORT = 4, MOST_SCRATCH = 16, MOST_LANES = 64 };

/* Most indices of a loop that is written out though it could stay one, most operands that such a
 * loop walks along: a pass keeps a strip of each in the first-level cache, for each index. */
enum { FEW = 8, MOST_WALKED = 4 };

/* Most elements of a row that are read across rows: of 64 f32, a sum along them takes 4 times as
 * long so, of 16 as long. */
enum { MOST_ACROSS = 16 };

/* What is in a row of scratch: stored at these constants, read at no others. */
typedef struct kept {
    int32_t    slot;
    rd_address at; /* without the short loops' axes, their indices in the offset */
    int16_t    value;
} kept;

/* A fold that begins and ends in the nest: its lanes' values so far, -1: none. */
typedef struct inner_fold {
    bool    open;
    int16_t lane[MOST_LANES];
} inner_fold;

typedef struct nest {
    rd_writer      w;
    int32_t        begin, end; /* the LOOP and its END            */
    const rd_loop *row, *col, *shorts[MOST_SHORT];
    int64_t        index[MOST_SHORT]; /* of open short loops             */
    int32_t        n_short, n_kept;
    const rd_loop *stays; /* the short loop at hand that stays a loop */
    bool           in_columns, unrolled, wrong;
    int32_t        n_column_loop;
    kept          *scratch; /* MOST_SCRATCH of them */
    inner_fold    *fold;    /* all of the program's */
} nest;

static void give_up(nest *n)
{
    n->wrong = true;
}

/* ---- Positions ------------------------------------------------------------------------------- */
/* The address with the open short loops' indices put in. */
static rd_address here(const nest *n, const rd_address *at)
{
    rd_address a = { .slot = at->slot, .type = at->type, .offset = at->offset };

    for (int32_t k = 0; k < at->n_add; k++) {
        int32_t s = 0;

        while (s < n->n_short && n->shorts[s]->axis != at->add[k].axis)
            s++;
        if (s < n->n_short)
            a.offset += at->add[k].coef * n->index[s];
        else
            a.add[a.n_add++] = at->add[k];
    }
    return a;
}

/* Elements from row to row, or from column to column. */
static int64_t along(const rd_address *at, const rd_loop *loop)
{
    return rd_tile_walk_of(at, NULL, loop).col;
}

/* One cell for each column, the same in all rows? */
static bool cell_per_column(const nest *n, const rd_address *cell)
{
    return cell->n_add == 1 && cell->offset == 0 && cell->add[0].axis == n->col->axis &&
           cell->add[0].coef == 1;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
static bool is_scratch(const nest *n, const rd_address *at)
{
    return at->slot >= n->w.p->first_scratch;
}

/* Does an instruction outside the nest use the slot? */
static bool used_elsewhere(const nest *n, int32_t slot)
{
    for (int32_t i = 0; i < n->w.p->n_inst; i++) {
        const rd_inst *inst = &n->w.p->inst[i];

        if ((i < n->begin || i > n->end) && (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE) &&
            n->w.p->address[inst->arg].slot == slot)
            return true;
    }
    return false;
}

/* Is the slot, no scratch, also stored to in the nest?  What another element has stored must not be
 * read. */
static bool stored_too(const nest *n, int32_t slot)
{
    for (int32_t i = n->begin; i < n->end; i++)
        if (n->w.p->inst[i].kind == RD_I_STORE && n->w.p->address[n->w.p->inst[i].arg].slot == slot)
            return true;
    return false;
}

static kept *find_kept(nest *n, const rd_address *at)
{
    for (int32_t k = 0; k < n->n_kept; k++)
        if (n->scratch[k].slot == at->slot && n->scratch[k].at.type == at->type &&
            rd_pass_same_position(&n->scratch[k].at, at))
            return &n->scratch[k];
    return NULL;
}

static rd_pass_operand memory_operand(const nest *n, int32_t i)
{
    const rd_address *at = &n->w.p->address[n->w.p->inst[i].arg];

    return (rd_pass_operand){ .walk   = rd_tile_walk_of(at, n->row, n->col),
                              .offset = here(n, at).offset - at->offset,
                              .deep   = n->stays ? along(at, n->stays) : 0,
                              .inst   = i };
}

/* Does a short loop of many indices read rows for columns that lie apart?  The machine has vectors
 * along the rows. */
static bool reads_across(const nest *n, const rd_address *at)
{
    const rd_loop *loop  = n->stays ? n->stays : n->n_short ? n->shorts[n->n_short - 1] : NULL;
    const int64_t  apart = along(at, n->col);

    return !n->row && loop && apart != 0 && apart != 1 && loop->extent > MOST_ACROSS;
}

static void write_load(nest *n, int32_t i)
{
    const rd_inst   *inst = &n->w.p->inst[i];
    const rd_address at   = here(n, &n->w.p->address[inst->arg]);
    const kept      *k    = is_scratch(n, &at) ? find_kept(n, &at) : NULL;

    if (rd_pass_gathers(&at) || reads_across(n, &at) || (is_scratch(n, &at) && !k) ||
        (!is_scratch(n, &at) && stored_too(n, at.slot))) {
        give_up(n);
        return;
    }
    if (k) {
        rd_writer_name(&n->w, inst->dst, k->value);
        return;
    }
    rd_writer_add(&n->w,
                  (rd_spec_inst){ .kind = RD_SPEC_LOAD,
                                  .type = (uint8_t)at.type,
                                  .at   = rd_writer_operand(&n->w, memory_operand(n, i)) },
                  inst->dst);
    *(n->in_columns ? &n->w.pass->n_load : &n->w.pass->n_row_load) +=
        n->stays ? (int32_t)n->stays->extent : 1;
}

static void write_store(nest *n, int32_t i)
{
    const rd_inst   *inst = &n->w.p->inst[i];
    const rd_address at   = here(n, &n->w.p->address[inst->arg]);
    const int16_t    x    = rd_writer_value(&n->w, inst->a);
    kept            *k    = find_kept(n, &at);

    if (rd_pass_gathers(&at) || !n->in_columns ||
        (!k && is_scratch(n, &at) && n->n_kept == MOST_SCRATCH)) {
        give_up(n);
        return;
    }
    if (is_scratch(n, &at)) {
        if (used_elsewhere(n, at.slot) || along(&at, n->col) == 0)
            give_up(n);
        k  = k ? k : &n->scratch[n->n_kept++];
        *k = (kept){ .slot = at.slot, .at = at, .value = x };
        return;
    }
    rd_writer_add(&n->w,
                  (rd_spec_inst){ .kind = RD_SPEC_STORE,
                                  .a    = x,
                                  .at   = rd_writer_operand(&n->w, memory_operand(n, i)) },
                  -1);
}

/* ---- Folds that begin and end in the nest ---------------------------------------------------- */
/* How these reducers take an element, and merge, as an operator; theirs is a state of one
 * register. */
static rd_op as_op(rd_reducer_id reducer)
{
    switch (reducer) {
    case RD_RED_sum:
    case RD_RED_dot: return RD_OP_add;
    case RD_RED_prod: return RD_OP_mul;
    case RD_RED_min: return RD_OP_minimum;
    case RD_RED_max: return RD_OP_maximum;
    default: return RD_N_OPS;
    }
}

/* Is the position that of the short loops' indices alone? */
static bool of_short_loops(const nest *n, const rd_address *at)
{
    bool alone = true;

    for (int32_t k = 0; k < at->n_add; k++)
        alone = alone && n->stays && at->add[k].axis == n->stays->axis;
    return alone;
}

/* One block, whose steps come in order: the lane of the element at hand; -1: none of these. */
static int32_t lane_of(const nest *n, const rd_fold *f)
{
    const rd_address lane = here(n, &f->lane), outer = here(n, &f->outer);

    if (!of_short_loops(n, &lane) || !of_short_loops(n, &outer) || f->n_block != 1 ||
        f->lanes > MOST_LANES || f->scan || as_op(f->reducer) == RD_N_OPS || f->out != f->type)
        return -1;
    return (int32_t)(lane.offset % f->lanes); /* all indices of a loop that stays have the only
                                               * one */
}

static void begin_inner(nest *n, int32_t number)
{
    inner_fold *inner = &n->fold[number];

    inner->open = true;
    for (int32_t l = 0; l < MOST_LANES; l++)
        inner->lane[l] = -1;
}

static void step_product(nest *n, rd_dtype type, int16_t x, int16_t y, int16_t *sum)
{
    const rd_spec_inst fma = { .kind = RD_SPEC_MAP,
                               .op   = RD_OP_fma,
                               .type = (uint8_t)type,
                               .from = (uint8_t)type,
                               .a    = x,
                               .b    = y,
                               .c    = *sum };

    *sum = *sum < 0 ? rd_writer_map(&n->w, RD_OP_mul, type, x, y) : rd_writer_add(&n->w, fma, -1);
}

/* All indices of a loop that stays, from the left: on from what came before, or from what any
 * element replaces. */
static void sum_loop(nest *n, const rd_fold *f, int16_t x, int16_t y, int16_t *sum)
{
    const int32_t      loop  = n->w.loop;
    const rd_spec_inst begin = { .kind  = RD_SPEC_CONST,
                                 .type  = (uint8_t)f->type,
                                 .value = rd_fold_identity(f).u64 };
    rd_spec_inst       s     = { .kind = RD_SPEC_SUM,
                                 .op   = (uint8_t)as_op(f->reducer),
                                 .type = (uint8_t)f->type,
                                 .from = (uint8_t)f->type,
                                 .a    = x,
                                 .b    = y };

    n->w.loop = 0;
    s.c       = *sum < 0 ? rd_writer_add(&n->w, begin, -1) : *sum;
    n->w.loop = loop;
    if (f->reducer == RD_RED_dot)
        s.op = RD_OP_fma;
    *sum = rd_writer_add(&n->w, s, -1);
}

static void step_inner(nest *n, const rd_inst *inst)
{
    const rd_fold *f    = &n->w.p->fold[inst->arg];
    inner_fold    *in   = &n->fold[inst->arg];
    const int32_t  lane = lane_of(n, f);
    int16_t        x;

    if (lane < 0 || inst->c >= 0 || (f->n_cell > 1 && !cell_per_column(n, &f->cell))) {
        give_up(n);
        return;
    }
    x = rd_writer_value(&n->w, inst->a);
    if (n->stays) {
        sum_loop(n, f, x, f->reducer == RD_RED_dot ? rd_writer_value(&n->w, inst->b) : x,
                 &in->lane[lane]);
        return;
    }
    if (f->reducer == RD_RED_dot) {
        step_product(n, f->type, x, rd_writer_value(&n->w, inst->b), &in->lane[lane]);
        return;
    }
    /* As in reducers.def: of an element and a state, min and max take the element first. */
    if (in->lane[lane] < 0)
        in->lane[lane] = x;
    else if (f->reducer == RD_RED_min || f->reducer == RD_RED_max)
        in->lane[lane] = rd_writer_map(&n->w, as_op(f->reducer), f->type, x, in->lane[lane]);
    else
        in->lane[lane] = rd_writer_map(&n->w, as_op(f->reducer), f->type, in->lane[lane], x);
}

/* Lane l merges lane l + h for h = lanes/2 .. 1; where sums of f32 widen, in f64. */
static void close_inner(nest *n, const rd_inst *inst)
{
    const rd_fold *f    = &n->w.p->fold[inst->arg];
    inner_fold    *in   = &n->fold[inst->arg];
    const bool     wide = rd_fold_widens(f) && f->lanes > 1;
    const rd_dtype type = wide ? RD_F64 : f->type;
    const bool     swap = f->reducer == RD_RED_min || f->reducer == RD_RED_max;

    if (in->lane[0] < 0 || (f->n_cell > 1 && !cell_per_column(n, &f->cell))) {
        give_up(n);
        return;
    }
    for (int32_t l = 0; wide && l < f->lanes; l++)
        if (in->lane[l] >= 0)
            in->lane[l] = rd_writer_cast(&n->w, RD_F64, RD_F32, in->lane[l]);
    for (int32_t half = f->lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half; l++)
            if (in->lane[l + half] >= 0)
                in->lane[l] =
                    rd_writer_map(&n->w, as_op(f->reducer), type, in->lane[swap ? l + half : l],
                                  in->lane[swap ? l : l + half]);
    if (wide)
        in->lane[0] = rd_writer_cast(&n->w, RD_F32, RD_F64, in->lane[0]);
    rd_writer_name(&n->w, inst->dst, in->lane[0]);
    in->open = false;
}

/* ---- Folds that the nest feeds --------------------------------------------------------------- */
static bool can_feed(const nest *n, const rd_inst *inst)
{
    const rd_tile_fold *f    = &n->w.code->fold[inst->arg];
    const rd_fold      *fold = f->fold;
    const rd_tile_pass *pass = n->w.pass;

    if (!n->in_columns || !n->row || f->weighted || inst->c >= 0 || f->masked ||
        f->form != RD_FOLD_COLUMNS || fold->lanes != 1 || fold->reducer == RD_RED_user ||
        rd_reducer_decides(fold->reducer) || pass->n_fold == RD_SPEC_FOLDS || n->n_short)
        return false;
    if (along(&fold->cell, n->col) != 1 || along(&fold->cell, n->row) ||
        along(&fold->outer, n->col) || along(&fold->lane, n->col) ||
        along(&fold->outer, n->row) * f->row_steps + along(&fold->lane, n->row) != 1)
        return false;
    /* The index rises as elements come, so that the first of equals is the first to come. */
    if (f->indexed && !rd_pass_same_position(&fold->index, &fold->outer))
        return false;
    return pass->n_fold == 0 || rd_pass_go_together(&n->w.code->fold[pass->number[0]], f);
}

static void step_outer(nest *n, const rd_inst *inst)
{
    int32_t states = n->w.code->fold[inst->arg].n_state;

    for (int32_t k = 0; k < n->w.pass->n_fold; k++)
        states += n->w.code->fold[n->w.pass->number[k]].n_state;
    if (states > RD_SPEC_STATES || !can_feed(n, inst)) {
        give_up(n);
        return;
    }
    n->w.spec->form = n->w.pass->form      = RD_SPEC_COLUMNS;
    n->w.pass->number[n->w.pass->n_fold++] = inst->arg;
    rd_writer_step(&n->w, inst);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
static void write_body(nest *n, int32_t from, int32_t to);

static void write_columns(nest *n, int32_t pc, const rd_loop *loop)
{
    if (n->in_columns || loop->kind != RD_LOOP_EACH || loop->backwards ||
        loop->extent != n->col->extent) {
        give_up(n);
        return;
    }
    n->in_columns = true;
    n->n_column_loop++;
    write_body(n, pc + 1, loop->end);
    n->in_columns = false;
}

static bool is_exp(int op, rd_dtype type)
{
    return op == RD_OP_exp && rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* Does an instruction in a short loop do the same for each index, but for where it reads? */
static bool can_repeat(const nest *n, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_END: return true;
    case RD_I_MAP: return !is_exp(inst->op, inst->type); /* they are taken by strips */
    case RD_I_LOAD: return !is_scratch(n, &n->w.p->address[inst->arg]);
    case RD_I_LOOP: return n->w.p->loop[inst->arg].axis == n->col->axis;
    case RD_I_STEP: return n->fold[inst->arg].open && n->w.p->fold[inst->arg].lanes == 1;
    default: return false;
    }
}

/* Elements of the loop come before all exponentials. */
static bool has_exp(const rd_spec *spec)
{
    bool found = false;

    for (int k = 0; k < spec->n_inst; k++)
        found |= spec->inst[k].kind == RD_SPEC_MAP &&
                 is_exp(spec->inst[k].op, (rd_dtype)spec->inst[k].type);
    return found;
}

/* Should a loop stay one: are its indices many, and does nothing but sums come out of it? */
static bool stays_a_loop(const nest *n, int32_t pc, const rd_loop *loop)
{
    int32_t walked = 0;
    bool    can =
        loop->extent > FEW && !loop->backwards && !n->stays && n->w.spec->n_loop < RD_SPEC_LOOPS;

    for (int32_t i = pc + 1; i < loop->end && can; i++) {
        const rd_inst *inst = &n->w.p->inst[i];

        walked += inst->kind == RD_I_LOAD && along(&n->w.p->address[inst->arg], loop) != 0;
        can = can_repeat(n, inst);
    }
    return can && walked <= MOST_WALKED && !has_exp(n->w.spec);
}

static void write_loop(nest *n, int32_t pc, const rd_loop *loop)
{
    n->unrolled                          = true;
    n->stays                             = loop;
    n->w.spec->extent[n->w.spec->n_loop] = (uint8_t)loop->extent;
    n->w.loop                            = ++n->w.spec->n_loop;
    write_body(n, pc + 1, loop->end);
    n->w.loop = 0;
    n->stays  = NULL;
}

static void write_out(nest *n, int32_t pc, const rd_loop *loop)
{
    if (loop->kind != RD_LOOP_EACH || loop->extent > SHORT || n->n_short == MOST_SHORT ||
        loop->axis == n->w.p->root || n->w.p->axis_extent[loop->axis] != loop->extent) {
        give_up(n);
        return;
    }
    if (stays_a_loop(n, pc, loop)) {
        write_loop(n, pc, loop);
        return;
    }
    n->unrolled = true;
    n->n_short++;
    for (int64_t k = 0; k < loop->extent && !n->wrong && !n->w.full; k++) {
        n->shorts[n->n_short - 1] = loop;
        n->index[n->n_short - 1]  = loop->backwards ? loop->extent - 1 - k : k;
        write_body(n, pc + 1, loop->end);
    }
    n->n_short--;
}

static void write_inst(nest *n, int32_t i)
{
    const rd_inst *inst = &n->w.p->inst[i];

    if (rd_pass_has_halves(n->w.p, n->w.code, i)) {
        give_up(n);
        return;
    }
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_CAST:
    case RD_I_SELECT: rd_writer_compute(&n->w, inst); break;
    case RD_I_MAP:
        if (rd_pass_can_map(inst))
            rd_writer_compute(&n->w, inst);
        else
            give_up(n);
        break;
    case RD_I_LOAD: write_load(n, i); break;
    case RD_I_STORE: write_store(n, i); break;
    case RD_I_START: begin_inner(n, inst->arg); break;
    case RD_I_STEP:
        if (n->fold[inst->arg].open)
            step_inner(n, inst);
        else
            step_outer(n, inst);
        break;
    case RD_I_CLOSE:
        if (n->fold[inst->arg].open)
            close_inner(n, inst);
        else
            give_up(n);
        break;
    default: give_up(n);
    }
}

static void write_body(nest *n, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to && !n->wrong && !n->w.full; i++) {
        const rd_loop *loop =
            &n->w.p->loop[n->w.p->inst[i].kind == RD_I_LOOP ? n->w.p->inst[i].arg : 0];

        if (n->w.p->inst[i].kind != RD_I_LOOP) {
            write_inst(n, i);
            continue;
        }
        if (loop->axis == n->col->axis)
            write_columns(n, i, loop);
        else
            write_out(n, i, loop);
        i = loop->end;
    }
}

/* ---- Nests ----------------------------------------------------------------------------------- */
/* The loop with the largest extent in a loop. */
static const rd_loop *longest_within(const rd_program *p, int32_t begin)
{
    const rd_loop *longest = NULL;

    for (int32_t i = begin + 1; i < p->loop[p->inst[begin].arg].end; i++) {
        const rd_loop *loop = &p->loop[p->inst[i].kind == RD_I_LOOP ? p->inst[i].arg : 0];

        if (p->inst[i].kind == RD_I_LOOP && (!longest || loop->extent > longest->extent))
            longest = loop;
    }
    return longest;
}

/* The nest at a LOOP, its indices the rows or else the columns: true if it is one, and worth its
 * while. */
static bool write_nest(nest *n, int32_t begin, bool rows)
{
    const rd_program *p    = n->w.p;
    const rd_loop    *loop = &p->loop[p->inst[begin].arg];

    n->begin = begin;
    n->end   = loop->end;
    n->row   = rows ? loop : NULL;
    n->col   = rows ? longest_within(p, begin) : loop;
    if (loop->kind != RD_LOOP_EACH || loop->backwards || !n->col ||
        (rows && n->col->axis == loop->axis))
        return false;
    *n->w.pass = (rd_tile_pass){ .first = begin,
                                 .last  = begin,
                                 .rows  = rows ? (int32_t)(loop - p->loop) : -1,
                                 .cols  = (int32_t)(n->col - p->loop),
                                 .nest  = true };
    rd_writer_begin(&n->w, RD_SPEC_MAPS, 1);
    if (rows)
        write_body(n, begin + 1, loop->end);
    else
        write_columns(n, begin, loop);
    return !n->wrong && !n->w.full && (n->unrolled || n->n_column_loop > 1);
}

/* The pass that a nest at this LOOP is; false: none. */
static bool find_nest(const rd_program *p, const rd_tile_code *code, int32_t begin,
                      inner_fold *fold, rd_tile_pass *pass)
{
    const rd_loop_role role = code->loop[p->inst[begin].arg].role;
    rd_spec            spec;
    rd_name            name[RD_WRITER_NAMES];
    kept               scratch[MOST_SCRATCH];
    nest n = { .w       = { .p = p, .code = code, .pass = pass, .spec = &spec, .name = name },
               .scratch = scratch,
               .fold    = fold };

    for (int32_t k = 0; k < p->n_fold; k++)
        fold[k].open = false;
    if (role == RD_LOOP_COLS || !write_nest(&n, begin, role == RD_LOOP_OUTER))
        return false;
    pass->code = rd_pass_of(&spec);
    return true;
}

bool rd_tile_find_nests(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    inner_fold  *fold;
    rd_tile_pass pass;

    for (int32_t i = 0; i < p->n_inst; i++)
        code->inst[i].pass = -1;
    if (rd_tier_mode_now() == RD_TIER_OFF)
        return true;
    code->pass = get(pool, ((size_t)p->n_inst + 1) * sizeof *code->pass);
    fold       = get(pool, ((size_t)p->n_fold + 1) * sizeof *fold);
    if (!code->pass || !fold)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP &&
            (find_nest(p, code, i, fold, &pass) || rd_tile_find_phases(p, code, i, &pass))) {
            code->inst[i].pass = code->n_pass;
            if (!rd_pass_keep(code, &pass, get, pool))
                return false;
            i = p->loop[p->inst[i].arg].end;
        }
    return true;
}
