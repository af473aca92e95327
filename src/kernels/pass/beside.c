/* beside.c - blocks of a user's reducer go beside each other.
 *
 * A block is folded from the left, each step waiting for the last.  Blocks know nothing of each other,
 * so a few of them are rounds of a vector loop: their elements are collected first, each round takes
 * the next one of every block, and the blocks go up in order:
 *
 *     block i0 from lo to hi {         serial i0 from lo to hi down to lo + 512 k by 512, starts m0 {
 *       cut f0 ..                        serial m1 to 8 { serial i0 .. { r0 = ..; a1[..] = r0 } }
 *       serial i0 { r0 = ..; step f0 }   vector m1 to 8 { near f0, a2 at m1 }
 *       ends f0 .. }                     serial m2 to 64 { vector m1 to 8 { step f0 a2 .. } }
 *                                        serial m1 to 8 { back f0, a2 at m1; ends f0 .. } }
 *                                      block i0 from hi down to lo + 512 k to hi { as before } */
#include "kernels/loop/facts.h"
#include "kernels/pass/arrays.h"
#include "kernels/pass/held.h"
#include "kernels/pass/pass.h"

/* A loop over the steps of blocks of one fold, and what is made of it. */
typedef struct beside {
    rd_schedule *t;
    int32_t      fold, block, loop, step, ends; /* statements; loop: the one in `block` */
    int64_t      n, steps;                      /* blocks beside each other; steps of one */
    int32_t      axis, first, number, at;       /* marks: the first index of all blocks; which of
                                                 * them; which of its steps                  */
    int32_t      elements, states;              /* arrays */
} beside;

/* ---- Which ------------------------------------------------------------------------------------ */
/* Twice as many as a vector holds: while one takes its step, so does the other. */
static int64_t blocks_beside(const rd_schedule *t, const rd_target *target, int32_t fold)
{
    const rd_emit_fold *f      = &t->fold[fold].of;
    const int           widest = f->user ? rd_user_widest(f) : 0;

    return widest ? 2 * (int64_t)(target->vector / widest) : 1;
}

static bool is_value(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return s->kind == RD_S_LET && t->let[s->value].kind != RD_I_CALL &&
           t->let[s->value].kind != RD_I_INDEX;
}

/* The step that a loop ends with, behind values alone; -1. */
static int32_t step_of(const rd_schedule *t, int32_t loop)
{
    const int32_t last = t->stmt[loop].last;

    for (int32_t s = t->stmt[loop].first; s >= 0 && s != last; s = t->stmt[s].next)
        if (!is_value(t, s))
            return -1;
    return last >= 0 && t->stmt[last].kind == RD_S_STEP ? last : -1;
}

/* A block loop that holds a CUT, such a loop, and ENDS. */
static bool find_loops(beside *b)
{
    const rd_schedule *t   = b->t;
    const int32_t      cut = t->stmt[b->block].first;

    b->ends = t->stmt[b->block].last;
    b->loop = cut >= 0 ? t->stmt[cut].next : -1;
    if (b->loop < 0 || t->stmt[cut].kind != RD_S_CUT || t->stmt[b->loop].kind != RD_S_LOOP ||
        t->stmt[b->loop].next != b->ends || t->stmt[b->ends].kind != RD_S_ENDS ||
        rd_loop_of(t, b->loop)->kind != RD_FOR_SERIAL || rd_loop_of(t, b->loop)->of < 0)
        return false;
    b->step = step_of(t, b->loop);
    b->fold = b->step >= 0 ? t->stmt[b->step].fold : -1;
    return b->fold >= 0 && t->stmt[cut].fold == b->fold && t->stmt[b->ends].fold == b->fold;
}

static bool may_go(const beside *b)
{
    const rd_schedule  *t     = b->t;
    const rd_loop_fold *f     = &t->fold[b->fold];
    const rd_stmt      *s     = &t->stmt[b->step];
    const rd_for       *block = rd_loop_of(t, b->block), *loop = rd_loop_of(t, b->loop);

    return f->of.user && s->w < 0 && s->mask < 0 && s->label < 0 && f->lanes == 1 && !f->mixed &&
           !block->backwards && block->from.n == 1 && block->from.part[0].by <= 1 &&
           block->to.n == 1 && block->to.part[0].by <= 1 &&
           !rd_linear_coef(t, &s->of.cell, loop->axis) &&
           rd_trips(t->p, loop->of) >= b->n * b->steps &&
           rd_begins_with_block(t, b->fold, b->block, b->step);
}

/* ---- Parts ------------------------------------------------------------------------------------ */
/* "serial m3 to 4": a loop of so many rounds over a mark, at the end of a body. */
static int32_t add_loop(beside *b, int32_t body, rd_for_kind kind, int32_t axis, int64_t rounds)
{
    const rd_for  loop = { .kind   = kind,
                           .axis   = axis,
                           .start  = -1,
                           .stop   = -1,
                           .from   = rd_edge_of(rd_linear_of(0)),
                           .to     = rd_edge_of(rd_linear_of(rounds)),
                           .step   = 1,
                           .extent = rounds,
                           .of     = -1,
                           .strip  = -1 };
    const int32_t made = rd_add_loop(b->t, &loop);

    rd_append(b->t, body, made);
    return made;
}

static int32_t add_array(beside *b, int32_t body, const rd_store *store)
{
    const int32_t array = rd_add_store(b->t, store);

    rd_append(b->t, body, rd_add_declaration(b->t, array));
    return array;
}

static rd_linear of_axis(beside *b, int64_t coef, int32_t axis)
{
    return rd_linear_plus_axis(b->t, rd_linear_of(0), coef, axis);
}

/* m0 + 64 * m1: where a block begins. */
static rd_linear begin_of(beside *b)
{
    return rd_linear_plus_axis(b->t, of_axis(b, 1, b->first), b->steps, b->number);
}

static rd_linear with_index(beside *b, rd_linear at, rd_linear index)
{
    return rd_linear_with(b->t, at, b->axis, index);
}

/* What the steps take, step after step, of all blocks. */
static void collect(beside *b, int32_t body)
{
    rd_schedule    *t      = b->t;
    const int32_t   around = add_loop(b, body, RD_FOR_SERIAL, b->number, b->n);
    const int32_t   made   = rd_stmt_copy(t, b->loop);
    const rd_linear begin  = begin_of(b);
    rd_stmt         store  = rd_stmt_of(RD_S_STORE);
    rd_for         *loop;

    rd_append(t, around, made);
    if (t->failed)
        return;
    loop         = &t->loop[t->stmt[made].arg];
    loop->from   = rd_edge_of(begin);
    loop->to     = rd_edge_of(begin);
    loop->of     = -1;
    loop->extent = b->steps;
    loop->to.part[0].at.offset += b->steps;
    store.store = b->elements;
    store.type  = t->store[b->elements].type;
    store.x     = t->stmt[t->stmt[made].last].x;
    store.at    = rd_linear_plus(t, of_axis(b, 1, b->number), b->n,
                                 rd_linear_plus(t, of_axis(b, 1, b->axis), -1, begin));
    rd_take_out(t, t->stmt[made].last);
    rd_append(t, made, rd_add_stmt(t, &store));
}

/* NEAR, or BACK, of the states of the block at hand. */
static void add_copy(beside *b, int32_t body, rd_stmt_kind kind)
{
    rd_stmt s = rd_copy_of_states(&b->t->stmt[b->step], kind, b->states);

    s.at = of_axis(b, 1, b->number);
    rd_append(b->t, body, rd_add_stmt(b->t, &s));
}

/* Step by step, the blocks beside each other take an element each, from the array and into states
 * of their own. */
static void take_steps(beside *b, int32_t body)
{
    rd_schedule    *t      = b->t;
    const int32_t   around = add_loop(b, body, RD_FOR_SERIAL, b->at, b->steps);
    const int32_t   vector = add_loop(b, around, RD_FOR_VECTOR, b->number, b->n);
    const rd_linear index  = rd_linear_plus_axis(t, begin_of(b), 1, b->at);
    const rd_dtype  type   = t->store[b->elements].type;
    const rd_let    let    = { .kind  = RD_I_LOAD,
                               .type  = type,
                               .from  = type,
                               .arg   = -1,
                               .slot  = -1,
                               .store = b->elements,
                               .at = rd_linear_plus_axis(t, of_axis(b, 1, b->number), b->n, b->at) };
    rd_stmt         step   = t->stmt[b->step];

    step.x        = rd_add_value(t, vector, &let);
    step.store    = b->states;
    step.of.lane  = with_index(b, step.of.lane, index);
    step.of.outer = with_index(b, step.of.outer, index);
    step.of.index = with_index(b, step.of.index, index);
    step.of.more  = of_axis(b, 1, b->number);
    rd_append(t, vector, rd_add_stmt(t, &step));
}

/* Block after block: its states go back, and it ends. */
static void push_blocks(beside *b, int32_t body)
{
    rd_schedule  *t      = b->t;
    const int32_t around = add_loop(b, body, RD_FOR_SERIAL, b->number, b->n);
    rd_linear     last   = begin_of(b);
    rd_stmt       ends   = t->stmt[b->step];

    last.offset += b->steps - 1;
    ends.kind     = RD_S_ENDS;
    ends.x        = -1;
    ends.of.lane  = with_index(b, ends.of.lane, last);
    ends.of.outer = with_index(b, ends.of.outer, last);
    ends.of.index = with_index(b, ends.of.index, last);
    add_copy(b, around, RD_S_BACK);
    rd_append(t, around, rd_add_stmt(t, &ends));
}

/* ---- All together ----------------------------------------------------------------------------- */
/* The loop over so many blocks, before the one over single blocks, which takes what is left. */
static int32_t put_loop(beside *b)
{
    rd_schedule       *t      = b->t;
    const rd_for       block  = *rd_loop_of(t, b->block);
    const int64_t      width  = b->n * b->steps;
    const rd_edge_part border = { .at    = block.to.part[0].at,
                                  .first = block.from.part[0].at,
                                  .by    = width };
    const int32_t      made   = add_loop(b, t->stmt[b->block].parent, RD_FOR_SERIAL, b->axis, 0);
    rd_for            *loop;

    rd_take_out(t, made);
    rd_put_before(t, made, b->block);
    if (t->failed)
        return made;
    loop                                        = &t->loop[t->stmt[made].arg];
    loop->start                                 = b->first;
    loop->from                                  = block.from;
    loop->to                                    = block.to;
    loop->to.part[0]                            = border;
    loop->step                                  = width;
    loop->extent                                = block.extent >= 0 ? block.extent / width : -1;
    t->loop[t->stmt[b->block].arg].from.part[0] = border;
    return made;
}

/* Builds the loop over so many blocks: elements are collected, states come near, steps are taken,
 * blocks end. */
static void go_beside(beside *b)
{
    rd_schedule   *t        = b->t;
    const rd_store elements = { .place  = RD_IN_LOCAL,
                                .type   = t->let[t->stmt[b->step].x].type,
                                .fold   = -1,
                                .extent = b->n * b->steps },
                   states   = { .place = RD_IN_LOCAL, .fold = b->fold, .extent = b->n };
    int32_t body;

    b->axis   = rd_loop_of(t, b->loop)->axis;
    b->first  = rd_add_mark(t);
    b->number = rd_add_mark(t);
    b->at     = rd_add_mark(t);
    body      = put_loop(b);
    if (t->failed)
        return;
    b->elements = add_array(b, body, &elements);
    b->states   = add_array(b, body, &states);
    collect(b, body);
    add_copy(b, add_loop(b, body, RD_FOR_VECTOR, b->number, b->n), RD_S_NEAR);
    take_steps(b, body);
    push_blocks(b, body);
}

void rd_pass_beside(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            beside b = { .t = t, .block = s };

            if (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->kind != RD_FOR_BLOCK ||
                !find_loops(&b))
                continue;
            b.n     = blocks_beside(t, target, b.fold);
            b.steps = t->p->fold[b.fold].steps;
            if (b.n > 2 && may_go(&b))
                go_beside(&b);
        }
}
