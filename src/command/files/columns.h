/* columns.h - finds the element type of a column from all its fields. */
#ifndef CMD_COLUMNS_H
#define CMD_COLUMNS_H
#include "files/cells.h"

/* The facts of a column, which cmd_note() collects from all its fields. */
typedef struct cmd_column {
    const char *name; /* NULL: the table has no header line */
    bool        missing, not_whole, is_complex;
    bool        wide, negative, above; /* whole numbers beyond 2^53; below 0; beyond INT64_MAX */
    const char *text, *rounded; /* the first text; the first integer that no double equals; NULL */
    int64_t     text_line, rounded_line; /* their lines, from 1 */
} cmd_column;

/* Adds the facts of one field to those of its column. */
void cmd_note(cmd_column *c, const cmd_cell *cell, const cmd_field *f, int64_t line);
/* The facts of all columns together, for a table that is read as one array. */
cmd_column cmd_all_columns(const cmd_column *column, int64_t n);
/* The element type of a column. RD_AUTO: there is text in it. The type is RD_F64, unless only
 * another type holds all values exactly. */
rd_dtype cmd_column_type(const cmd_column *c);
#endif
