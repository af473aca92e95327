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
 * It does so for the blocks of sorted rows, if all their operands have room in half of the
 * registers: those of points in up to three dimensions, f32 by AVX-512.  10,000 points and as many
 * neighbours take 0.83 of the time for the distances alone.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/first_few.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* Most operands, and loads of these in a block. */
enum { MOST_HELD = 4, MOST_LOADS = 16 };

/* An operand: adjacent f32 of a slot from position `at` on, and the local array that holds a block
 * of them; array -1: not declared yet. */
typedef struct held_operand {
    int32_t   slot, array;
    rd_linear at;
} held_operand;

/* A block: the vector loop over 64 elements of a row, and the loop over rows around it.  load[k] is
 * a value that the block loads, and loads[k] the index in `operand` of what it loads. */
typedef struct held_block {
    rd_schedule *t;
    int32_t      rows, vector; /* statements */
    int32_t      n_load, n;
    int32_t      load[MOST_LOADS], loads[MOST_LOADS];
    held_operand operand[MOST_HELD];
} held_block;

/* ---- Which ----------------------------------------------------------------------------------- */
/* Returns the position with the axes of loops inside the block that run once (extent 1) replaced by
 * the one index of each: outside of the block, where the array is filled, such an axis is not
 * bound. */
static rd_linear outside_of_rounds(rd_schedule *t, int32_t stmt, int32_t vector, rd_linear at)
{
    for (int32_t s = t->stmt[stmt].parent; s != vector; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->extent == 1)
            at = rd_linear_with(t, at, rd_loop_of(t, s)->axis, rd_loop_of(t, s)->from.part[0].at);
    return at;
}

/* True if a position depends on what the loop binds: its index (axis), or the first or last index
 * of its round (start and stop, -1: it binds none). */
static bool binds(const rd_schedule *t, const rd_for *l, const rd_linear *at)
{
    return rd_linear_coef(t, at, l->axis) ||
           (l->start_mark >= 0 && rd_linear_coef(t, at, l->start_mark)) ||
           (l->stop_mark >= 0 && rd_linear_coef(t, at, l->stop_mark));
}

/* True if a position in the block may differ from row to row: a loop from the statement up to the
 * loop over rows binds one of its axes.  The vector loop does not count, as its index is that of
 * the element.  Other statements than loops around, such as an IF, count as if it differed. */
static bool varies_by_rows(const held_block *h, int32_t stmt, const rd_linear *at)
{
    const rd_schedule *t = h->t;

    for (int32_t s = t->stmt[stmt].parent; s != t->stmt[h->rows].parent; s = t->stmt[s].parent)
        if (t->stmt[s].kind != RD_S_LOOP || (s != h->vector && binds(t, rd_loop_of(t, s), at)))
            return true;
    return false;
}

/* True if a load may be done once before all rows: it reads adjacent f32 along `axis` (coefficient
 * 1), at a position without gathered indices (a term of axis < 0 is one), from a slot that the
 * program does not write. */
static bool reads_operand(const rd_schedule *t, const rd_tree_value *let, const rd_linear *at,
                          int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            return false;
    return let->type == RD_F32 && let->slot >= 0 && rd_linear_coef(t, at, axis) == 1 &&
           !rd_program_accesses(t->p, RD_I_STORE, let->slot);
}

/* Notes a load of an operand, which several loads may share.  False: there are too many operands or
 * loads, or the load is none that may be done before the rows. */
static bool note_load(held_block *h, int32_t stmt)
{
    rd_schedule        *t     = h->t;
    const int32_t       value = t->stmt[stmt].value;
    const rd_tree_value let   = t->let[value];
    const rd_linear     at    = outside_of_rounds(t, stmt, h->vector, let.at);
    int32_t             k     = 0;

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

/* Notes all loads of a block.  False: one of them cannot be held, or the operands' 64 elements of 4
 * bytes each need more than half of the vector registers (32 of AVX-512, else 16). */
static bool note_loads(held_block *h, int vector_bytes)
{
    const rd_schedule *t         = h->t;
    const int          registers = vector_bytes == 64 ? 32 : 16;

    for (int32_t s = h->vector; s >= 0; s = rd_next_stmt(t, s, h->vector)) {
        const rd_tree_value *let = rd_let_of(t, s);

        if (let && let->kind == RD_I_LOAD && !note_load(h, s))
            return false;
    }
    return h->n > 0 && h->n * RD_FRONT_BLOCK * 4 <= registers / 2 * vector_bytes;
}

/* Finds the block that stands before a FRONT statement: a vector loop, in a serial loop over rows,
 * whose axis is another one.  False: it is something else.  parent >= 0: the rows' loop is not the
 * root of a part, so that statements can be put before it. */
static bool find_block(rd_schedule *t, int32_t front, held_block *h)
{
    const int32_t vector = t->stmt[front].prev, rows = t->stmt[front].parent;

    *h = (held_block){ .t = t, .rows = rows, .vector = vector };
    return vector >= 0 && rd_is_vector(t, vector) && t->stmt[rows].kind == RD_S_LOOP &&
           rd_loop_of(t, rows)->kind == RD_FOR_SERIAL && t->stmt[rows].parent >= 0 &&
           rd_loop_of(t, rows)->axis != rd_loop_of(t, vector)->axis;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Declares a local array of RD_FRONT_BLOCK elements before the loop over rows; returns its
 * number. */
static int32_t array_before(rd_schedule *t, int32_t rows)
{
    const rd_tree_array store = {
        .storage = RD_IN_LOCAL, .fold = -1, .type = RD_F32, .extent = RD_FRONT_BLOCK
    };
    rd_stmt array = rd_stmt_of(RD_S_ARRAY);

    array.store = rd_add_store(t, &store);
    rd_put_before(t, rd_add_stmt(t, &array), rows);
    return array.store;
}

/* Adds the array of an operand before the rows, and the loop that fills it, a copy of the vector
 * loop without its body.  Its loads are `uncounted`: elements that are read count where rows read
 * them. */
static void add_array(const held_block *h, held_operand *operand)
{
    rd_schedule        *t    = h->t;
    const rd_for        loop = *rd_loop_of(t, h->vector);
    const rd_tree_value let  = { .kind      = RD_I_LOAD,
                                 .type      = RD_F32,
                                 .from      = RD_F32,
                                 .at        = operand->at,
                                 .slot      = operand->slot,
                                 .store     = -1,
                                 .uncounted = true,
                                 .made_by   = -1 };
    int32_t             fill;

    operand->array = array_before(t, h->rows);
    fill           = rd_add_loop(t, &loop);
    rd_put_before(t, fill, h->rows);
    if (t->failed)
        return;
    t->loop[t->stmt[fill].arg].hoisted_loads = 0;
    rd_store_at_end(t, fill, rd_add_value(t, fill, &let), operand->array);
}

/* Adds the operands' arrays, and makes the block's loads read these in place of
 * slots.  hoisted_loads counts loads that no longer stand in the loop, so that counted memory
 * traffic stays as it was; those from scratch slots (from first_scratch on) do not count. */
static void hold_operands(held_block *h)
{
    rd_schedule *t = h->t;

    for (int32_t k = 0; k < h->n && !t->failed; k++)
        add_array(h, &h->operand[k]);
    for (int32_t k = 0; k < h->n_load && !t->failed; k++) {
        rd_tree_value *let = &t->let[h->load[k]];

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
