/* columns.h - what the fields of a column say, and the element type that holds them. */
#ifndef CMD_COLUMNS_H
#define CMD_COLUMNS_H
#include "files/cells.h"

typedef struct cmd_column {
    const char *name; /* NULL: the first line has no names */
    bool        missing, not_whole, is_complex;
    bool        wide, negative, above; /* whole numbers beyond 2^53; below 0; beyond INT64_MAX */
    const char *text, *rounded;        /* the first that is no number; that no double is */
    int64_t     text_line, rounded_line;
} cmd_column;

void       cmd_note(cmd_column *c, const cmd_cell *cell, const cmd_field *f, int64_t line);
cmd_column cmd_all_columns(const cmd_column *column, int64_t n);
/* RD_AUTO: there is text.  RD_F64, unless only another type holds all of it exactly. */
rd_dtype cmd_column_type(const cmd_column *c);
#endif
