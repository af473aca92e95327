/* arrivals.c - rows of elements into the states of blocks, and blocks into the tree. */
#include "kernels/cpu/tile/arrivals.h"
#include "kernels/cpu/fold.h"
#include <assert.h>

static const char *at(const rd_view *v, int64_t r, int64_t c)
{
    return v->at ? rd_view_at(v, r, c) : NULL;
}

void rd_arrival_place(rd_arrival *a, const rd_fold_tile *t, int64_t r, int64_t c)
{
    const rd_tile_fold *f    = a->f;
    const int64_t       cell = t->cell + r * f->cell.row + c * f->cell.col + (f->own_rows ? r * f->cells : 0);

    a->group       = rd_tree_slot(f, cell) / f->group;
    a->offset      = rd_tree_slot(f, cell) % f->group;
    a->q.x         = at(&t->x, r, c);
    a->q.y         = at(&t->y, r, c);
    a->q.w         = at(&t->w, r, c);
    a->q.index     = t->index + r * f->index.row + c * f->index.col;
    a->q.index_col = f->index.col;
    a->q.index_row = f->index.row;
}

rd_word rd_fold_identity(const rd_fold *fold)
{
    const rd_elem elem = rd_elem_of(fold->type);

    switch (fold->reducer) {
    case RD_RED_prod: return rd_word_from_int(1, fold->type);
    case RD_RED_min: return rd_fold_extreme(fold->type, true);
    case RD_RED_max: return rd_fold_extreme(fold->type, false);
    case RD_RED_all: return (rd_word){ .u64 = 1 };
    default: break;
    }
    return elem == RD_ELEM_f32   ? (rd_word){ .f32 = -0.0F }
           : elem == RD_ELEM_f64 ? (rd_word){ .f64 = -0.0 }
                                 : (rd_word){ .u64 = 0 };
}

/* Fused steps begin with an identity; they are of floats. */
static void fill_identity(const rd_arrival *a, int64_t n, void *s)
{
    const rd_word identity = rd_fold_identity(a->f->fold);

    for (int64_t k = 0; k < n; k++)
        if (a->f->elem == RD_ELEM_f32)
            ((float *)s)[k] = identity.f32;
        else
            ((double *)s)[k] = identity.f64;
}

void rd_arrival_take(rd_arrival *a, int64_t offset, int64_t n, int64_t rows, bool fresh)
{
    rd_fold_rows  q    = a->q;
    const int64_t skip = offset - a->offset, size = a->size;

    rd_tree_block(a->f, a->memory, a->group * a->f->group + offset, q.s);
    q.n    = n;
    q.rows = rows;
    q.x    = (const char *)q.x + skip * size;
    q.y    = q.y ? (const char *)q.y + skip * size : NULL;
    q.w    = q.w ? (const char *)q.w + skip * size : NULL;
    q.index += skip * q.index_col;
    if (fresh && a->fused) {
        fill_identity(a, n, q.s[0]);
    } else if (fresh) {
        q.rows = 1;
        a->f->code->first(&q);
        q.x = (const char *)q.x + q.ldx * size;
        q.w = q.w ? (const char *)q.w + q.ldw * size : NULL;
        q.index += q.index_row;
        q.rows = rows - 1;
    }
    if (q.rows > 0)
        a->step(&q);
}

void rd_arrive(rd_arrival *a, int64_t rows)
{
    const int64_t steps = a->f->fold->steps, size = a->size, n = a->q.n;

    while (rows > 0) {
        const int64_t block = a->at / steps, left = block == INT64_MAX / steps ? rows : (block + 1) * steps - a->at;
        rd_group     *g     = rd_tree_group(a->memory, a->group);
        const bool    stays = a->f->best && g->block >= 0; /* what is best of many rows seldom changes: no new blocks */
        const int64_t now   = stays || left > rows ? rows : left;
        int64_t       begun;

        if (!stays)
            rd_tree_reach(a->f, a->memory, a->group, block);
        assert(a->offset <= g->begun); /* states of a block begin from the left, without gaps */
        begun = g->begun - a->offset < n ? g->begun - a->offset : n;
        if (begun > 0)
            rd_arrival_take(a, a->offset, begun, now, false);
        if (begun < n)
            rd_arrival_take(a, a->offset + begun, n - begun, now, true);
        g->begun = g->begun > a->offset + n ? g->begun : a->offset + n;
        a->at += now;
        a->q.x = (const char *)a->q.x + now * a->q.ldx * size;
        a->q.y = a->q.y ? (const char *)a->q.y + now * a->q.ldy * size : NULL;
        a->q.w = a->q.w ? (const char *)a->q.w + now * a->q.ldw * size : NULL;
        a->q.index += now * a->q.index_row;
        rows -= now;
    }
}

/* Whole blocks of a run, straight from memory to nodes of the tree; the steps that it took. */
static int64_t take_blocks(rd_arrival *a, int64_t whole)
{
    const int64_t steps = a->f->fold->steps, size = a->size;
    int64_t       taken = 0;
    void         *to[RD_MAX_STATE];

    if (!a->blocks || a->at % steps != 0)
        return 0;
    for (; taken + steps <= whole; taken += steps) {
        const rd_fold_rows q = {
            .rows = steps,
            .ldx  = a->q.ldx,
            .ldy  = a->q.ldy,
            .x    = (const char *)a->q.x + taken * a->q.ldx * size,
            .y    = a->q.y ? (const char *)a->q.y + taken * a->q.ldy * size : NULL,
        };
        rd_tree_end_block(a->f, a->memory, a->group);
        rd_tree_row(a->f, a->memory, rd_tree_group(a->memory, a->group)->depth, a->group * a->f->group, to);
        a->blocks(&q, to[0]);
        rd_tree_push(a->f, a->memory, a->group,
                     (rd_tree_node){ .start = (a->at + taken) / steps, .n = a->f->fold->lanes });
    }
    return taken;
}

/* A part of a step, whole steps, a part of a step; the steps are of all cells that lie beside each other. */
void rd_arrive_along(rd_arrival *a, int64_t n, int64_t lane, int64_t outer)
{
    const int64_t lanes = a->f->beside * a->f->fold->lanes, size = a->size;

    a->q.ldx = a->q.ldy = a->q.ldw = lanes;
    a->q.index_row                 = lanes * a->q.index_col;
    while (n > 0) {
        const int64_t first = lane % lanes, whole = n / lanes;
        int64_t       now = first ? (lanes - first < n ? lanes - first : n) : whole ? whole * lanes : n;

        a->offset = first;
        a->at     = outer * a->f->row_steps + lane / lanes;
        a->q.n    = first || !whole ? now : lanes;
        if (first || !whole) {
            const rd_fold_rows q = a->q;
            rd_arrive(a, 1);
            a->q       = q; /* one row: on by its elements, not by a step */
            a->q.x     = (const char *)q.x + now * size;
            a->q.y     = q.y ? (const char *)q.y + now * size : NULL;
            a->q.w     = q.w ? (const char *)q.w + now * size : NULL;
            a->q.index = q.index + now * q.index_col;
        } else {
            const int64_t taken = take_blocks(a, whole);
            now                 = taken ? taken * lanes : now;
            if (taken) {
                a->q.x = (const char *)a->q.x + now * size;
                a->q.y = a->q.y ? (const char *)a->q.y + now * size : NULL;
            } else
                rd_arrive(a, whole);
        }
        lane += now;
        n -= now;
    }
}
