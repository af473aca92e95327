/* parts.h - a nest before it is compiled: what files of this folder share. */
#ifndef RD_KERNELS_CPU_NEST_PARTS_H
#define RD_KERNELS_CPU_NEST_PARTS_H
#include "kernels/cpu/nest/call.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/sort/row_sort.h"
#include "kernels/pass/strips.h"
#include "kernels/print/print.h"

typedef struct rd_nest_draft {
    const rd_program *p;        /* its loops                                       */
    const rd_program *of;       /* what it computes: p, or p is the same written otherwise */
    bool              by_rows;  /* p is the same by rows of places                 */
    int               vector;   /* bytes of a vector                               */
    bool              whole;    /* one task runs all of it                         */
    bool              pointers; /* users' functions are called by their addresses  */
    bool              tells;    /* all alternatives of its strips are known        */
    bool              marks;    /* its text tells of vector loops, for tools       */
    const char       *why;      /* it cannot be: the reason; NULL                  */
    int64_t           state;    /* bytes of a task's state                         */
    int64_t           number[RD_PRINT_NUMBERS]; /* that the text leaves to the call */
    int32_t           n_number;
} rd_nest_draft;

struct rd_nest_code {
    rd_compiled            *compiled;
    const rd_kernels_place *here; /* its functions, once they are compiled */
    int64_t                 state;
    bool                    by_rows;
    int32_t                 n_number;
    rd_nest_function       *function;
    rd_nest_reducer        *reducer;
    rd_nest_code           *otherwise; /* where its text cannot be compiled, NULL */
    const rd_sorting       *sorting;
    rd_sort_row            *sort;
    int64_t                 work; /* where in a task's state rows are put in order */
    int64_t                 number[];
};

/* rows.c: the program as loops over rows of places, NULL where it is not such a one.  False: no
 * memory. */
bool rd_nest_rows(const rd_program *p, rd_get_fn *get, void *pool, const rd_program **by_rows);
/* items.c: the program with one index after the other in place of panels, NULL where these are
 * better.  False: no memory. */
bool rd_nest_items(const rd_program *p, rd_get_fn *get, void *pool, const rd_program **by_items);
/* schedule.c: the draft of a program; the same with its loops over rows of places, or over items,
 * where they can be.  False: no memory.  Loops without a LOOP leave the program's list. */
rd_nest_draft rd_nest_draft_of(const rd_program *p, int vector, bool whole);
bool          rd_nest_take_rows(rd_nest_draft *n, rd_get_fn *get, void *pool);
void          rd_nest_number_loops(rd_program *to, rd_loop *made, int32_t *number);
/* Its loop tree, which the caller frees: as it is built, and which loops become strips; and after
 * all passes.  NULL: no memory, or n->why says what stands against it. */
rd_schedule *rd_nest_built(rd_nest_draft *n, rd_strips *strips, rd_get_fn *get, void *pool);
rd_schedule *rd_nest_tree(rd_nest_draft *n, rd_text *log, rd_get_fn *get, void *pool);
/* describe.c: a line for each region of strips; for each loop of which a few rounds are merged. */
void rd_nest_strips_text(rd_text *to, const rd_strips *strips);
void rd_nest_merges_text(rd_text *to, const rd_program *p, const rd_strips *strips);
/* prepare.c: its text, or n->why.  False: no memory. */
bool rd_nest_write(rd_nest_draft *n, rd_text *text, rd_get_fn *get, void *pool);
/* callbacks.c: users' functions and reducers, which the text calls.  False: no memory. */
bool rd_nest_callbacks(const rd_program *p, rd_get_fn *get, void *pool, rd_nest_code *made);
/* sorts.c: the routine that puts rows in order, and its memory behind a task's state; both for a
 * call. */
void rd_nest_take_sorts(const rd_nest_draft *n, rd_nest_code *made);
void rd_nest_hand_sorts(const rd_nest_code *code, rd_nest_call *call);
#endif
