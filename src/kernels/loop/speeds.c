/* speeds.c - speeds of a machine: the defaults, and a file of measured ones. */
#include "kernels/loop/speeds.h"
#include "core/caches.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const rd_speed_row rd_speed_table[RD_N_SPEEDS] = {
#define RD_SPEED(name, baseline, avx2, avx512, unit, how) \
    { #name, { baseline, avx2, avx512 }, unit, how },
#include "kernels/loop/speeds.def"
};

/* ---- Defaults -------------------------------------------------------------------------------- */
/* Returns the default speeds for vectors of so many bytes.  The table has a column each for 16, 32
 * and 64 bytes. */
rd_speeds rd_speeds_usual(int32_t vector)
{
    const int isa = vector >= 64 ? 2 : vector >= 32 ? 1 : 0;
    rd_speeds s   = { .vector   = vector,
                      .bytes_l1 = RD_L1_BYTES,
                      .bytes_l2 = RD_L2_BYTES,
                      .bytes_l3 = RD_STREAM_BYTES };

    for (int k = 0; k < RD_N_SPEEDS; k++)
        s.row[k] = rd_speed_table[k].usual[isa];
    return s;
}

/* ---- A file ---------------------------------------------------------------------------------- */
/* Writes a file of speeds: a line that names the machine, then a line such as "add_f32 0.17" for
 * each row. */
void rd_speeds_text(rd_text *text, const rd_speeds *s, const char *where)
{
    rd_text_add(text, "%s\n", where);
    for (int k = 0; k < RD_N_SPEEDS; k++)
        rd_text_add(text, "%s %.6g\n", rd_speed_table[k].name, s->row[k]);
}

/* Reads the line of a row, such as "add_f32 0.17". A number that is 1000 times more or less than
 * the default for vectors of 64 bytes was not measured right, and is refused. */
static bool read_line(const char *line, int row, double *value)
{
    const size_t n    = strlen(rd_speed_table[row].name);
    const double like = rd_speed_table[row].usual[2];
    char        *end;

    if (strncmp(line, rd_speed_table[row].name, n) != 0 || line[n] != ' ')
        return false;
    *value = strtod(line + n + 1, &end);
    return end != line + n + 1 && *end == '\n' && isfinite(*value) && *value > like / 1000 &&
           *value < like * 1000;
}

/* Reads a file of speeds: all rows into a copy, which is taken only if every line is right.
 * `where` names the machine; a file of another machine is refused. */
bool rd_speeds_read(const char *text, const char *where, rd_speeds *s)
{
    const size_t n    = strlen(where);
    rd_speeds    read = *s;

    if (strncmp(text, where, n) != 0 || text[n] != '\n')
        return false;
    text += n + 1;
    for (int k = 0; k < RD_N_SPEEDS; k++) {
        if (!read_line(text, k, &read.row[k]))
            return false;
        text += strcspn(text, "\n") + 1;
    }
    if (*text)
        return false;
    *s = read;
    return true;
}
