/* views.c - registers and memory as a task sees them. */
#include "kernels/cpu/tile/run/views.h"
#include <string.h>

/* ---- Single elements ------------------------------------------------------------------------- */
/* Returns element (row, col) of a view as a 64-bit word; bytes above those of the element are 0. */
rd_word rd_view_word(const rd_reg_view *v, int64_t row, int64_t col)
{
    const char *at = rd_view_at(v, row, col);

    rd_word word = { .u64 = 0 };

    if (v->elem == RD_ELEM_b8)
        word.u64 = *(const uint8_t *)at;
    else
        memcpy(&word, at, (size_t)rd_elem_size(v->elem));
    return word;
}

/* Sets element (row, col) of a view. */
void rd_view_set(const rd_reg_view *v, int64_t row, int64_t col, rd_word word)
{
    char *at = rd_view_at(v, row, col);

    if (v->elem == RD_ELEM_b8)
        *(uint8_t *)at = word.u64 != 0;
    else
        memcpy(at, &word, (size_t)rd_elem_size(v->elem));
}

/* ---- Where elements are ---------------------------------------------------------------------- */
/* Returns the memory of the tile's first element at an instruction's address, where its strides
 * apply. */
char *rd_tiles_memory(const rd_tiles *m, const rd_tile_strides *w)
{
    return (char *)m->task->slot[w->at->slot] + rd_tiles_position(m, w->at) * w->size;
}

/* Says where a register of instruction pc lies for this tile, and returns its view: in the memory
 * of the STORE that it is fused with (into), or as contiguous rows in a buffer. t->buffer is the
 * number of the buffer of its first register; further ones have the next buffers. Registers of a
 * row or of the task have their place already. */
rd_reg_view rd_tiles_target(rd_tiles *m, int32_t pc, int32_t reg)
{
    const rd_tile_inst *t = &m->code->inst[pc];
    rd_reg_view        *v = &m->reg[reg];

    if (t->stores_into >= 0)
        *v = rd_memory_view(m, &m->code->inst[t->stores_into].strides, v->elem);
    else if (t->level == RD_AT_TILE) {
        v->at  = m->buffers + (t->buffer + (reg - m->p->inst[pc].dst)) * m->code->buffer_bytes;
        v->row = m->cols;
        v->col = 1;
    }
    return rd_tiles_view(m, reg);
}

/* Returns the view with contiguous columns: a broadcast register (one element a row, or for all) is
 * copied to the spare buffer, by doubling: as one run if one element holds for all of the tile. */
rd_reg_view rd_tiles_dense(rd_tiles *m, rd_reg_view v)
{
    rd_reg_view y = { m->spare, m->cols, 1, v.elem };

    if (v.col == 1 || m->rows * m->cols == 1)
        return v;
    const rd_runs q    = rd_runs_of(m, rd_is_uniform(m, &v));
    const int64_t size = rd_elem_size(v.elem);
    for (int64_t r = 0; r < q.n; r++) {
        char *row = rd_view_at(&y, r, 0);
        memcpy(row, rd_view_at(&v, r, 0), (size_t)size);
        for (int64_t n = 1; n < q.each; n *= 2)
            memcpy(row + n * size, row, (size_t)((n < q.each - n ? n : q.each - n) * size));
    }
    return y;
}

/* Makes both operands contiguous: copies of y go to the second spare buffer. y stays as it is if
 * kernels take it as a scalar (coly is 0) or there is none. */
void rd_tiles_dense_both(rd_tiles *m, rd_reg_view *x, rd_reg_view *y, int64_t coly)
{
    char *const spare = m->spare;

    *x       = rd_tiles_dense(m, *x);
    m->spare = rd_tiles_second_spare(m);
    *y       = y->at && coly == 1 ? rd_tiles_dense(m, *y) : *y;
    m->spare = spare;
}
