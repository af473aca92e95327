/* shared_transpose.c - the shared-memory transpose.  A map may have operands that run along
 * another axis than its result.  Then a warp takes a square of 32 by 32 elements.  It reads such
 * operands along their own rows into shared memory, and writes along the result's rows.
 *
 * Rows of a square are 33 elements apart, so that a warp reads its columns from 32 banks. */
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>

/* Elements of a square's side; of a row with its padding; bytes of all squares of a block, at most
 * (of the 48 KiB that a kernel has). */
enum { SIDE = RD_WARP, PITCH = SIDE + 1, MOST_BYTES = 40 << 10 };

/* ---- Which loops ----------------------------------------------------------------------------- */
/* Returns the innermost loop of the grid (the loops whose indices are work items) along which
 * all stores of the program are contiguous, -1: there is none. */
static int32_t loop_of_stores(const rd_cuda_strategy *s)
{
    for (int32_t g = s->n_grid; g-- > 0;) {
        bool found = false, contiguous = true;

        for (int32_t i = 0; i < s->p->n_inst; i++)
            if (s->p->inst[i].kind == RD_I_STORE) {
                found = true;
                contiguous &=
                    rd_coef(&s->p->address[s->p->inst[i].arg], s->p->loop[s->grid[g]].axis) == 1;
            }
        if (found && contiguous)
            return s->grid[g];
    }
    return -1;
}

/* Returns the loop of the grid along which a load is contiguous, if it is not so along the loop
 * `stored`, as results are; else -1. A load that stands still along `stored` (coef 0) needs no
 * transpose; a gather, and a load of what the program stores, allow none. */
static int32_t transposed_loop(const rd_cuda_strategy *s, const rd_inst *inst, int32_t stored)
{
    if (inst->kind != RD_I_LOAD)
        return -1;
    const rd_address *at   = &s->p->address[inst->arg];
    const int64_t     coef = rd_coef(at, s->p->loop[stored].axis);

    if (s->stored[at->slot] || rd_has_registers(at) || coef == 0 || coef == 1)
        return -1;
    for (int32_t g = 0; g < s->n_grid; g++)
        if (s->grid[g] != stored && rd_coef(at, s->p->loop[s->grid[g]].axis) == 1)
            return s->grid[g];
    return -1;
}

/* True if a loop is long enough for squares, and runs forwards. */
static bool may_be_transposed(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    return l->extent >= s->choice.least_side && !l->backwards;
}

/* Returns how many squares of 32 elements cover the loop. */
static int64_t tiles_along(const rd_loop *l)
{
    return (l->extent + SIDE - 1) / SIDE;
}

/* Takes a loop out of the grid: a square of 32 indices along it, and not each index, is a work
 * item. n_item changes with that. */
static void leave_grid(rd_cuda_strategy *s, int32_t loop)
{
    int32_t n = 0;

    for (int32_t g = 0; g < s->n_grid; g++)
        if (s->grid[g] != loop)
            s->grid[n++] = s->grid[g];
    s->n_grid = n;
    s->n_item = s->n_item / s->p->loop[loop].extent * tiles_along(&s->p->loop[loop]);
}

/* Returns the elements of the squares of one operand in a block of threads: a square of 32 rows,
 * 33 elements apart, for each warp. */
static int32_t words_of(const rd_cuda_strategy *s)
{
    return PITCH * SIDE * (s->choice.block / RD_WARP);
}

/* Marks the loads that are contiguous along `loop`, and so are transposed, as long as shared
 * memory has room for their squares. Others are loaded as they are. */
static void choose_loads(rd_cuda_strategy *s, int32_t loop, int32_t stored)
{
    int64_t bytes = 0;

    for (int32_t i = 0; i < s->p->n_inst; i++) {
        const rd_inst *inst = &s->p->inst[i];
        int64_t        more;

        if (transposed_loop(s, inst, stored) != loop)
            continue;
        more             = (int64_t)words_of(s) * rd_dtype_size(s->p->address[inst->arg].type);
        s->transposed[i] = bytes + more <= MOST_BYTES;
        bytes += s->transposed[i] ? more : 0;
    }
}

/* True if operands of a map are transposed in shared memory; then the strategy gets the two
 * loops, and squares of 32 by 32 elements become work items, of a warp each. Scratch is refused. */
bool rd_cuda_find_transpose(rd_cuda_strategy *s)
{
    const int32_t stored = loop_of_stores(s);
    int32_t       loop   = -1;

    for (int32_t i = 0; stored >= 0 && loop < 0 && i < s->p->n_inst; i++)
        loop = transposed_loop(s, &s->p->inst[i], stored);
    if (loop < 0 || !may_be_transposed(s, loop) || !may_be_transposed(s, stored) ||
        s->p->n_scratch > 0)
        return false;
    choose_loads(s, loop, stored);
    leave_grid(s, loop);
    leave_grid(s, stored);
    s->transpose[0] = loop;
    s->transpose[1] = stored;
    s->team         = RD_WARP;
    return true;
}

/* ---- Text ------------------------------------------------------------------------------------ */
/* Declares the squares of a block of threads, for each operand that is transposed, and z2, where
 * the warp's own square of 32 rows of 33 elements begins:
 *
 *     RD_SHARED(float, square7, 4224);
 *     const int z2 = (int)threadIdx.x / RD_TEAM * 1056; */
void rd_cuda_declare_transpose(rd_cuda_text *t)
{
    for (int32_t i = 0; i < t->s->p->n_inst; i++)
        if (t->s->transposed[i])
            rd_print_line(&t->print, "RD_SHARED(%s, square%" PRId32 ", %" PRId32 ");",
                          rd_memory_type(t->s->p->address[t->s->p->inst[i].arg].type), i,
                          words_of(t->s));
    rd_print_line(&t->print, "const int z2 = (int)threadIdx.x / RD_TEAM * %d;", PITCH * SIDE);
}
