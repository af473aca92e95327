/* classic.h - offsets of elements in classic NetCDF files. They are needed because libnetcdf
 * silently reads zeros where a file is truncated. */
#ifndef CMD_CLASSIC_H
#define CMD_CLASSIC_H
#include "files/file.h"
#include <stdint.h>

/* The place of a variable in its file. A record variable (with an unlimited dimension) has one
 * piece in each record, `step` bytes apart. */
typedef struct cmd_classic_place {
    int64_t begin, bytes, step; /* bytes: of a piece; step: 0 where there are no records */
} cmd_classic_place;

/* The facts of a classic file that its header states; filled by cmd_classic_read(). */
typedef struct cmd_classic {
    const char        *path;
    int64_t            size;
    int                n;
    cmd_classic_place *at; /* by NetCDF's numbers of variables, which are the order in the header */
} cmd_classic;

/* Reads the header; ends the program if the file has none. */
cmd_classic *cmd_classic_read(const char *path);
/* Ends the program if the file is too short for the variable. `records` is the length of the
 * unlimited dimension. */
void cmd_classic_check(const cmd_classic *file, int variable, const char *name, int64_t records);
/* Finds the places of the variable's rows along the first axis, as chunks of one row or more. No
 * chunks are returned where rows are so small, or so many, that the library is as fast. */
cmd_place cmd_classic_rows(const cmd_classic *file, int variable, const cmd_variable *v);
#endif
