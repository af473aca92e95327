/* scalar_residue.h - the scalar residue of a stage: operations that run element by element, and
 * why.
 *
 * It is derived from what runs: from the plan of tiles, or from the loop tree after all passes.
 * So no pass or kernel has to report anything. */
#ifndef RD_KERNELS_SCALAR_RESIDUE_H
#define RD_KERNELS_SCALAR_RESIDUE_H
#include "core/text_buffer.h"
#include "kernels/program.h"

/* Rows of scalar_residue.def. */
typedef enum rd_residue_why {
#define RD_RESIDUE(name, kept, sentence) RD_RESIDUE_##name,
#include "kernels/scalar_residue.def"
    RD_N_RESIDUE
} rd_residue_why;

/* A row of scalar_residue.def: a reason why operations run element by element. */
typedef struct rd_residue_row {
    const char *name;     /* "order" */
    bool        kept;     /* nothing in the library can change it */
    const char *sentence; /* the reason, a part of a sentence */
} rd_residue_row;
extern const rd_residue_row rd_residue_table[RD_N_RESIDUE];

/* All operations of one reason. */
enum { RD_RESIDUE_NAME = 48 };
typedef struct rd_residue_part {
    double operations, ns;        /* their number; nanoseconds */
    double most;                  /* ns of the most expensive operation     */
    char   what[RD_RESIDUE_NAME]; /* ... and its name: "sum so far"         */
} rd_residue_part;

/* Maps, casts, selections and steps count as operations.  Loads and stores do not, but gathers
 * do.  Nanoseconds are prices of the cost model, for one thread and cached memory. */
typedef struct rd_residue {
    double          operations, ns; /* of all that the stage does */
    rd_residue_part part[RD_N_RESIDUE];
} rd_residue;

/* Adds an operation that is done so many times, in `ns` altogether.  `why` RD_N_RESIDUE: it runs
 * by vectors. */
void rd_residue_add(rd_residue *r, rd_residue_why why, const char *what, double times, double ns);
/* The operations that run element by element; their nanoseconds; the nanoseconds of reasons that
 * are ours to fix. */
double rd_residue_operations(const rd_residue *r);
double rd_residue_ns(const rd_residue *r);
double rd_residue_ours(const rd_residue *r); /* nanoseconds */
/* The name of a fold, "argmin so far"; of an instruction, "exp". */
void rd_residue_fold(const rd_fold *f, char name[RD_RESIDUE_NAME]);
void rd_residue_inst(const rd_program *p, const rd_inst *inst, char name[RD_RESIDUE_NAME]);

/* Writes "exp (4000 of 12000 operations, 16 us): its steps ..; ...", the most expensive first. */
void rd_residue_text(rd_text *text, const rd_residue *r);
/* Writes a line for each reason: RDIM_DEBUG=scalar. */
void rd_residue_lines(rd_text *text, const rd_residue *r);
#endif
