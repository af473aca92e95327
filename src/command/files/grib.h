/* grib.h - messages of a GRIB file, and the variables that they form. */
#ifndef CMD_GRIB_H
#define CMD_GRIB_H
#include "files/file.h"
#include "files/grib_api.h"

/* Axes along which the messages of a variable lie, in the order of the variable's axes: member of
 * an ensemble, time, forecast step, level. CMD_PLACES is their number. */
enum { CMD_NUMBER, CMD_TIME, CMD_STEP, CMD_LEVEL, CMD_PLACES };

/* Shapes of grids. */
typedef enum cmd_grid {
    CMD_REGULAR, /* latitudes by longitudes */
    CMD_ROWS,    /* y by x, of a projection */
    CMD_VALUES   /* anything else */
} cmd_grid;

/* One field of a message: its offset and its coordinates. */
typedef struct cmd_message {
    int64_t offset;            /* of the message in the file */
    int32_t field;             /* index of the field, in a message that has several */
    int32_t variable;          /* its index */
    double  place[CMD_PLACES]; /* coordinates along the axes */
    int64_t index[CMD_PLACES]; /* indices along the axes */
} cmd_message;

/* The facts that all messages of one variable share. */
typedef struct cmd_grib_kind {
    char        parameter[32], level[64], step[32], grid[64]; /* grid: a digest */
    const char *name, *units, *title, *standard;
    const char *why; /* reason why it cannot be read; or NULL */
    cmd_grid    shape;
    bool        wide;           /* of 64 bits */
    bool        columns, snake; /* column-major order; every other row runs backwards */
    int64_t     points, rows, across;
    double     *latitudes, *longitudes; /* of a regular grid */
    int64_t     n[CMD_PLACES];
    double     *at[CMD_PLACES]; /* the n distinct coordinates of each axis, in order */
} cmd_grib_kind;

/* All messages of a file, and the kinds that they form; filled by cmd_grib_list(). */
typedef struct cmd_grib {
    int64_t        n_messages, room; /* room: length of the allocated list */
    cmd_message   *message;
    int            n_kinds, kinds_room;
    cmd_grib_kind *kind;
} cmd_grib;

/* Calls visit() for each field of the file from byte `from` on, in order, until visit() returns
 * false. */
typedef bool cmd_grib_visit(void *user, codes_handle *h, int64_t offset, int field);
void cmd_grib_each(const cmd_grib_api *g, const char *path, int64_t from, cmd_grib_visit *visit,
                   void *user);
/* Reads the coordinates of a message along all axes. Sets k->why if one cannot be read. */
void cmd_grib_read_place(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k,
                         double place[CMD_PLACES]);
/* Lists the messages of a file and the kinds that they form. */
cmd_grib *cmd_grib_list(const cmd_grib_api *g, const char *path);
#endif
