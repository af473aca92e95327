/* shared_transpose.c - transposes operands of a map through shared memory, by squares of 32 x 32
 * elements:
 *
 *     items i0 to 4096                   items i0 to 4096 by 32, starts m0, stops m1
 *       items i1 to 4096                   items i1 to 4096 by 32, starts m2, stops m3
 *         r0 = load s0[i0 + 4096*i1]         serial i1 from m2 to m3, 8 ahead
 *         s1[4096*i0 + i1] = r0                threads i0 from m0 to least(m0 + 32, m1)
 *                                                a0[i0 - m0 + 33*(i1 - m2)] = load s0[i0 + 4096*i1]
 *                                            barrier
 *                                            serial i0 from m0 to m1
 *                                              threads i1 from m2 to least(m2 + 32, m3)
 *                                                r0 = load a0[i0 - m0 + 33*(i1 - m2)]
 *                                                s1[4096*i0 + i1] = r0
 *
 * So a warp reads along the operand's rows and writes along the result's rows.  Rows of a square
 * are 33 elements apart, so the elements of a column lie in 32 different banks.
 *
 * m0 to m3 are marks: axes that are bound to the first index of a square along each axis, and to
 * the one behind its last.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* A side is as long as a warp has threads.  At most 16 operands are transposed. */
enum { SIDE = 32, PITCH = SIDE + 1, MOST_TRANSPOSED = 16 };

/* The state that the functions of this file share. */
typedef struct transposing {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            axis[2];           /* along rows of the operand, and of the result */
    int32_t            start[2], stop[2]; /* marks of the square                 */
    int32_t            item;              /* the innermost loop over items        */
    int32_t            fills;             /* the last loop that fills a square, -1 */
} transposing;

/* The position mark (axis bound to an end of a range) + offset. */
static rd_linear at_mark(const transposing *c, int32_t mark, int64_t offset)
{
    return rd_linear_plus_axis(c->t, rd_linear_of(offset), 1, mark);
}

/* ---- Squares --------------------------------------------------------------------------------- */
/* Makes the loops over both axes go by squares, whose first and last indices are marks (axes bound
 * to the ends of a range).  False: there are not two loops. */
static bool tile_item_loops(transposing *c)
{
    rd_schedule  *t     = c->t;
    const int32_t body  = t->part[RD_PART_BODY];
    int           found = 0;

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        for (int k = 0; k < 2; k++) {
            rd_for *l = rd_is_item_loop(t, s) ? &t->loop[t->stmt[s].arg] : NULL;

            if (!l || l->axis != c->axis[k])
                continue;
            l->start = c->start[k] = rd_add_mark(t);
            l->stop = c->stop[k] = rd_add_mark(t);
            l->step              = SIDE;
            l->extent            = (l->extent + SIDE - 1) / SIDE;
            found++;
        }
    return found == 2;
}

/* The position of an element in a square: i0 - m0 + 33*(i1 - m2), as the operand's rows lie 33
 * apart. */
static rd_linear place_in_square(const transposing *c)
{
    rd_linear at = rd_linear_of(0);

    for (int k = 0; k < 2; k++) {
        const int64_t coef = k ? PITCH : 1;

        at = rd_linear_plus_axis(c->t, at, coef, c->axis[k]);
        at = rd_linear_plus_axis(c->t, at, -coef, c->start[k]);
    }
    return at;
}

/* A loop over one side of the square.  Threads take the whole side, up to the end of the axis; a
 * serial loop ends at the square's stop mark. It comes from no loop of the program (of -1). */
static rd_for loop_over(const transposing *c, int k, rd_for_kind kind)
{
    rd_for loop = { .kind  = kind,
                    .axis  = c->axis[k],
                    .start = -1,
                    .stop  = -1,
                    .from  = rd_edge_of(at_mark(c, c->start[k], 0)),
                    .to    = rd_edge_of(at_mark(c, kind == RD_FOR_THREAD ? c->start[k] : c->stop[k],
                                             kind == RD_FOR_THREAD ? SIDE : 0)),
                    .step  = 1,
                    .extent = SIDE,
                    .of     = -1,
                    .strip  = -1 };

    if (kind == RD_FOR_THREAD)
        rd_edge_add(&loop.to, at_mark(c, c->stop[k], 0));
    return loop;
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Adds loops that fill a square with an operand before all else, and lets the LET read the square.
 * That LET then reads an array of the tree (store), no memory of the program (slot -1). */
static void fill_square(transposing *c, int32_t stmt, int32_t inst)
{
    rd_schedule   *t      = c->t;
    const int32_t  load   = rd_stmt_copy(t, stmt);
    const rd_dtype type   = t->let[t->stmt[stmt].value].type;
    const rd_store square = { .storage     = RD_IN_BLOCK,
                              .type        = type,
                              .memory      = true,
                              .fold        = -1,
                              .extent      = SIDE * PITCH,
                              .byte_offset = inst };
    const int32_t  store  = rd_add_store(t, &square);
    rd_for  serial = loop_over(c, 1, RD_FOR_SERIAL), threads = loop_over(c, 0, RD_FOR_THREAD);
    rd_stmt to_square = rd_stmt_of(RD_S_STORE);
    rd_let *let;
    int32_t behind, made;

    serial.prefetched = c->plan->batch;
    if (t->failed)
        return;
    to_square.store            = store;
    to_square.type             = type;
    to_square.at               = place_in_square(c);
    to_square.x                = t->stmt[load].value;
    t->stmt[load].vector_width = 1;
    behind                     = rd_add_stmt(t, &to_square);
    rd_put_before(t, load, t->stmt[c->item].first);
    rd_put_behind(t, behind, load);
    made = rd_put_loop_around(t, load, behind, &threads);
    made = rd_put_loop_around(t, made, made, &serial);
    if (t->failed)
        return;
    c->fills   = c->fills < 0 ? made : c->fills;
    let        = &t->let[t->stmt[stmt].value];
    let->slot  = -1;
    let->store = store;
    let->at    = place_in_square(c);
}

/* ---- The whole item -------------------------------------------------------------------------- */
/* Moves values that stand around the item into it, as they may depend on indices that only the
 * square knows. */
static void move_values(const transposing *c, int32_t body)
{
    rd_schedule *t = c->t;

    for (int32_t s = t->stmt[body].last, previous; s >= 0 && body != c->item; s = previous) {
        previous = t->stmt[s].prev;
        if (t->stmt[s].kind != RD_S_LET)
            continue;
        rd_take_out(t, s);
        rd_put_before(t, s, t->stmt[c->item].first);
    }
}

/* Puts the loops over the square around all that is computed, behind a barrier: so behind the loops
 * that fill squares, of which c->fills is the last one. */
static void add_square_loops(const transposing *c)
{
    rd_schedule  *t       = c->t;
    const rd_for  threads = loop_over(c, 1, RD_FOR_THREAD), serial = loop_over(c, 0, RD_FOR_SERIAL);
    const int32_t first   = c->fills < 0 ? t->stmt[c->item].first : t->stmt[c->fills].next;
    rd_stmt       barrier = rd_stmt_of(RD_S_BARRIER);
    int32_t       made;

    if (t->failed || first < 0)
        return;
    made = rd_put_loop_around(t, first, t->stmt[c->item].last, &threads);
    made = rd_put_loop_around(t, made, made, &serial);
    rd_put_before(t, rd_add_stmt(t, &barrier), made);
}

/* The loads that must be transposed, and their instructions. */
typedef struct marked_loads {
    int32_t n, stmt[MOST_TRANSPOSED], inst[MOST_TRANSPOSED];
} marked_loads;

/* Marks a load that must be transposed, by a negative width that has its instruction: -1 -
 * number. */
static void mark_load(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    if (plan->transposed[inst])
        t->stmt[stmt].vector_width = -1 - inst;
}

/* Fills a square for each load that mark_load() has marked, at most 16.  A marked load has -1 - its
 * instruction in vector_width (below 0); that becomes 0 again. */
static void fill_squares(transposing *c)
{
    rd_schedule *t   = c->t;
    marked_loads all = { 0 };

    for (int32_t s = c->item; s >= 0; s = rd_next_stmt(t, s, c->item))
        if (t->stmt[s].vector_width < 0 && all.n < MOST_TRANSPOSED) {
            all.inst[all.n]         = -1 - t->stmt[s].vector_width;
            all.stmt[all.n++]       = s;
            t->stmt[s].vector_width = 0;
        }
    for (int32_t k = all.n; k-- > 0 && !t->failed;)
        fill_square(c, all.stmt[k], all.inst[k]);
}

/* The pass: transposes the operands that the plan names through squares in shared memory, if the
 * kernel has item loops over both axes.  Item loops become loops over squares; values around the
 * item move into it; then it adds the loops that fill a square and those that read it. */
void rd_pass_gpu_shared_transpose(rd_schedule *t, const rd_gpu_plan *plan)
{
    transposing   c      = { .t = t, .plan = plan, .fills = -1 };
    const int32_t kernel = rd_next_kernel(t, -1);

    if (!plan->transposed)
        return;
    for (int k = 0; k < 2; k++)
        c.axis[k] = t->p->loop[plan->transpose_loop[k]].axis;
    rd_gpu_for_each_access(t, plan, mark_load);
    if (kernel < 0 || !tile_item_loops(&c))
        return;
    c.item = rd_innermost_item_loop(t, kernel);
    for (int32_t s = c.item; s != t->part[RD_PART_BODY]; s = t->stmt[s].parent)
        move_values(&c, s);
    fill_squares(&c);
    add_square_loops(&c);
}
