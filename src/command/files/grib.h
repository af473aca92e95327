/* grib.h - messages of a GRIB file, and variables that they make. */
#ifndef CMD_GRIB_H
#define CMD_GRIB_H
#include "files/file.h"
#include "files/grib_api.h"

/* Axes of a variable that messages are places of, in their order. */
enum { CMD_NUMBER, CMD_TIME, CMD_STEP, CMD_LEVEL, CMD_PLACES };

typedef enum cmd_grid {
    CMD_REGULAR, /* latitudes by longitudes */
    CMD_ROWS,    /* y by x, of a projection */
    CMD_VALUES   /* anything else */
} cmd_grid;

typedef struct cmd_message {
    int64_t offset;   /* in the file */
    int32_t field;    /* of a message that has several */
    int32_t variable; /* its number */
    double  place[CMD_PLACES];
    int64_t index[CMD_PLACES]; /* of the place among those of the variable */
} cmd_message;

/* The facts that all messages of one variable share. */
typedef struct cmd_grib_kind {
    char        parameter[32], level[64], step[32], grid[64]; /* the last one: a digest */
    const char *name, *units, *title, *standard;
    const char *why; /* it cannot be read; NULL: nothing is known against it */
    cmd_grid    shape;
    bool        wide;    /* of 64 bits */
    bool columns, snake; /* how points follow each other; the latter: every other row backwards */
    int64_t points, rows, across;
    double *latitudes, *longitudes; /* of a regular grid */
    int64_t n[CMD_PLACES];
    double *at[CMD_PLACES]; /* the distinct places, in the order of the axis */
} cmd_grib_kind;

typedef struct cmd_grib {
    int64_t        n_messages, room;
    cmd_message   *message;
    int            n_kinds, kinds_room;
    cmd_grib_kind *kind;
} cmd_grib;

/* Calls visit() for each field of the file, in order; false from that ends it. */
typedef bool cmd_grib_visit(void *user, codes_handle *h, int64_t offset, int field);
void cmd_grib_each(const cmd_grib_api *g, const char *path, int64_t from, cmd_grib_visit *visit,
                   void *user);
/* The place of a message; k->why is set where what says it cannot be read. */
void cmd_grib_read_place(const cmd_grib_api *g, const codes_handle *h, cmd_grib_kind *k,
                         double place[CMD_PLACES]);
/* Messages and kinds of a file. */
cmd_grib *cmd_grib_list(const cmd_grib_api *g, const char *path);
#endif
