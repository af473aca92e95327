/* columns.c - finds the element type of a column: it collects facts about each field, and then
 * chooses a type that holds all values. */
#include "files/columns.h"
#include <math.h>

/* Notes a whole number of a magnitude above 2^53, up to which doubles hold each integer. `above` is
 * set if int64 does not hold it. `rounded` is the first such number that differs from its
 * double. */
static void note_whole(cmd_column *c, const cmd_cell *cell, const cmd_field *f, int64_t line)
{
    const uint64_t most_exact = UINT64_C(1) << 53;

    if (cell->size <= most_exact)
        return;
    const double size = fabs(cell->value);
    c->wide           = true;
    c->above |= cell->size > (uint64_t)INT64_MAX + cell->negative;
    if (!c->rounded && (size >= 0x1p64 || (uint64_t)size != cell->size)) {
        c->rounded      = cmd_field_shown(f);
        c->rounded_line = line;
    }
}

/* Adds the facts of one field to those of its column. Reals come first, as most fields are reals.
 * The first text is kept for an error message. */
void cmd_note(cmd_column *c, const cmd_cell *cell, const cmd_field *f, int64_t line)
{
    if (cell->kind == CMD_CELL_REAL) { /* most fields */
        c->not_whole = true;
        return;
    }
    c->missing |= cell->kind == CMD_CELL_MISSING;
    c->not_whole |= cell->kind == CMD_CELL_COMPLEX;
    c->is_complex |= cell->kind == CMD_CELL_COMPLEX;
    c->negative |= cell->negative;
    if (cell->kind == CMD_CELL_WHOLE)
        note_whole(c, cell, f, line);
    if (cell->kind == CMD_CELL_TEXT && !c->text) {
        c->text      = cmd_field_shown(f);
        c->text_line = line;
    }
}

/* Merges the facts of columns. Large integers in a column of fractions do not count as rounded: the
 * whole column is approximate. */
cmd_column cmd_all_columns(const cmd_column *column, int64_t n)
{
    cmd_column all = { 0 };

    for (const cmd_column *c = column; c < column + n; c++) {
        all.missing |= c->missing;
        all.not_whole |= c->not_whole;
        all.is_complex |= c->is_complex;
        all.wide |= c->wide;
        all.negative |= c->negative;
        all.above |= c->above;
        if (c->text && (!all.text || c->text_line < all.text_line)) {
            all.text      = c->text;
            all.text_line = c->text_line;
        }
        if (c->rounded && !c->not_whole && !all.rounded) {
            all.rounded      = c->rounded;
            all.rounded_line = c->rounded_line;
        }
    }
    return all;
}

/* Chooses the narrowest type that holds all values of a column exactly; RD_AUTO: some value is
 * text. Integers beyond 2^53 (`wide`) need a type of 64 bits, unless missing values, fractions, or
 * both signs beyond int64 rule that out. */
rd_dtype cmd_column_type(const cmd_column *c)
{
    if (c->text)
        return RD_AUTO;
    if (c->is_complex)
        return RD_C128;
    if (!c->wide || c->missing || c->not_whole || (c->above && c->negative))
        return RD_F64;
    return c->above ? RD_U64 : RD_I64;
}
