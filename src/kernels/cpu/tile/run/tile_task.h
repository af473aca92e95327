/* tile_task.h - the state of a task of the tile machine, and the functions that run its
 * instructions.
 *
 * Words.  m is the task: the state of one run over a part of the program.  pc is the number of an
 * instruction.  The view of a register says where its elements lie.  A view is dense if its columns
 * are contiguous.  The spare buffers hold copies for the time of one instruction. */
#ifndef RD_KERNELS_CPU_TILE_RUN_TILE_TASK_H
#define RD_KERNELS_CPU_TILE_RUN_TILE_TASK_H
#include "kernels/cpu/tile/tile.h"

/* The layout of a register's elements: (r, c) is r row + c col elements after `at`.  col is 0 (a
 * scalar for the row) or 1. */
typedef struct rd_reg_view {
    char   *at;
    int64_t row, col;
    rd_elem elem;
} rd_reg_view;

/* The current (or first) index of an axis, and the range [lo, hi) that loops over it visit. */
typedef struct rd_tile_axis {
    int64_t index, lo, hi;
} rd_tile_axis;

/* The first element, in the reference's order, that is known to fail; row INT64_MAX if none is.
 * The tile's other instructions still run on the rows up to that one, as one of them may fail for
 * an earlier element. */
typedef struct rd_fault {
    int64_t   row, col;
    rd_status status; /* its sentence is in the task */
} rd_fault;

/* A task between two instructions.  It lies in the task's state, with all arrays that it points
 * to. */
typedef struct rd_tiles {
    const rd_program   *p;
    const rd_tile_code *code;
    rd_task            *task;
    rd_tile_level       level; /* of the loops that are open */
    int64_t rows, cols; /* the tile's shape; at row level 1 and as many as the tile has rows; at
                          * task level 1, 1 */
    int64_t first_row;  /* of the tile's rows, where a loop goes through a few at a time */
    rd_reg_view  *reg;
    rd_tile_axis *axis, *row_axis; /* row_axis: that of the tile's rows */
    /* spare: code->spares more buffers of 8-byte elements */
    char       *task_words, *row_words, *buffers, *spare;
    void       *work; /* of rows that are sorted */
    char      **fold;
    int32_t     leave; /* loop to leave early, -1 */
    rd_fault    fault;
    const char *prefetch_at, *prefetch_end; /* memory that is prefetched into the second-level cache
                                             * between instructions */
} rd_tiles;

/* tile_loops.c */
bool      rd_tiles_run(rd_tiles *m, rd_task *task, int32_t from, int32_t to);
int64_t   rd_tiles_bytes(const rd_program *p);
rd_tiles *rd_tiles_new(const rd_program *p, char *state);
/* Returns the position of the tile's first element at an address, in elements from the base of its
 * slot (a buffer), without gathered indices.  A `local` addend counts from the begin of the axis'
 * current range. */
static inline int64_t rd_tiles_position(const rd_tiles *m, const rd_address *at)
{
    int64_t position = at->offset;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0) {
            const rd_tile_axis *axis = &m->axis[at->add[k].axis];
            position += at->add[k].coef * (at->add[k].local ? axis->index - axis->lo : axis->index);
        }
    return position;
}

/* Returns the second spare buffer of 8-byte elements, after m->spare.  A buffer has as many
 * elements as a tile's buffer or its rows, whichever are more. */
static inline char *rd_tiles_second_spare(const rd_tiles *m)
{
    return m->spare + 8 * (m->code->buffer_elements > m->code->rows ? m->code->buffer_elements
                                                                    : m->code->rows);
}

/* Returns the third spare buffer, which exists if a fold has a mask. */
static inline char *rd_tiles_third_spare(const rd_tiles *m)
{
    return m->spare + 16 * (m->code->buffer_elements > m->code->rows ? m->code->buffer_elements
                                                                     : m->code->rows);
}

/* Returns a view of a register's elements as instructions of the current level see them.  `row` and
 * `col` are steps from row to row and from column to column; 0 repeats an element.  A register of
 * the task's level has one element for all.  One of the row level has one element a row, which an
 * instruction of that level takes as columns.  The view is put together field by field: a copy that
 * is changed afterwards would be read before its parts have reached memory (a store-forwarding
 * stall). */
static inline rd_reg_view rd_tiles_view(const rd_tiles *m, int32_t reg)
{
    const rd_reg_view  *home  = &m->reg[reg];
    const rd_tile_level level = m->code->reg[reg].level;
    const int64_t       row =
        level == RD_AT_TILE ? home->row : level == RD_AT_ROW && m->level == RD_AT_TILE;
    const int64_t col =
        level == RD_AT_TILE ? home->col : level == RD_AT_ROW && m->level == RD_AT_ROW;
    const int64_t first = level == RD_AT_ROW ? m->first_row * rd_elem_size(home->elem) : 0;

    return (rd_reg_view){ .at = home->at + first, .row = row, .col = col, .elem = home->elem };
}

/* Element (row, col) of a view. */
static inline char *rd_view_at(const rd_reg_view *v, int64_t row, int64_t col)
{
    return v->at + (row * v->row + col * v->col) * rd_elem_size(v->elem);
}
/* views.c */
rd_word rd_view_word(const rd_reg_view *v, int64_t row, int64_t col);
void    rd_view_set(const rd_reg_view *v, int64_t row, int64_t col, rd_word word);
/* The memory at an instruction's address, where its strides apply. */
char *rd_tiles_memory(const rd_tiles *m, const rd_tile_strides *w);
/* The view that an instruction writes one of its registers to. */
rd_reg_view rd_tiles_target(rd_tiles *m, int32_t pc, int32_t reg);
/* The view with contiguous columns, copied to the spare buffer if they are not. */
rd_reg_view rd_tiles_dense(rd_tiles *m, rd_reg_view v);
/* Makes both operands contiguous for kernels.  y may be absent, a scalar for each row, or lie in
 * columns (coly). */
void rd_tiles_dense_both(rd_tiles *m, rd_reg_view *x, rd_reg_view *y, int64_t coly);

/* element_values.c */
void rd_tiles_value(rd_tiles *m, int32_t pc);

/* joined_values.c.  rd_tiles_join: a LOAD or a SELECT that joins.  rd_tiles_is_chosen: true if the
 * SELECT that alone reads the value of instruction pc chooses it somewhere in the tile. */
void rd_tiles_join(rd_tiles *m, int32_t pc);
bool rd_tiles_is_chosen(const rd_tiles *m, int32_t pc);
/* Where tiles end at seams: how many of the next n rows, or of the next n columns of all rows of
 * the loop at pc, are one tile. */
int64_t rd_tiles_rows_to_seam(const rd_tiles *m, int32_t axis, int64_t n);
int64_t rd_tiles_columns_to_seam(rd_tiles *m, int32_t pc, int64_t n);

/* calls.c */
void rd_tiles_index(rd_tiles *m, int32_t pc);
void rd_tiles_call(rd_tiles *m, int32_t pc);

/* square_transpose.c.  rd_tiles_rows_of_block: the rows of a square, at most `rows`, such that no
 * block ends before all columns have reached it.  rd_tiles_copy_memory: a STORE that copies from
 * memory to memory.  rd_tiles_transpose_load, rd_tiles_transpose_store: a LOAD to y, a STORE from
 * x.  rd_tiles_transposed_operand: the operand of a STEP that transposes it in its kernel. */
int64_t     rd_tiles_rows_of_block(const rd_tiles *m, int64_t rows);
void        rd_tiles_copy_memory(rd_tiles *m, int32_t pc);
void        rd_tiles_transpose_load(const rd_tiles *m, int32_t pc, const rd_reg_view *y);
void        rd_tiles_transpose_store(const rd_tiles *m, int32_t pc, const rd_reg_view *x);
rd_reg_view rd_tiles_transposed_operand(const rd_tiles *m, int32_t load, rd_fold_rows *q);

/* steps.c (with lane_rows.c and row_totals.c), fold_results.c, scan.c, merge_tasks.c.
 * m->fold[number] is the memory of a fold. */
void rd_tiles_start(rd_tiles *m, int32_t pc);
void rd_tiles_step(rd_tiles *m, int32_t pc);
void rd_tiles_scan(rd_tiles *m, int32_t pc);
void rd_tiles_sort(rd_tiles *m, int32_t number);
/* Sorts all rows of a loop that does nothing else.  False if its rows must go one by one. */
bool rd_tiles_sort_interleaved(rd_tiles *m, const rd_loop *loop);
/* rd_tiles_size_scan: sets scan_words and scan_bytes, the memory of each slot of a scan.
 * rd_tiles_start_scan: initialises a group of slots. */
void rd_tiles_size_scan(rd_tile_fold *f);
void rd_tiles_start_scan(const rd_tile_fold *f, char *memory, int64_t group);
void rd_tiles_store_results(rd_tiles *m, int32_t pc);
bool rd_tiles_is_decided(const rd_tiles *m, int32_t fold);
void rd_tiles_merge_task(const rd_tile_fold *f, char *into, char *next);

/* total.c.  rd_tile_find_total: sets code->total if the program is one total.  rd_tile_run_total:
 * runs such a program. */
bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
void rd_tile_run_total(const rd_program *p, rd_task *task);
#endif
