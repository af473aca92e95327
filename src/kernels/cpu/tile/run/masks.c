/* masks.c - masked folds and scans: elements that a mask leaves out.
 *
 * Where the reducer is an operator, and in a search for the best, masked elements become the
 * identity, and kernels take all rows.  Other reducers have a step that reads the mask.  The
 * identity may also be an unmasked element, so each cell has a flag that says whether it has had
 * one.
 *
 * Words.  An element is masked if the mask leaves it out.  The identity is the state that any
 * element replaces, such as infinity for a minimum.
 *
 * Fields. A fold has own_rows if each row of a tile has states of its own. A fold has `totals` if
 * each row is a whole fold; it is `treeless` if a kernel makes these without a combine tree. */
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/reference/fold.h"
#include <string.h>

/* Returns the mask in register `reg` with contiguous columns: copied to the third spare buffer if
 * it is broadcast, as the first two may hold operands. */
rd_reg_view rd_mask_dense(rd_tiles *m, int32_t reg)
{
    char *const spare = m->spare;
    rd_reg_view mask;

    m->spare = rd_tiles_third_spare(m);
    mask     = rd_tiles_dense(m, rd_tiles_view(m, reg));
    m->spare = spare;
    return mask;
}

/* Copies x to the spare buffer, with the identity (which changes no state) in place of masked
 * elements: y = mask ? x : identity.  Bit k of `form` says that operand k is one number for all of
 * the row: the identity (bit 2), and x if its columns repeat (bit 1).  Bools are bytes, so their
 * identity is, too. */
rd_reg_view rd_mask_leave_out(rd_tiles *m, const rd_fold *fold, const rd_reg_view *x,
                              const rd_reg_view *mask)
{
    const rd_word      identity = rd_fold_identity(fold);
    const unsigned     form     = 4U | (unsigned)(x->col == 0) << 1;
    rd_simd_map *const choose   = m->code->simd->select[x->elem][form];
    const rd_reg_view  y        = { m->spare, m->cols, 1, x->elem };
    const uint8_t      byte     = (uint8_t)identity.u64;
    uint32_t           none     = 0;

    for (int64_t r = 0; r < m->rows; r++)
        choose(m->cols, rd_view_at(&y, r, 0), rd_view_at(mask, r, 0), rd_view_at(x, r, 0),
               x->elem == RD_ELEM_b8 ? (const void *)&byte : &identity, &none);
    return y;
}

/* True if the mask has any element in row r that counts. */
bool rd_mask_has_any(const rd_tiles *m, const rd_reg_view *mask, int64_t r)
{
    return memchr(rd_view_at(mask, r, 0), 1, (size_t)m->cols);
}

/* ---- Flags: which cells have had an unmasked element ----------------------------------------- */
/* The flags of row r of the tile, which say what cells have had an unmasked element: that of its
 * first element, the distance to the next element's, and the number of the first flag. */
typedef struct flags {
    uint8_t *seen;
    int64_t  next, cell;
} flags;

/* Returns the flags of the cells (results) that row r updates, which say whether a cell has had an
 * unmasked element. `cell` is that of the tile's first element. A cell's flag is that of its first
 * lane. */
static flags flags_of(const rd_tile_fold *f, char *memory, int64_t cell, int64_t r)
{
    const int64_t at = cell + r * f->cell.row + (f->own_rows ? r * f->cells : 0);

    return (flags){ (uint8_t *)memory + f->seen_offset + at * f->fold->lanes,
                    f->cell.col * f->fold->lanes, at * f->fold->lanes };
}

/* Sets the `seen` flags of n elements that the mask keeps: one flag for the row (next is 0), or one
 * for each element, `next` apart. `either` is the kernel that combines bools by `or`. Each mask
 * byte is 1 (kept) or 0. */
static void mark(rd_simd_map *either, uint8_t *seen, int64_t next, const uint8_t *mask, int64_t n)
{
    uint32_t none = 0;

    if (next == 0)
        seen[0] |= memchr(mask, 1, (size_t)n) != NULL;
    else if (next == 1)
        either(n, seen, seen, mask, /*c=*/NULL, &none);
    else
        for (int64_t c = 0; c < n; c++)
            seen[c * next] |= mask[c];
}

/* argmin, argmax: notes the index of each cell's first unmasked element, one cell for each column.
 * Mostly all cells have had one already, so 8 cells are tested at a time. s->cell is the number of
 * the first flag; places lie in the same order. */
static void note_places(const rd_tile_fold *f, char *memory, const flags *s, const uint8_t *mask,
                        int64_t n, int64_t index)
{
    int64_t *first = (int64_t *)(void *)(memory + f->first_place_offset) + s->cell;

    for (int64_t c = 0; c < n; c++) {
        uint64_t counts, seen;

        if (c + 8 <= n) {
            memcpy(&counts, mask + c, 8);
            memcpy(&seen, s->seen + c, 8);
            if (!(counts & ~seen)) { /* each cell has had one */
                c += 7;
                continue;
            }
        }
        if (mask[c] && !s->seen[c]) {
            s->seen[c] = 1;
            first[c]   = index + c * f->index.col;
        }
    }
}

/* Sets the flags of the cells (results) that unmasked elements of the tile update: an empty cell
 * has another result.  Totals (rows that are whole folds) have a flag for each row of the tile.
 * t->cell and t->index are the numbers of the tile's first element.  Kernel [0] combines two rows
 * by `or`. */
void rd_mask_note_seen(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                       const rd_fold_tile *t)
{
    rd_simd_map *const either = m->code->simd->map[RD_ELEM_b8][RD_OP_or][0];

    for (int64_t r = 0; f->totals && r < m->rows; r++)
        memory[f->seen_offset + r] = rd_mask_has_any(m, &t->mask, r);
    for (int64_t r = 0; !f->totals && r < m->rows; r++) {
        const flags    s    = flags_of(f, memory, t->cell, r);
        const uint8_t *mask = (const uint8_t *)rd_view_at(&t->mask, r, 0);

        if (f->notes_places)
            note_places(f, memory, &s, mask, m->cols, t->index + r * f->index.row);
        else
            mark(either, s.seen, s.next, mask, m->cols);
    }
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* Sets the results y of a scan to that of no elements (`nothing`) in row r, for cells that have had
 * no unmasked element. s->next is the distance of the flags of neighbouring columns.  Where columns
 * run backwards the flags do, too: `next` is negative.  Form 4 of the choice: its third operand is
 * one number. */
static void clear_unseen(const rd_tiles *m, const rd_reg_view *y, const flags *s, int64_t r,
                         const rd_word *nothing)
{
    rd_simd_map *const choose = m->code->simd->select[y->elem][4];
    char *const        row    = rd_view_at(y, r, 0);
    uint32_t           none   = 0;

    if (s->next == 1 && memchr(s->seen, 0, (size_t)m->cols))
        choose(m->cols, row, s->seen, row, nothing, &none);
    for (int64_t c = 0; s->next != 1 && c < m->cols; c++)
        if (!s->seen[c * s->next])
            rd_view_set(y, r, c, *nothing);
}

/* Sets the results of a scan along row r to that of no elements (`nothing`), up to its first
 * unmasked element; of an exclusive scan one further. */
static void clear_row(const rd_tiles *m, const rd_tile_fold *f, const rd_reg_view *y,
                      const flags *s, const uint8_t *mask, int64_t r, const rd_word *nothing)
{
    /* the first unmasked element (NULL: none), and how many results come before it */
    const uint8_t *one = s->seen[0] ? mask : memchr(mask, 1, (size_t)m->cols);
    const int64_t  end = s->seen[0] ? 0 : one ? one - mask + f->fold->exclusive : m->cols;

    for (int64_t c = 0; c < end && c < m->cols; c++)
        rd_view_set(y, r, c, *nothing);
    s->seen[0] |= one != NULL;
}

/* Sets the results y of a masked scan to that of no elements where none has come yet.  Where a row
 * is one scan, its flags are one (next is 0).  Inclusive scans note the elements of this step
 * first, exclusive ones after it. */
void rd_mask_clear_empty(const rd_tiles *m, const rd_tile_fold *f, char *memory,
                         const rd_reg_view *y, const rd_reg_view *mask)
{
    const int64_t      cell   = rd_tiles_position(m, f->cell.at);
    rd_simd_map *const either = m->code->simd->map[RD_ELEM_b8][RD_OP_or][0];
    rd_word            nothing[RD_MAX_STATE];

    rd_fold_of_nothing(f->fold, nothing);
    for (int64_t r = 0; r < m->rows; r++) {
        const flags    s = flags_of(f, memory, cell, r);
        const uint8_t *w = (const uint8_t *)rd_view_at(mask, r, 0);

        if (s.next == 0) {
            clear_row(m, f, y, &s, w, r, nothing);
            continue;
        }
        if (f->fold->exclusive)
            clear_unseen(m, y, &s, r, nothing);
        mark(either, s.seen, s.next, w, m->cols);
        if (!f->fold->exclusive)
            clear_unseen(m, y, &s, r, nothing);
    }
}
