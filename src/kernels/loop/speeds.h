/* speeds.h - measured speeds of a machine: a number for each row of speeds.def. */
#ifndef RD_KERNELS_LOOP_SPEEDS_H
#define RD_KERNELS_LOOP_SPEEDS_H
#include "core/text_buffer.h"
#include <stdbool.h>
#include <stdint.h>

/* Rows of speeds.def, by number. */
enum {
#define RD_SPEED(name, ...) RD_SPEED_##name,
#include "kernels/loop/speeds.def"
    RD_N_SPEEDS
};

typedef struct rd_speeds {
    union {
        struct {
#define RD_SPEED(name, ...) double name;
#include "kernels/loop/speeds.def"
        };
        double row[RD_N_SPEEDS];
    };
    int32_t vector;                       /* bytes of a vector                              */
    int64_t bytes_l1, bytes_l2, bytes_l3; /* of caches; a thread's part of the last one */
} rd_speeds;

/* A row of the table of speeds: its name in files, the numbers of usual machines, the unit, and how
 * it is measured. */
typedef struct rd_speed_row {
    const char *name;
    double      usual[3]; /* of vectors of 16, 32 and 64 bytes */
    const char *unit, *how;
} rd_speed_row;
extern const rd_speed_row rd_speed_table[RD_N_SPEEDS];

/* The default numbers, for vectors of so many bytes and caches of the usual sizes: the same on
 * all machines. */
rd_speeds rd_speeds_usual(int32_t vector);

/* Writes and reads a file of speeds: a line that names the machine, then a line for each row.
 * Reading returns false and changes nothing if the machine differs, a row is missing or comes
 * twice, or a number is implausible. */
void rd_speeds_text(rd_text *text, const rd_speeds *s, const char *where);
bool rd_speeds_read(const char *text, const char *where, rd_speeds *s);
#endif
