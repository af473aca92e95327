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

/* Returns the position mark + offset. A mark is an axis of the tree that is bound to the first
 * index of a square along an axis, or to the index behind its last. */
static rd_linear at_mark(const transposing *c, int32_t mark, int64_t offset)
{
    return rd_linear_plus_axis(c->t, rd_linear_of(offset), /*coef=*/1, mark);
}

/* ---- Squares --------------------------------------------------------------------------------- */
/* Makes the two loops over items go by squares of 32 x 32 indices: their rounds become 32
 * indices long, and bind the marks c->start[] and c->stop[] to the ends of the square. False:
 * the tree has not both loops. */
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
            l->start_mark = c->start[k] = rd_add_mark(t);
            l->stop_mark = c->stop[k] = rd_add_mark(t);
            l->step                   = SIDE;
            l->extent                 = (l->extent + SIDE - 1) / SIDE;
            found++;
        }
    return found == 2;
}

/* Returns the subscript of an element in a square: i0 - m0 + 33*(i1 - m2). Rows lie 33 elements
 * apart, not 32, so that the elements of a column lie in different banks. */
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

/* Returns a loop over side k of the square, k = 0: along the operand's rows, 1: along the
 * result's. A loop over threads has 32 of them, and those behind the end of the axis idle; a
 * serial loop just ends at the square's stop mark. start_mark, stop_mark, `program_loop`,
 * `strips_number` -1: it binds no marks, and comes from no loop of the program. */
static rd_for loop_over(const transposing *c, int k, rd_for_kind kind)
{
    rd_for loop = { .kind       = kind,
                    .axis       = c->axis[k],
                    .start_mark = -1,
                    .stop_mark  = -1,
                    .from       = rd_edge_of(at_mark(c, c->start[k], /*offset=*/0)),
                    .to   = rd_edge_of(at_mark(c, kind == RD_FOR_THREAD ? c->start[k] : c->stop[k],
                                             kind == RD_FOR_THREAD ? SIDE : 0)),
                    .step = 1,
                    .extent        = SIDE,
                    .program_loop  = -1,
                    .strips_number = -1 };

    if (kind == RD_FOR_THREAD)
        rd_edge_add(&loop.to, at_mark(c, c->stop[k], /*offset=*/0));
    return loop;
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Adds, at the front of the item, the loops that copy a square of an operand to shared memory, and
 * lets the load (`stmt`, of the program's instruction `inst`) read the square in their place. slot
 * -1: it reads no memory of the program then. Loads of the fill are issued in batches. loop_over()
 * makes a loop over side 1, the rows of the square, or side 0, the elements of a row. vector_width
 * is 1, so that threads load single elements. */
static void fill_square(transposing *c, int32_t stmt, int32_t inst)
{
    rd_schedule        *t      = c->t;
    const int32_t       load   = rd_stmt_copy(t, stmt);
    const rd_dtype      type   = t->let[t->stmt[stmt].value].type;
    const rd_tree_array square = { .storage     = RD_IN_BLOCK,
                                   .type        = type,
                                   .memory      = true,
                                   .fold        = -1,
                                   .extent      = SIDE * PITCH,
                                   .byte_offset = inst }; /* the square's number in the text */
    const int32_t       store  = rd_add_store(t, &square);
    rd_for              serial = loop_over(c, /*k=*/1, RD_FOR_SERIAL),
           threads             = loop_over(c, /*k=*/0, RD_FOR_THREAD);
    rd_stmt        to_square   = rd_stmt_of(RD_S_STORE);
    rd_tree_value *let;
    int32_t        behind, made;

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
    /* each fill goes to the front: the first one stays the last */
    c->fills   = c->fills < 0 ? made : c->fills;
    let        = &t->let[t->stmt[stmt].value];
    let->slot  = -1;
    let->store = store;
    let->at    = place_in_square(c);
}

/* ---- The whole item -------------------------------------------------------------------------- */
/* Moves values that stand in a body around the item into the item. They may depend on indices of
 * the item, which only the loops inside a square bind now. */
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

/* Puts the loops over the square's elements around all that is computed: the statements behind
 * the last loop that fills a square (c->fills; -1: there is none). A barrier before them waits
 * until the squares are full. */
static void add_square_loops(const transposing *c)
{
    rd_schedule *t        = c->t;
    const rd_for threads  = loop_over(c, /*k=*/1, RD_FOR_THREAD),
                 serial   = loop_over(c, /*k=*/0, RD_FOR_SERIAL);
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

/* Notes that a load must be transposed: vector_width, which is not used yet, becomes -1 - the
 * number of its instruction. Called for each load and store of the program. */
static void mark_load(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt, int32_t inst)
{
    if (plan->transposed[inst])
        t->stmt[stmt].vector_width = -1 - inst;
}

/* Fills a square for each load that mark_load() noted in vector_width, which becomes 0 again. It
 * goes backwards, as each fill is put at the front of the item. More than MOST_TRANSPOSED are
 * not transposed. */
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

/* The pass: transposes the operands that the plan (the backend's decisions about the kernel)
 * names through squares in shared memory. Loops over items become loops over squares; values
 * around the item move into it; then the item fills its squares and computes from them. Nothing
 * is done unless the kernel has loops over items along both axes. transposed NULL: the plan
 * names none. */
void rd_pass_gpu_shared_transpose(rd_schedule *t, const rd_gpu_plan *plan)
{
    transposing   c      = { .t = t, .plan = plan, .fills = -1 };
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);

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
