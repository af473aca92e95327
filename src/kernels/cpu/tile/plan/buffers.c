/* buffers.c - register allocation for tiles: which registers share a buffer, and how many elements
 * a buffer has.
 *
 * All buffers together fit the first-level cache, with room for what is read and written.
 *
 * Fields. An instruction is skipped (`skip`) if another one's kernel does its work. A LOAD is
 * `direct` if its register is the memory itself. */
#include "core/caches.h"
#include "kernels/cpu/tile/plan/tile_plan.h"

enum { FEWEST = 256, MOST = 2048 };

/* The buffers of a tile that registers have been given so far. */
typedef struct pool {
    int32_t  n;
    int32_t *free_at; /* per buffer: the instruction after which it is free again */
    rd_elem *elem;    /* of its last register                                      */
} pool;

/* True if instruction i makes elements of a tile that must be kept in a buffer: it is not fused
 * into another (skip), its register is not memory itself (direct), and it does not write straight
 * to the memory of a STORE (into). */
static bool needs_buffer(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_inst *t = &code->inst[i];

    if (t->level != RD_AT_TILE || t->skip || t->direct || t->stores_into >= 0)
        return false;
    switch (p->inst[i].kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_LOAD:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_INDEX:
    case RD_I_CALL:
    case RD_I_SCAN:
    case RD_I_CLOSE: return true;
    default: return false;
    }
}

/* Takes the first buffer that is free at instruction i, or a new one, until instruction `until` has
 * run.  A buffer that i itself reads for the last time may hold its result (in_place), if elements
 * are of one size: wider results would overwrite operands before they are read. */
static int32_t take_buffer(pool *b, int32_t i, int32_t until, rd_elem elem, bool in_place)
{
    int32_t k = 0;

    while (k < b->n && !(b->free_at[k] < i || (in_place && b->free_at[k] == i &&
                                               rd_elem_size(b->elem[k]) == rd_elem_size(elem))))
        k++;
    b->n          = k == b->n ? k + 1 : b->n;
    b->free_at[k] = until;
    b->elem[k]    = elem;
    return k;
}

/* True if an instruction works element by element, so that its result may overwrite an operand. */
static bool can_be_in_place(rd_inst_kind kind)
{
    return kind == RD_I_MAP || kind == RD_I_SELECT || kind == RD_I_CAST;
}

/* Takes n new buffers of consecutive numbers for the n results of one CLOSE, and keeps them for
 * good.  Returns the first. */
static int32_t take_buffers(const rd_tile_code *code, pool *b, int32_t reg, int32_t n)
{
    const int32_t first = b->n;

    for (int32_t k = 0; k < n; k++) {
        b->free_at[b->n] = INT32_MAX;
        b->elem[b->n++]  = code->reg[reg + k].elem;
    }
    return first;
}

/* Gives a buffer to each register of a tile that needs one: register allocation by last use. `last`
 * is the last reader, -1: none; then the buffer is free behind instruction i. Several results of a
 * CLOSE need consecutive buffers. */
static void assign(const rd_program *p, rd_tile_code *code, pool *b)
{
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        int32_t        last;

        if (!needs_buffer(p, code, i))
            continue;
        last = code->reg[inst->dst].last;
        code->inst[i].buffer =
            inst->kind == RD_I_CLOSE && p->fold[inst->arg].n_out > 1
                ? take_buffers(code, b, inst->dst, p->fold[inst->arg].n_out)
                : take_buffer(b, i, last < i ? i : last, code->reg[inst->dst].elem,
                              can_be_in_place(inst->kind));
    }
}

/* Returns the bytes that all buffers together may have: three quarters of the first-level cache.
 * Where measuring tries other sizes of tiles, p->tile is the power of two by which they are larger
 * (smaller if below 0). */
static int64_t buffers_bytes(const rd_program *p)
{
    const int64_t bytes = rd_caches().l1 / 4 * 3;

    return p->tile >= 0 ? bytes << p->tile : bytes >> -p->tile;
}

/* Gives buffers to the registers of a tile, then sets how many elements each buffer has: the share
 * of one buffer (of n + 1, so that one share is left for what is read and written) of three
 * quarters of the first-level cache, FEWEST to MOST, a multiple of 64.  Square tiles (transposed in
 * registers) need at least one square of 64 x 64.  False if memory runs out. */
bool rd_tile_buffers(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *memory)
{
    const size_t room = (size_t)p->n_reg + 2 * (size_t)p->n_inst + 1;
    pool         b    = { .free_at = get(memory, room * sizeof *b.free_at),
                          .elem    = get(memory, room * sizeof *b.elem) };
    int64_t      size = 4; /* bytes of the widest element */

    if (!b.free_at || !b.elem)
        return false;
    assign(p, code, &b);
    for (int32_t k = 0; k < p->n_reg; k++)
        /* a register that is a place (has a form) and has no reader is not computed */
        if (code->reg[k].level == RD_AT_TILE && !(code->reg[k].form && code->reg[k].uses == 0) &&
            rd_elem_size(code->reg[k].elem) > 4)
            size = 8;
    code->n_buffer        = b.n;
    code->buffer_elements = buffers_bytes(p) / (size * (b.n + 1)) / 64 * 64;
    code->buffer_elements = code->buffer_elements < FEWEST ? FEWEST
                            : code->buffer_elements > MOST ? MOST
                                                           : code->buffer_elements;
    if (code->square && code->buffer_elements < RD_SQUARE * RD_SQUARE)
        code->buffer_elements = RD_SQUARE * RD_SQUARE;
    code->buffer_bytes = code->buffer_elements * size;
    return true;
}
