/* element_values.c - instructions that compute elements, on a whole tile, on one element per row,
 * or on a single element.
 *
 * Words.  The form of a map has a bit for each operand that is a scalar for the row (col is 0);
 * there are kernels by form.  A gather loads elements at positions that registers hold.  A run is a
 * stretch of contiguous elements that one kernel call takes (views.h).
 *
 * Fields. Strides .row and .col say how far a position moves from row to row and from column to
 * column. */
#include "core/caches.h"
#include "kernels/cpu/tile/run/views.h"
#include <assert.h>
#include <string.h>

/* Cuts (ints) or rounds (floats) the results y of an instruction to their narrow type, in place. */
static void wrap(const rd_tiles *m, rd_simd_wrap *kernel, const rd_reg_view *y)
{
    const rd_runs q = rd_runs_of(m, rd_is_flat(m, y));

    for (int64_t r = 0; r < q.n; r++)
        kernel(q.each, rd_view_at(y, r, 0));
}

/* ---- Maps ------------------------------------------------------------------------------------ */
/* The operands of a MAP or SELECT.  Bit k of `form` says that operand k is a scalar for the row. */
typedef struct operands {
    rd_reg_view a[3];
    int         n;
    unsigned    form;
} operands;

/* Finds the n operands of a MAP or SELECT, and their form: bit k says that operand k is a scalar
 * for the row (its column stride is 0). */
static void find_operands(const rd_tiles *m, const rd_inst *inst, operands *o)
{
    const int32_t reg[3] = { inst->a, inst->b, inst->c };

    o->n    = inst->kind == RD_I_SELECT ? 3 : rd_op_table[inst->op].arity;
    o->form = 0;
    assert(o->n >= 1 && o->n <= 3);
    for (int k = 0; k < o->n; k++) {
        o->a[k] = rd_tiles_view(m, reg[k]);
        o->form |= (unsigned)(o->a[k].col == 0) << k;
    }
}

/* Exchanges the factors of a fused multiply-add, which changes no bit.  Kernels take only the
 * second factor as a scalar.  Bit k of the form says that operand k is a scalar, so bits 0 and 1
 * change places. */
static void swap_factors(operands *o)
{
    const rd_reg_view a = o->a[0];

    o->a[0] = o->a[1];
    o->a[1] = a;
    o->form = (o->form & 4U) | (o->form & 1U) << 1 | (o->form & 2U) >> 1;
}

/* Maps row r element by element, where no kernel has this combination of scalars and rows: as a
 * rule all of them are scalars of the row. The kernel for three rows takes one element at a time;
 * operands that the instruction has not are NULL. */
static void map_slowly(rd_tiles *m, rd_simd_map *kernel, const operands *o, const rd_reg_view *y,
                       int64_t r)
{
    for (int64_t c = 0; c < m->cols; c++)
        kernel(1, rd_view_at(y, r, c), rd_view_at(&o->a[0], r, c),
               o->n > 1 ? rd_view_at(&o->a[1], r, c) : NULL,
               o->n > 2 ? rd_view_at(&o->a[2], r, c) : NULL, &m->task->warnings);
}

/* MAP, SELECT: calls the kernel for this combination of scalars and rows (form: bit k says that
 * operand k is a scalar) on each row, or on the whole tile as one run if all operands are
 * contiguous or scalars. Results of narrow types are cut or rounded (wrap). t->map[form] is NULL if
 * there is no such kernel. In place of operands that the instruction has not, the kernel gets the
 * first, and reads none. */
static void map(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    operands            o;

    find_operands(m, inst, &o);
    const rd_reg_view y   = rd_tiles_target(m, pc, inst->dst);
    bool              one = rd_is_flat(m, &y);

    assert(t->map[0]);                               /* the other forms need not be there */
    if (inst->op == RD_OP_fma && (o.form & 3U) == 1) /* only the first factor is a scalar */
        swap_factors(&o);
    rd_simd_map *kernel = t->map[o.form];
    for (int k = 0; k < o.n; k++)
        one = one && (rd_is_flat(m, &o.a[k]) || rd_is_uniform(m, &o.a[k]));
    const rd_runs q = rd_runs_of(m, one && kernel);
    for (int64_t r = 0; r < q.n; r++)
        if (kernel)
            kernel(q.each, rd_view_at(&y, r, 0), rd_view_at(&o.a[0], r, 0),
                   rd_view_at(&o.a[o.n > 1 ? 1 : 0], r, 0), rd_view_at(&o.a[o.n > 2 ? 2 : 0], r, 0),
                   &m->task->warnings);
        else
            map_slowly(m, t->map[0], &o, &y, r);
    if (t->wrap)
        wrap(m, t->wrap, &y);
}

/* CAST: converts contiguous elements to another type, as one run where possible.  Results of narrow
 * types are cut or rounded (wrap). */
static void cast(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_reg_view   x    = rd_tiles_dense(m, rd_tiles_view(m, inst->a)),
                      y      = rd_tiles_target(m, pc, inst->dst);
    const rd_runs q          = rd_runs_of(m, rd_is_flat(m, &x) && rd_is_flat(m, &y));
    rd_simd_cast *kernel     = rd_simd_cast_to(m->code->simd, inst->type, x.elem);

    for (int64_t r = 0; r < q.n; r++)
        kernel(q.each, rd_view_at(&y, r, 0), rd_view_at(&x, r, 0));
    if (t->wrap)
        wrap(m, t->wrap, &y);
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Returns the offset, in elements, that index registers (axis < 0) add to the address of element
 * (r, c). */
static int64_t gathered(const rd_tiles *m, const rd_address *at, int64_t r, int64_t c)
{
    int64_t sum = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0) {
            const rd_reg_view index = rd_tiles_view(m, at->add[k].reg);
            sum += at->add[k].coef * rd_view_word(&index, r, c).i64;
        }
    return sum;
}

/* True if the index registers of a gather are the same for all of a row. */
static bool has_one_place_per_row(const rd_tiles *m, const rd_address *at)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 && rd_tiles_view(m, at->add[k].reg).col != 0)
            return false;
    return true;
}

/* Returns the index register of a gather at row r, if it has the positions themselves: a single
 * register with coefficient 1 and contiguous elements, and nothing else changes along the row
 * (w->col is 0). NULL otherwise. */
static const int64_t *places_in_register(const rd_tiles *m, const rd_tile_strides *w, int64_t r)
{
    const rd_addend *only = NULL;

    for (int32_t k = 0; k < w->at->n_add; k++)
        if (w->at->add[k].axis < 0) {
            if (only || w->at->add[k].coef != 1)
                return NULL;
            only = &w->at->add[k];
        }
    if (!only || w->col != 0)
        return NULL;
    const rd_reg_view v = rd_tiles_view(m, only->reg);
    return v.col == 1 ? (const int64_t *)(const void *)rd_view_at(&v, r, 0) : NULL;
}

/* Adds coef times an index, `step` apart, to n positions. */
static void add_places(int64_t n, int64_t *restrict place, const int64_t *restrict index,
                       int64_t step, int64_t coef)
{
    for (int64_t c = 0; c < n; c++)
        place[c] += coef * index[c * step];
}

/* Returns the positions of the elements of row r in a gather, in elements relative to the row's
 * address without index registers.  They are computed in `spare` unless a register has them.
 * w->col is the stride of the address along the row, v.col that of the index register (0: one for
 * the row). */
static const int64_t *find_places(const rd_tiles *m, const rd_tile_strides *w, int64_t r,
                                  int64_t *spare)
{
    const int64_t *const in_register = places_in_register(m, w, r);
    const int64_t        n = m->cols, step = w->col;

    if (in_register)
        return in_register;
    for (int64_t c = 0; c < n; c++)
        spare[c] = c * step;
    for (int32_t k = 0; k < w->at->n_add; k++) {
        const rd_addend *add = &w->at->add[k];

        if (add->axis >= 0)
            continue;
        const rd_reg_view v = rd_tiles_view(m, add->reg);
        add_places(n, spare, (const int64_t *)(const void *)rd_view_at(&v, r, 0), v.col, add->coef);
    }
    return spare;
}

#define GATHER(type)                                                    \
    for (int64_t c = 0; c < n; c++)                                     \
        ((type *)to)[c] = ((const type *)(const void *)from)[place[c]]; \
    break
/* Gathers n elements of a size: to[c] = from[place[c]]. */
static void gather(int64_t n, int32_t size, void *to, const char *from, const int64_t *place)
{
    switch (size) {
    case 1: GATHER(uint8_t);
    case 2: GATHER(uint16_t);
    case 4: GATHER(uint32_t);
    default: GATHER(uint64_t);
    }
}
#undef GATHER

/* LOAD of row r of y by a gather; `row` is its address without index registers. Gathers elements as
 * they are in memory, then converts them if their type differs. If the row has one position, it is
 * a plain load with stride. Elements go straight to y if they need no conversion, and if y does not
 * overwrite indices that are still to be read: y may be the indices' own memory only if both have 8
 * bytes. */
static void load_gathered(const rd_tiles *m, const rd_tile_strides *w, const rd_reg_view *y,
                          int64_t r, const char *row)
{
    rd_simd_load *const load  = m->code->simd->load[w->at->type];
    int64_t *const      spare = (int64_t *)(void *)rd_tiles_second_spare(m);
    const int64_t      *place;

    if (has_one_place_per_row(m, w->at)) {
        load(m->cols, rd_view_at(y, r, 0), row + gathered(m, w->at, r, 0) * w->size, w->col);
        return;
    }
    place = find_places(m, w, r, spare);
    /* results may go where the index was, one on the other */
    if (w->size == rd_elem_size(y->elem) && w->at->type != RD_BOOL &&
        (w->size == sizeof *place || (const void *)place != rd_view_at(y, r, 0))) {
        gather(m->cols, w->size, rd_view_at(y, r, 0), row, place);
        return;
    }
    gather(m->cols, w->size, m->spare, row, place);
    load(m->cols, rd_view_at(y, r, 0), m->spare, /*stride=*/1);
}

/* Notes that as many bytes behind these are to be prefetched, by and by (prefetch_some()). Rows
 * longer than the first-level cache are read more than once, so they are not. RD_L1_BYTES is the
 * size of that cache. */
static void note_prefetch(rd_tiles *m, const char *at, int64_t bytes)
{
    m->prefetch_at  = at + bytes;
    m->prefetch_end = bytes <= RD_L1_BYTES ? m->prefetch_at + bytes : m->prefetch_at;
}

/* LOAD: a direct one makes the register a view of memory; others transpose, gather, or convert.
 * Elements of arrays outside of scratch are counted, and contiguous rows of them are prefetched
 * (note_prefetch() notes what lies behind them). The whole tile is one run if its rows follow each
 * other on both sides. */
static void load(rd_tiles *m, int32_t pc)
{
    const rd_inst         *inst = &m->p->inst[pc];
    const rd_tile_inst    *t    = &m->code->inst[pc];
    const rd_tile_strides *w    = &t->strides;
    rd_reg_view            from = rd_memory_view(m, w, m->reg[inst->dst].elem), y;

    if (w->at->slot < m->p->first_scratch)
        m->task->loads += m->rows * m->cols;
    if (t->direct) {
        m->reg[inst->dst] = from;
        if (t->prefetches_rows)
            note_prefetch(m, from.at, m->rows * m->cols * w->size);
        return;
    }
    y = rd_tiles_target(m, pc, inst->dst);
    if (t->transposes) {
        rd_tiles_transpose_load(m, pc, &y);
        return;
    }
    const rd_runs q =
        rd_runs_of(m, !w->gathers && rd_is_one_run(m, w->row, w->col) && rd_is_flat(m, &y));
    if (!w->gathers && w->col == 1 && rd_is_one_run(m, w->row, w->col) &&
        w->at->slot < m->p->first_scratch)
        note_prefetch(m, from.at, m->rows * m->cols * w->size);
    for (int64_t r = 0; r < q.n; r++) {
        const char *row = from.at + r * w->row * w->size;

        if (w->gathers)
            load_gathered(m, w, &y, r, row);
        else
            m->code->simd->load[w->at->type](q.each, rd_view_at(&y, r, 0), row, w->col);
    }
}

/* Stores n elements past the caches, by non-temporal stores. If they are converted, as many at a
 * time as a spare buffer holds in their type. `most` is the bytes of a spare buffer, which has
 * 8-byte elements. */
static void store_nontemporal(rd_tiles *m, const rd_tile_strides *w, char *to, const char *x,
                              int64_t n, rd_elem elem)
{
    const int64_t most =
        8 * (m->code->buffer_elements > m->code->rows ? m->code->buffer_elements : m->code->rows);
    char *const spare = m->spare + most; /* the second spare buffer */

    if (w->size == rd_elem_size(elem)) {
        m->code->simd->copy_nontemporal(n * w->size, to, x);
        return;
    }
    for (int64_t done = 0, count; done < n; done += count) {
        count = n - done < most / w->size ? n - done : most / w->size;
        m->code->simd->store[w->at->type](count, spare, /*stride=*/1,
                                          x + done * rd_elem_size(elem));
        m->code->simd->copy_nontemporal(count * w->size, to + done * w->size, spare);
    }
}

/* STORE: copies from memory to memory, transposes, scatters (to indices in registers), or converts.
 * t->copied_load is the LOAD that is copied from, -1: none. There is nothing to do if the
 * instruction that computed the value has stored it. */
static void store(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst    *t = &m->code->inst[pc];
    const rd_tile_strides *w = &t->strides;
    rd_reg_view            x;
    char                  *to;

    if (t->is_stored)
        return;
    if (t->copied_load >= 0) {
        rd_tiles_copy_memory(m, pc);
        return;
    }
    x = rd_tiles_dense(m, rd_tiles_view(m, t->x));
    if (t->transposes) {
        rd_tiles_transpose_store(m, pc, &x);
        return;
    }
    to = rd_tiles_memory(m, w);
    const rd_runs q =
        rd_runs_of(m, !w->gathers && rd_is_one_run(m, w->row, w->col) && rd_is_flat(m, &x));
    for (int64_t r = 0; r < q.n; r++) {
        char *row = to + r * w->row * w->size;

        if (w->gathers)
            for (int64_t c = 0; c < q.each; c++)
                m->code->simd->store[w->at->type](
                    /*n=*/1, row + (c * w->col + gathered(m, w->at, r, c)) * w->size, /*stride=*/1,
                    rd_view_at(&x, r, c));
        else if (t->nontemporal)
            store_nontemporal(m, w, row, rd_view_at(&x, r, 0), q.each, x.elem);
        else
            m->code->simd->store[w->at->type](q.each, row, w->col, rd_view_at(&x, r, 0));
    }
}

/* ---- Constants and coordinates --------------------------------------------------------------- */
/* CONST: fills the register with its value. */
static void constant(rd_tiles *m, int32_t pc)
{
    const rd_reg_view y = rd_tiles_target(m, pc, m->p->inst[pc].dst);

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++)
            rd_view_set(&y, r, c, m->p->inst[pc].value);
}

/* COORD: writes the positions of an address as ints (an index of a loop, say): by a plain loop
 * where the register is contiguous 64-bit ints and no index register takes part, else one by
 * one. */
static void coordinate(rd_tiles *m, int32_t pc)
{
    const rd_tile_strides *w     = &m->code->inst[pc].strides;
    const rd_reg_view      y     = rd_tiles_target(m, pc, m->p->inst[pc].dst);
    const int64_t          first = rd_tiles_position(m, w->at);
    const bool             dense = y.col == 1 && rd_elem_size(y.elem) == 8 && !w->gathers;
    const int64_t n = m->cols; /* coordinates may lie where m does, for all the compiler knows */

    for (int64_t r = 0; r < m->rows; r++) {
        const int64_t start = first + r * w->row, step = w->col;
        int64_t      *row = (int64_t *)(void *)rd_view_at(&y, r, 0);

        for (int64_t c = 0; c < n && dense; c++)
            row[c] = start + c * step;
        for (int64_t c = 0; c < n && !dense; c++)
            rd_view_set(
                &y, r, c,
                (rd_word){ .i64 = start + c * step + (w->gathers ? gathered(m, w->at, r, c) : 0) });
    }
}

/* Runs an instruction of a tile that makes, loads or stores elements, by its kind.  Those that join
 * read moved indices piece by piece. */
void rd_tiles_value(rd_tiles *m, int32_t pc)
{
    if (m->code->inst[pc].by_pieces) {
        rd_tiles_join(m, pc);
        return;
    }
    switch (m->p->inst[pc].kind) {
    case RD_I_CONST: constant(m, pc); break;
    case RD_I_COORD: coordinate(m, pc); break;
    case RD_I_LOAD: load(m, pc); break;
    case RD_I_STORE: store(m, pc); break;
    case RD_I_MAP:
    case RD_I_SELECT: map(m, pc); break;
    case RD_I_CAST: cast(m, pc); break;
    case RD_I_INDEX: rd_tiles_index(m, pc); break;
    case RD_I_CALL: rd_tiles_call(m, pc); break;
    default: break;
    }
}
