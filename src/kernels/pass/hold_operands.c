/* hold_operands.c - The pass hold_operands keeps elements of a block in registers that all rows
 * read, where the rows' results go to memory.  Compilers cannot tell that a result is no element.
 *
 *     serial i0 from m0 to m1 {                array a1
 *       vector i4 from m6 to m7 {              vector i4 from m6 to m7 {
 *         r6 = load s2[i4] ..                    r8 = load s2[i4]; a1[i4 - m6] = r8 }
 *         s6[1024*i0 + i4 - m4] = r3 }         serial i0 from m0 to m1 {
 *       front .. }                               vector i4 from m6 to m7 {
 *                                                  r6 = load a1[i4 - m6] ..
 *
 * It does so for the blocks of sorted rows, if all their operands have room in half of the registers:
 * those of points in up to three dimensions, f32 by AVX-512.  10,000 points and as many neighbours take
 * 0.83 of the time for the distances alone.
 *
 * Fields. A loop's `strip` is the number of the strips that it runs over, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/first_few.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* Most operands, and loads of these in a block. */
enum { MOST_HELD = 4, MOST_LOADS = 16 };

/* Adjacent elements of a slot, and the array that holds them. */
typedef struct held_operand {
    int32_t   slot, array;
    rd_linear at;
} held_operand;

/* A block, the loop over rows around it, and loads of operands: values, and which one each loads. */
typedef struct held_block {
    rd_schedule *t;
    int32_t      rows, vector; /* statements */
    int32_t      n_load, n;
    int32_t      load[MOST_LOADS], loads[MOST_LOADS];
    held_operand operand[MOST_HELD];
} held_block;

/* ---- Which ----------------------------------------------------------------------------------- */
/* Replaces the axes of loops of one round inside the block, which a position leaves, by their
 * index. */
static rd_linear outside_of_rounds(rd_schedule *t, int32_t stmt, int32_t vector, rd_linear at)
{
    for (int32_t s = t->stmt[stmt].parent; s != vector; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->extent == 1)
            at = rd_linear_with(t, at, rd_loop_of(t, s)->axis, rd_loop_of(t, s)->from.part[0].at);
    return at;
}

/* True if a loop binds one of the axes of a position. */
static bool binds(const rd_schedule *t, const rd_for *l, const rd_linear *at)
{
    return rd_linear_coef(t, at, l->axis) || (l->start >= 0 && rd_linear_coef(t, at, l->start)) ||
           (l->stop >= 0 && rd_linear_coef(t, at, l->stop));
}

/* True if a position in the block is another one in each row: a loop between binds one of its axes. */
static bool varies_by_rows(const held_block *h, int32_t stmt, const rd_linear *at)
{
    const rd_schedule *t = h->t;

    for (int32_t s = t->stmt[stmt].parent; s != t->stmt[h->rows].parent; s = t->stmt[s].parent)
        if (t->stmt[s].kind != RD_S_LOOP || (s != h->vector && binds(t, rd_loop_of(t, s), at)))
            return true;
    return false;
}

/* True if a load reads adjacent f32 of an array that the program does not write, at a position
 * without data. */
static bool reads_operand(const rd_schedule *t, const rd_let *let, const rd_linear *at,
                          int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return let->type == RD_F32 && let->slot >= 0 && rd_linear_coef(t, at, axis) == 1 &&
           !rd_program_accesses(t->p, RD_I_STORE, let->slot);
}

/* Notes a load of an operand.  False: there are too many, or it is of something else. */
static bool note_load(held_block *h, int32_t stmt)
{
    rd_schedule    *t     = h->t;
    const int32_t   value = t->stmt[stmt].value;
    const rd_let    let   = t->let[value];
    const rd_linear at    = outside_of_rounds(t, stmt, h->vector, let.at);
    int32_t         k     = 0;

    if (!reads_operand(t, &let, &at, rd_loop_of(t, h->vector)->axis) ||
        varies_by_rows(h, stmt, &at))
        return false;
    while (k < h->n &&
           (h->operand[k].slot != let.slot || !rd_linear_same(t, &h->operand[k].at, &at)))
        k++;
    if (k == MOST_HELD || h->n_load == MOST_LOADS)
        return false;
    if (k == h->n)
        h->operand[h->n++] = (held_operand){ .slot = let.slot, .array = -1, .at = at };
    h->loads[h->n_load]  = k;
    h->load[h->n_load++] = value;
    return true;
}

/* Notes all loads of a block.  False: not all of them are held, or they need too many registers. */
static bool note_loads(held_block *h, int vector_bytes)
{
    const rd_schedule *t         = h->t;
    const int          registers = vector_bytes == 64 ? 32 : 16;

    for (int32_t s = h->vector; s >= 0; s = rd_next_stmt(t, s, h->vector)) {
        const rd_let *let = rd_let_of(t, s);

        if (let && let->kind == RD_I_LOAD && !note_load(h, s))
            return false;
    }
    return h->n > 0 && h->n * RD_FRONT_BLOCK * 4 <= registers / 2 * vector_bytes;
}

/* Finds the block before a front: it and the front are all of a serial loop over rows. */
static bool find_block(rd_schedule *t, int32_t front, held_block *h)
{
    const int32_t vector = t->stmt[front].prev, rows = t->stmt[front].parent;

    *h = (held_block){ .t = t, .rows = rows, .vector = vector };
    return vector >= 0 && rd_is_vector(t, vector) && t->stmt[rows].kind == RD_S_LOOP &&
           rd_loop_of(t, rows)->kind == RD_FOR_SERIAL && t->stmt[rows].parent >= 0 &&
           rd_loop_of(t, rows)->axis != rd_loop_of(t, vector)->axis;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Declares an array of a block before the rows. */
static int32_t array_before(rd_schedule *t, int32_t rows)
{
    const rd_store store = {
        .storage = RD_IN_LOCAL, .fold = -1, .type = RD_F32, .extent = RD_FRONT_BLOCK
    };
    rd_stmt array = rd_stmt_of(RD_S_ARRAY);

    array.store = rd_add_store(t, &store);
    rd_put_before(t, rd_add_stmt(t, &array), rows);
    return array.store;
}

/* Adds the array of an operand before the rows, and the loop that fills it.  Elements count where
 * rows read them. */
static void add_array(const held_block *h, held_operand *operand)
{
    rd_schedule *t    = h->t;
    const rd_for loop = *rd_loop_of(t, h->vector);
    const rd_let let  = { .kind      = RD_I_LOAD,
                          .type      = RD_F32,
                          .from      = RD_F32,
                          .at        = operand->at,
                          .slot      = operand->slot,
                          .store     = -1,
                          .uncounted = true,
                          .made_by   = -1 };
    int32_t      fill;

    operand->array = array_before(t, h->rows);
    fill           = rd_add_loop(t, &loop);
    rd_put_before(t, fill, h->rows);
    if (t->failed)
        return;
    t->loop[t->stmt[fill].arg].hoisted_loads = 0;
    rd_store_at_end(t, fill, rd_add_value(t, fill, &let), operand->array);
}

/* Lets the loads read the arrays. */
static void hold_operands(held_block *h)
{
    rd_schedule *t = h->t;

    for (int32_t k = 0; k < h->n && !t->failed; k++)
        add_array(h, &h->operand[k]);
    for (int32_t k = 0; k < h->n_load && !t->failed; k++) {
        rd_let *let = &t->let[h->load[k]];

        t->loop[t->stmt[h->vector].arg].hoisted_loads +=
            !let->uncounted && let->slot < t->p->first_scratch;
        let->slot  = -1;
        let->store = h->operand[h->loads[k]].array;
        let->at    = rd_strip_element(t, h->vector);
    }
}

/* The pass: holds operands of blocks that have fronts. */
void rd_pass_hold_operands(rd_schedule *t, const rd_target *target)
{
    held_block h;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_FRONT && find_block(t, s, &h) &&
                note_loads(&h, target->vector))
                hold_operands(&h);
}
