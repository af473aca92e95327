/* residue.h - the scalar residue of a stage: operations that run element by element, and why.
 *
 * It follows from what runs: from the plan of tiles, or from the loop tree after all passes.  So it says
 * what is, and no pass or kernel has to tell of itself. */
#ifndef RD_KERNELS_RESIDUE_H
#define RD_KERNELS_RESIDUE_H
#include "core/text_buffer.h"
#include "kernels/program.h"

/* Rows of residue.def. */
typedef enum rd_residue_why {
#define RD_RESIDUE(name, kept, sentence) RD_RESIDUE_##name,
#include "kernels/residue.def"
    RD_N_RESIDUE
} rd_residue_why;

typedef struct rd_residue_row {
    const char *name;
    bool        kept;
    const char *sentence;
} rd_residue_row;
extern const rd_residue_row rd_residue_table[RD_N_RESIDUE];

/* All operations that run so for one reason. */
enum { RD_RESIDUE_NAME = 48 };
typedef struct rd_residue_part {
    double operations, ns;
    double most;                  /* ns of the dearest of them */
    char   what[RD_RESIDUE_NAME]; /* ... and its name: "sum so far"        */
} rd_residue_part;

/* Maps, casts, choices and steps count as operations; what is only moved does not, but where memory says
 * from where.  Nanoseconds are those of the cost model, of one thread and of memory that is near. */
typedef struct rd_residue {
    double          operations, ns; /* of all that the stage does */
    rd_residue_part part[RD_N_RESIDUE];
} rd_residue;

/* Adds an operation that is done so many times.  ns: of all of them.  `why` RD_N_RESIDUE: by vectors. */
void rd_residue_add(rd_residue *r, rd_residue_why why, const char *what, double times, double ns);
/* The operations that run element by element, and their nanoseconds; those of reasons that are ours. */
double rd_residue_operations(const rd_residue *r);
double rd_residue_ns(const rd_residue *r);
double rd_residue_ours(const rd_residue *r); /* nanoseconds */
/* "argmin so far": a fold; "exp": an instruction of a program. */
void rd_residue_fold(const rd_fold *f, char name[RD_RESIDUE_NAME]);
void rd_residue_inst(const rd_program *p, const rd_inst *inst, char name[RD_RESIDUE_NAME]);

/* For people: "exp (4000 of 12000 operations, 16 us): its steps ..; ...", the dearest first. */
void rd_residue_text(rd_text *text, const rd_residue *r);
/* A line for each reason: RDIM_DEBUG=scalar. */
void rd_residue_lines(rd_text *text, const rd_residue *r);
#endif
