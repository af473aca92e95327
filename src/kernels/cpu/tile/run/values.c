/* values.c - instructions that compute elements: on a whole tile, on a row of rows, or on one
 * element. */
#include "kernels/cpu/reference/call.h"
#include "core/caches.h"
#include "kernels/cpu/tile/run/tiles.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Where results go ------------------------------------------------------------------------ */
char *rd_tiles_memory(const rd_tiles *m, const rd_tile_walk *w)
{
    return (char *)m->task->slot[w->at->slot] + rd_tiles_position(m, w->at) * w->size;
}

static rd_view memory_view(const rd_tiles *m, const rd_tile_walk *w, rd_elem elem)
{
    return (rd_view){ rd_tiles_memory(m, w), w->row, w->col, elem };
}

/* The register's home for this tile; dense rows in a buffer. */
rd_view rd_tiles_target(rd_tiles *m, int32_t pc, int32_t reg)
{
    const rd_tile_inst *t = &m->code->inst[pc];
    rd_view            *v = &m->reg[reg];

    if (t->into >= 0)
        *v = memory_view(m, &m->code->inst[t->into].walk, v->elem);
    else if (t->level == RD_AT_TILE) {
        v->at  = m->buffers + (t->buffer + (reg - m->p->inst[pc].dst)) * m->code->buffer_bytes;
        v->row = m->cols;
        v->col = 1;
    }
    return rd_tiles_view(m, reg);
}

/* Rows that follow each other as their columns do? */
static bool one_run(const rd_tiles *m, int64_t row, int64_t col)
{
    return m->rows == 1 || row == m->cols * col;
}

static bool flat(const rd_tiles *m, const rd_view *v)
{
    return v->col == 1 && one_run(m, v->row, 1);
}

static bool uniform(const rd_tiles *m, const rd_view *v)
{
    return v->col == 0 && (m->rows == 1 || v->row == 0);
}

/* A tile for kernels: so many runs of so many elements side by side.  Short rows cost more than
 * their elements, so what lies flat is one run. */
typedef struct runs {
    int64_t n, each;
} runs;

static runs runs_of(const rd_tiles *m, bool one)
{
    return one ? (runs){ 1, m->rows * m->cols } : (runs){ m->rows, m->cols };
}

static void wrap(const rd_tiles *m, rd_simd_wrap *kernel, const rd_view *y)
{
    const runs q = runs_of(m, flat(m, y));

    for (int64_t r = 0; r < q.n; r++)
        kernel(q.each, rd_view_at(y, r, 0));
}

rd_view rd_tiles_dense(rd_tiles *m, rd_view v)
{
    rd_view y = { m->spare, m->cols, 1, v.elem };

    if (v.col == 1 || m->rows * m->cols == 1)
        return v;
    const runs    q    = runs_of(m, uniform(m, &v));
    const int64_t size = rd_elem_size(v.elem);
    for (int64_t r = 0; r < q.n; r++) {
        char *row = rd_view_at(&y, r, 0);
        memcpy(row, rd_view_at(&v, r, 0), (size_t)size);
        for (int64_t n = 1; n < q.each; n *= 2)
            memcpy(row + n * size, row, (size_t)((n < q.each - n ? n : q.each - n) * size));
    }
    return y;
}

/* ---- Maps ------------------------------------------------------------------------------------ */
typedef struct operands {
    rd_view  a[3];
    int      n;
    unsigned form;
} operands;

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

static void swap_factors(operands *o)
{
    const rd_view a = o->a[0];

    o->a[0] = o->a[1];
    o->a[1] = a;
    o->form = (o->form & 4U) | (o->form & 1U) << 1 | (o->form & 2U) >> 1;
}

/* Element by element where no kernel has the form: all operands the same for a row, as a rule. */
static void map_slowly(rd_tiles *m, rd_simd_map *kernel, const operands *o, const rd_view *y,
                       int64_t r)
{
    for (int64_t c = 0; c < m->cols; c++)
        kernel(1, rd_view_at(y, r, c), rd_view_at(&o->a[0], r, c),
               o->n > 1 ? rd_view_at(&o->a[1], r, c) : NULL,
               o->n > 2 ? rd_view_at(&o->a[2], r, c) : NULL, &m->task->warnings);
}

static void map(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    operands            o;

    find_operands(m, inst, &o);
    const rd_view y   = rd_tiles_target(m, pc, inst->dst);
    bool          one = flat(m, &y);

    assert(t->map[0]); /* the other forms need not be there */
    if (inst->op == RD_OP_fma && (o.form & 3U) == 1)
        swap_factors(&o);
    rd_simd_map *kernel = t->map[o.form];
    for (int k = 0; k < o.n; k++)
        one = one && (flat(m, &o.a[k]) || uniform(m, &o.a[k]));
    const runs q = runs_of(m, one && kernel);
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

static void cast(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_view       x    = rd_tiles_dense(m, rd_tiles_view(m, inst->a)),
                  y          = rd_tiles_target(m, pc, inst->dst);
    const runs    q          = runs_of(m, flat(m, &x) && flat(m, &y));
    rd_simd_cast *kernel     = rd_simd_cast_to(m->code->simd, inst->type, x.elem);

    for (int64_t r = 0; r < q.n; r++)
        kernel(q.each, rd_view_at(&y, r, 0), rd_view_at(&x, r, 0));
    if (t->wrap)
        wrap(m, t->wrap, &y);
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Elements from the tile's first one that gathered indices add. */
static int64_t gathered(const rd_tiles *m, const rd_address *at, int64_t r, int64_t c)
{
    int64_t sum = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0) {
            const rd_view index = rd_tiles_view(m, at->add[k].reg);
            sum += at->add[k].coef * rd_view_word(&index, r, c).i64;
        }
    return sum;
}

/* What lies behind these bytes, and as much, is to be fetched meanwhile; rows longer than this are
 * not read once only. */
static void read_ahead(rd_tiles *m, const char *at, int64_t bytes)
{
    m->ahead     = at + bytes;
    m->ahead_end = bytes <= RD_L1_BYTES ? m->ahead + bytes : m->ahead;
}

static void load(rd_tiles *m, int32_t pc)
{
    const rd_inst      *inst = &m->p->inst[pc];
    const rd_tile_inst *t    = &m->code->inst[pc];
    const rd_tile_walk *w    = &t->walk;
    rd_view             from = memory_view(m, w, m->reg[inst->dst].elem), y;

    if (w->at->slot < m->p->first_scratch)
        m->task->loads += m->rows * m->cols;
    if (t->direct) {
        m->reg[inst->dst] = from;
        if (t->ahead)
            read_ahead(m, from.at, m->rows * m->cols * w->size);
        return;
    }
    y = rd_tiles_target(m, pc, inst->dst);
    if (t->turns) {
        rd_tiles_turn_in(m, pc, &y);
        return;
    }
    const runs q = runs_of(m, !w->gathers && one_run(m, w->row, w->col) && flat(m, &y));
    if (!w->gathers && w->col == 1 && one_run(m, w->row, w->col) &&
        w->at->slot < m->p->first_scratch)
        read_ahead(m, from.at, m->rows * m->cols * w->size);
    for (int64_t r = 0; r < q.n; r++) {
        const char *row = from.at + r * w->row * w->size;

        if (w->gathers)
            for (int64_t c = 0; c < q.each; c++)
                m->code->simd->load[w->at->type](
                    1, rd_view_at(&y, r, c),
                    row + (c * w->col + gathered(m, w->at, r, c)) * w->size, 1);
        else
            m->code->simd->load[w->at->type](q.each, rd_view_at(&y, r, 0), row, w->col);
    }
}

/* Past the caches, as many elements at a time as a spare buffer holds in their type. */
static void stream(rd_tiles *m, const rd_tile_walk *w, char *to, const char *x, int64_t n,
                   rd_elem elem)
{
    const int64_t most  = 8 * (m->code->cells > m->code->rows ? m->code->cells : m->code->rows);
    char *const   spare = m->spare + most;

    if (w->size == rd_elem_size(elem)) {
        m->code->simd->stream(n * w->size, to, x);
        return;
    }
    for (int64_t done = 0, now; done < n; done += now) {
        now = n - done < most / w->size ? n - done : most / w->size;
        m->code->simd->store[w->at->type](now, spare, 1, x + done * rd_elem_size(elem));
        m->code->simd->stream(now * w->size, to + done * w->size, spare);
    }
}

static void store(rd_tiles *m, int32_t pc)
{
    const rd_tile_inst *t = &m->code->inst[pc];
    const rd_tile_walk *w = &t->walk;
    rd_view             x;
    char               *to;

    if (t->done)
        return;
    if (t->moves >= 0) {
        rd_tiles_move(m, pc);
        return;
    }
    x = rd_tiles_dense(m, rd_tiles_view(m, t->x));
    if (t->turns) {
        rd_tiles_turn_out(m, pc, &x);
        return;
    }
    to           = rd_tiles_memory(m, w);
    const runs q = runs_of(m, !w->gathers && one_run(m, w->row, w->col) && flat(m, &x));
    for (int64_t r = 0; r < q.n; r++) {
        char *row = to + r * w->row * w->size;

        if (w->gathers)
            for (int64_t c = 0; c < q.each; c++)
                m->code->simd->store[w->at->type](
                    1, row + (c * w->col + gathered(m, w->at, r, c)) * w->size, 1,
                    rd_view_at(&x, r, c));
        else if (t->stream)
            stream(m, w, row, rd_view_at(&x, r, 0), q.each, x.elem);
        else
            m->code->simd->store[w->at->type](q.each, row, w->col, rd_view_at(&x, r, 0));
    }
}

/* ---- Constants and coordinates --------------------------------------------------------------- */
static void constant(rd_tiles *m, int32_t pc)
{
    const rd_view y = rd_tiles_target(m, pc, m->p->inst[pc].dst);

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++)
            rd_view_set(&y, r, c, m->p->inst[pc].value);
}

static void coordinate(rd_tiles *m, int32_t pc)
{
    const rd_tile_walk *w     = &m->code->inst[pc].walk;
    const rd_view       y     = rd_tiles_target(m, pc, m->p->inst[pc].dst);
    const int64_t       first = rd_tiles_position(m, w->at);

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++)
            rd_view_set(&y, r, c,
                        (rd_word){ .i64 = first + r * w->row + c * w->col +
                                          (w->gathers ? gathered(m, w->at, r, c) : 0) });
}

/* ---- Faults ---------------------------------------------------------------------------------- */
/* The reference runs all of an element before the next one, so an instruction that fails here for
 * element (r, c) is not the first to fail if a later one fails for an earlier element.  (At row
 * level a column is a row of the tile.) */
static void fail(rd_tiles *m, int64_t r, int64_t c, rd_status status)
{
    const bool tile = m->level == RD_AT_TILE;

    m->fault = (rd_fault){ .row = tile ? r : c, .col = tile ? c : 0, .status = status };
    if (tile)
        m->rows = r + 1;
    else
        m->cols = c;
    if (r == 0 && c == 0)
        m->task->status = status;
}

/* Does it matter whether an element fails? */
static bool may_be_first(const rd_tiles *m, int64_t r, int64_t c)
{
    return m->level != RD_AT_TILE || r < m->fault.row || (r == m->fault.row && c < m->fault.col);
}

/* ---- Indices --------------------------------------------------------------------------------- */
/* The index from the beginning; false after a sentence about one outside. */
static bool checked(rd_tiles *m, const rd_inst *inst, rd_word given, rd_word *index)
{
    const int64_t extent = inst->value.i64;

    *index = given;
    if (rd_dtype_class(inst->from) == RD_CLASS_u64) {
        if (given.u64 < (uint64_t)extent)
            return true;
        snprintf(m->task->sentence, sizeof m->task->sentence,
                 "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64, given.u64,
                 extent);
    } else {
        if (given.i64 >= -extent && given.i64 < extent) {
            index->i64 += given.i64 < 0 ? extent : 0;
            return true;
        }
        snprintf(m->task->sentence, sizeof m->task->sentence,
                 "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64, given.i64,
                 extent);
    }
    return false;
}

/* Loads by a faulty index still read something: element 0.  An axis without any stops at once, at
 * the first element. */
static void check_index(rd_tiles *m, int32_t pc)
{
    const rd_inst *inst = &m->p->inst[pc];
    const rd_view  x = rd_tiles_view(m, inst->a), y = rd_tiles_target(m, pc, inst->dst);

    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            rd_word index = { 0 };

            if (may_be_first(m, r, c) && !checked(m, inst, rd_view_word(&x, r, c), &index)) {
                fail(m, r, c, RD_ERR_AXIS);
                index.i64 = 0;
            }
            rd_view_set(&y, r, c, index);
        }
}

/* ---- Callbacks ------------------------------------------------------------------------------- */
typedef struct arguments {
    int32_t n;
    rd_view in[RD_MAX_CALL];
} arguments;

/* Loops over floats get whole rows, everything else element by element. */
static bool by_rows(const rd_call *call, const arguments *a)
{
    if (call->block || call->f32_1 || call->f32_2 || call->f64_1 || call->f64_2)
        return false;
    for (int32_t k = 0; k < a->n; k++)
        if (a->in[k].col != 1)
            return false;
    return true;
}

static void call_row(const rd_tiles *m, const rd_call *call, const arguments *a, const rd_view *y,
                     int64_t r)
{
    const void *at[RD_MAX_CALL];

    for (int32_t k = 0; k < a->n; k++)
        at[k] = rd_view_at(&a->in[k], r, 0);
    if (y->elem == RD_ELEM_f32)
        call->f32(m->cols, (const float *const *)at, (float *)(void *)rd_view_at(y, r, 0));
    else
        call->f64(m->cols, (const double *const *)at, (double *)(void *)rd_view_at(y, r, 0));
}

static void call_elements(rd_tiles *m, const rd_inst *inst, const arguments *a, const rd_view *y,
                          int64_t r)
{
    const rd_call *call = &m->p->call[inst->arg];

    for (int64_t c = 0; c < m->cols && may_be_first(m, r, c); c++) {
        rd_word     words[RD_MAX_CALL], result = { 0 };
        const char *sentence;

        for (int32_t k = 0; k < a->n; k++)
            words[k] = rd_view_word(&a->in[k], r, c);
        sentence = rd_call_run(call, words, inst->type, &result);
        rd_view_set(y, r, c, result);
        if (sentence) {
            snprintf(m->task->sentence, sizeof m->task->sentence, "%s: %s", call->name, sentence);
            fail(m, r, c, RD_ERR_CALLBACK);
        }
    }
}

static void call(rd_tiles *m, int32_t pc)
{
    const rd_inst *inst = &m->p->inst[pc];
    const rd_call *call = &m->p->call[inst->arg];
    const rd_view  y    = rd_tiles_target(m, pc, inst->dst);
    arguments      a    = { .n = call->n_in };

    for (int32_t k = 0; k < a.n; k++)
        a.in[k] = rd_tiles_view(m, call->in[k]);
    const bool rows = by_rows(call, &a);
    for (int64_t r = 0; r < m->rows; r++)
        if (rows)
            call_row(m, call, &a, &y, r);
        else
            call_elements(m, inst, &a, &y, r);
}

void rd_tiles_value(rd_tiles *m, int32_t pc)
{
    switch (m->p->inst[pc].kind) {
    case RD_I_CONST: constant(m, pc); break;
    case RD_I_COORD: coordinate(m, pc); break;
    case RD_I_LOAD: load(m, pc); break;
    case RD_I_STORE: store(m, pc); break;
    case RD_I_MAP:
    case RD_I_SELECT: map(m, pc); break;
    case RD_I_CAST: cast(m, pc); break;
    case RD_I_INDEX: check_index(m, pc); break;
    case RD_I_CALL: call(m, pc); break;
    default: break;
    }
}
