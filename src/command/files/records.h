/* records.h - .npy arrays of NumPy's structured types, dates and durations, which rd_load()
 * refuses. Fields of records become variables.
 *
 * The type of such an array is a Python literal in its header, which is parsed here. */
#ifndef CMD_RECORDS_H
#define CMD_RECORDS_H
#include "files/file.h"

/* A field of a record: a number, or an array of numbers. "a.b" is field b of the records in field
 * a. */
typedef struct cmd_field {
    const char *name; /* "": the array has no fields */
    const char *why;  /* reason why it cannot be read; or NULL */
    rd_dtype    type;
    bool        swapped;
    bool        is_date;      /* counted from 1970-01-01; else a duration or a number */
    const char *unit;         /* NumPy's unit of a date or duration; NULL: a number */
    int64_t     times;        /* units in one count: 25 for "[25s]" */
    int64_t     offset, size; /* in the record; of an element; in bytes */
    int         rank;         /* axes within the record: extents n, strides pitch in bytes */
    int64_t     n[RD_MAX_RANK], pitch[RD_MAX_RANK];
} cmd_field;

/* An array of records, as its header describes it. */
typedef struct cmd_records {
    rd_shape   shape;
    bool       fortran; /* the first axis is the fastest */
    int64_t    data;    /* offset of the records from the magic bytes */
    int64_t    bytes;   /* bytes of a record */
    int        n;
    cmd_field *field;
} cmd_records;

/* A .npy array at a byte of an open file, with at most `size` bytes. */
typedef struct cmd_npy_place {
    int         fd;
    const char *path;
    int64_t     begin, size;
} cmd_npy_place;

/* Reads the fields from the header of an array; NULL: its type is not known here. */
cmd_records *cmd_read_records(const cmd_npy_place *p);
/* Adds a variable for each field, "prefix.field". An array without fields has the prefix as its
 * name, or the file's name. `id` tells which array of an archive is meant. `bytes` of a variable is
 * the number of its field, from 1. If the first field is a date, it holds the coordinates of the
 * records, as pandas writes. */
void cmd_add_fields(cmd_file *file, const cmd_records *r, const char *prefix, int64_t id);
/* Fills in the variable of one field, or of an array without fields. */
void cmd_describe_field(cmd_variable *v, const cmd_records *r, int field);
/* Makes the leaf of the variable of a field. */
rd_expr *cmd_read_field(rd_ctx *ctx, const cmd_npy_place *p, const cmd_records *r,
                        const cmd_variable *v);
/* Reads the coordinates of the axis of v, if the records have them. */
void cmd_read_record_axis(cmd_file *file, cmd_variable *v);
#endif
