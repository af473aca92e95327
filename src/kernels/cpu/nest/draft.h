/* draft.h - a nest before it is compiled, and the record of a compiled one, for the files of
 * this folder. */
#ifndef RD_KERNELS_CPU_NEST_DRAFT_H
#define RD_KERNELS_CPU_NEST_DRAFT_H
#include "kernels/cpu/nest/nest_call.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/sort/row_sort.h"
#include "kernels/pass/chosen_strips.h"
#include "kernels/print/print.h"

/* A nest on its way from a program to text. */
typedef struct rd_nest_draft {
    const rd_program *p;        /* the program that is printed: `planned`, or it rewritten */
    const rd_program *planned;  /* the program as it was planned                            */
    bool              by_rows;  /* p has loops over rows of a sparse array                  */
    int               vector;   /* bytes of a vector                                        */
    bool              whole;    /* one task runs all of it, by one function                 */
    bool              pointers; /* users' functions are called by their addresses           */
    bool              tells;    /* strips list all their alternatives, for reports          */
    bool              marks;    /* the text tells the statement of vector loops, for tools  */
    const char       *why;      /* the reason why there can be no nest; NULL                */
    int64_t           state;    /* bytes of a task's state; the printer finds them          */
    int64_t           number[RD_PRINT_NUMBERS]; /* values of N0 .. in the text              */
    int32_t           n_number;
} rd_nest_draft;

/* A compiled nest, with all that a call of it needs.  prepare.c fills it. */
struct rd_nest_code {
    rd_compiled            *compiled;    /* entry of the tier's table                          */
    const rd_kernels_place *here;        /* where its functions appear once they are loaded    */
    int64_t                 state;       /* bytes of a task's state                            */
    bool                    by_rows;     /* loops go over rows of a sparse array               */
    int32_t                 n_number;    /* entries of number[]                                */
    rd_nest_function       *function;    /* users' functions, by call number                   */
    rd_nest_reducer        *reducer;     /* users' reducers, by fold                           */
    rd_nest_code           *second_text; /* the second text, if this one cannot be compiled; NULL */
    const rd_sorting       *sorting;     /* sorts of the program                               */
    rd_sort_row            *sort;        /* the routine that sorts rows                        */
    rd_sort_take           *take;        /* the one that takes strips of them                  */
    int64_t                 work;        /* where its memory begins in a task's state          */
    int64_t                 number[];    /* values of N0 .. in the text                        */
};

/* sparse_rows.c: rewrites the program as a loop over the rows of a sparse array, in *by_rows;
 * NULL if it cannot be. False: no memory. */
bool rd_nest_sparse_rows(const rd_program *p, rd_get_fn *get, void *pool,
                         const rd_program **by_rows);
/* interchange.c: rewrites the program with points outermost instead of panels, in *by_items;
 * NULL if it cannot be. False: no memory. */
bool rd_nest_interchange(const rd_program *p, rd_get_fn *get, void *pool,
                         const rd_program **by_items);
/* schedule.c: begins the draft of a program; rewrites its program where that helps, false: no
 * memory; removes loops without a LOOP instruction from a program's list. */
rd_nest_draft rd_nest_draft_of(const rd_program *p, int vector, bool whole);
bool          rd_nest_rewrite(rd_nest_draft *n, rd_get_fn *get, void *pool);
void          rd_nest_number_loops(rd_program *to, rd_loop *made, int32_t *number);
/* Build the loop tree, which the caller frees: as it is first, with the choice of strips; and
 * after all passes. NULL: no memory, or n->why says why there is none. */
rd_schedule *rd_nest_build(rd_nest_draft *n, rd_strips *strips, rd_get_fn *get, void *pool);
rd_schedule *rd_nest_tree(rd_nest_draft *n, rd_text *log, rd_get_fn *get, void *pool);
/* describe.c: adds a line for each region of strips; for each loop with unroll-and-jam. */
void rd_nest_strips_text(rd_text *to, const rd_strips *strips);
void rd_nest_unroll_jam_text(rd_text *to, const rd_program *p, const rd_strips *strips);
/* prepare.c: adds the text of the draft, or sets n->why. False: no memory. */
bool rd_nest_write(rd_nest_draft *n, rd_text *text, rd_get_fn *get, void *pool);
/* callbacks.c: finds users' functions and reducers, which the text calls. False: no memory. */
bool rd_nest_callbacks(const rd_program *p, rd_get_fn *get, void *pool, rd_nest_code *made);
/* sort_callback.c: chooses the routine that sorts rows, and its memory behind a task's state;
 * passes both to a call. */
void rd_nest_prepare_sorts(const rd_nest_draft *n, rd_nest_code *made);
void rd_nest_pass_sorts(const rd_nest_code *code, rd_nest_call *call);
#endif
