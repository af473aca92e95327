/* cells.h - one field of a text table as a number, a missing value, or text. */
#ifndef CMD_CELLS_H
#define CMD_CELLS_H
#include "files/fields.h"

/* Kinds of fields; numbers come last. */
typedef enum cmd_cell_kind {
    CMD_CELL_TEXT,
    CMD_CELL_MISSING, /* empty, NaN, and other programs' texts such as NA and null */
    CMD_CELL_WHOLE,   /* digits alone, below 2^64 in size: `size` has all of them */
    CMD_CELL_REAL,
    CMD_CELL_COMPLEX /* "1.5-2i" */
} cmd_cell_kind;

/* A parsed field; filled by cmd_read_cell(). */
typedef struct cmd_cell {
    cmd_cell_kind kind;
    double        value, other; /* the number or its real part, else NaN; the imaginary part */
    uint64_t      size;         /* magnitude of CMD_CELL_WHOLE */
    bool          negative;     /* sign of CMD_CELL_WHOLE */
} cmd_cell;

/* Parses a field. `decimal` is the decimal point: '.' or ','. */
cmd_cell cmd_read_cell(const cmd_field *f, char decimal);
#endif
