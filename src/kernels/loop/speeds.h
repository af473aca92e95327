/* speeds.h - what the cost model knows of a machine: a number for each row of speeds.def. */
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

typedef struct rd_speed_row {
    const char *name;
    double      usual[3]; /* of vectors of 16, 32 and 64 bytes */
    const char *unit, *how;
} rd_speed_row;
extern const rd_speed_row rd_speed_table[RD_N_SPEEDS];

/* The numbers of the table, for vectors of so many bytes, and caches of the usual sizes: the same on all
 * machines. */
rd_speeds rd_speeds_usual(int32_t vector);

/* As a file has them: a line that says where they count, then a line for each row; and back.  False: it
 * counts elsewhere, a row is missing or comes twice, or a number is none that a machine could have;
 * then nothing of it is taken. */
void rd_speeds_text(rd_text *text, const rd_speeds *s, const char *where);
bool rd_speeds_read(const char *text, const char *where, rd_speeds *s);
#endif
