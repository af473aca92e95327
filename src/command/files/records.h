/* records.h - .npy arrays of what the library has no type for: records, whose fields are variables, dates
 * and durations.
 *
 * An array of such a type is described by a literal of Python, and read here: the library reads arrays of
 * numbers, and refuses the others by their type. */
#ifndef CMD_RECORDS_H
#define CMD_RECORDS_H
#include "files/file.h"

/* A number in a record, or an array of numbers; "a.b" is field b of the records in field a. */
typedef struct cmd_field {
    const char *name; /* "": the array has no fields */
    const char *why;  /* it cannot be read; NULL: it can */
    rd_dtype    type;
    bool        swapped;
    bool        is_date;      /* counted from 1970-01-01 on */
    const char *unit;         /* of dates and durations, as NumPy writes it; NULL: it is a number */
    int64_t     times;        /* so many units are 1 of the elements */
    int64_t     offset, size; /* in the record, of an element, in bytes */
    int         rank;         /* axes in the record */
    int64_t     n[RD_MAX_RANK], pitch[RD_MAX_RANK];
} cmd_field;

typedef struct cmd_records {
    rd_shape   shape;
    bool       fortran; /* the first axis is the fastest */
    int64_t    data;    /* where records begin, from the magic bytes on */
    int64_t    bytes;   /* of a record */
    int        n;
    cmd_field *field;
} cmd_records;

/* A .npy array that begins at a byte of an open file, and has `size` bytes at most. */
typedef struct cmd_npy_place {
    int         fd;
    const char *path;
    int64_t     begin, size;
} cmd_npy_place;

/* Reads the fields that the header of an array names; NULL: its type is not known here. */
cmd_records *cmd_read_records(const cmd_npy_place *p);
/* Adds a variable for each field, "prefix.field"; without a prefix the array's own name stands for one
 * that has no fields.  Their `id` is this one, which says which array is meant, and `bytes` is the number
 * of a field, from 1 on.  Where the first field is a date, it is the coordinate of the records, as
 * pandas writes them. */
void cmd_add_fields(cmd_file *file, const cmd_records *r, const char *prefix, int64_t id);
/* Describes the variable of one field, or of an array that has no fields. */
void     cmd_describe_field(cmd_variable *v, const cmd_records *r, int field);
rd_expr *cmd_read_field(rd_ctx *ctx, const cmd_npy_place *p, const cmd_records *r,
                        const cmd_variable *v);
/* The coordinates of the axis of v, where the records have them. */
void cmd_read_record_axis(cmd_file *file, cmd_variable *v);
#endif
