/* tile.h - the tile machine: a loop program run by whole rows of elements instead of one by one.
 *
 * The innermost loop is a row of columns; the loop around it, where the program allows, gives the rows of a tile.  Every
 * instruction runs on the whole tile before the next one does: what is computed stays in the first-level cache, what is
 * only read from memory side by side is not copied at all.  Instructions between the two loops run on a row of as many
 * elements as the tile has rows; those further out, on one element.
 *
 *   program -prepare.c-> plan of tiles: which loops are rows and columns, where registers live, what is fused
 *                        (fuse.c: passes that need not be; buffers.c: what shares memory, how many elements a tile
 *                        has; sizes.c: how many rows and columns; fold_kernels.c: which kernels take a fold)
 *                        -run.c-> loops; values.c: maps, loads, stores; steps.c, scans.c, results.c: reductions and
 *                        scans, planned by folds.c, on the combine tree of trees.c */
#ifndef RD_KERNELS_CPU_TILE_H
#define RD_KERNELS_CPU_TILE_H
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/program.h"

/* Where an instruction stands, and so how many elements its registers have: one, one per row, one per row and column. */
typedef enum rd_level { RD_AT_TASK, RD_AT_ROW, RD_AT_TILE } rd_level;

/* How a position moves from element to element of the tile (or of the row of rows). */
typedef struct rd_walk {
    const rd_address *at;
    int64_t           row, col;
    bool              gathers; /* indices in registers count */
    int32_t           size;    /* bytes of an element        */
} rd_walk;

typedef enum rd_loop_role {
    RD_LOOP_OUTER, /* one index (or one range) at a time */
    RD_LOOP_ROWS,  /* several indices make the rows      */
    RD_LOOP_COLS   /* columns                            */
} rd_loop_role;

typedef struct rd_tile_loop {
    rd_loop_role role;
    int64_t      most;   /* rows or columns at a time      */
    int64_t      rows;   /* columns: rows of the tile at a time */
    bool         square; /* about as many rows as columns, as operands run along either */
    int32_t      pass;   /* columns: the pass that is all they do, which keeps nothing in buffers, -1 */
} rd_tile_loop;

/* How the elements of one row of the tile meet a fold's states. */
typedef enum rd_fold_form {
    RD_FOLD_RUN,     /* neighbours are neighbouring lanes of one cell     */
    RD_FOLD_COLUMNS, /* neighbours are neighbouring cells                 */
    RD_FOLD_CHANNELS, /* of all cells in turn, lane after lane: states lie as elements do, cells of a lane side by side */
    RD_FOLD_ALONG,    /* of a scan: neighbours follow each other           */
    RD_FOLD_ELEMENTS /* each element has a place of its own               */
} rd_fold_form;

typedef struct rd_tile_fold {
    const rd_fold      *fold;
    const rd_fold_code *code;
    const rd_scan_code *scan;
    rd_fold_form        form;
    rd_elem             elem;
    bool                masked, indexed, own_rows; /* own_rows: each row of a tile has states of its own */
    bool                weighted, whole_columns;   /* whole_columns: all columns are always there        */
    bool                in_place;                  /* a block's states are where its node will be                     */
    bool                counted;                   /* register 0 counts elements; the machine does, not kernels       */
    bool                best;                      /* argmin, argmax by rising index: lanes are not kept apart       */
    bool                any_order;                 /* exact: argmin, argmax, counts                                  */
    bool                neighbours;                /* the rows of a tile are for neighbouring cells of many lanes   */
    bool                in_step;                   /* these are one group                                           */
    bool                totals;                    /* rows are whole folds: each ends before the next one begins    */
    bool                treeless;                  /* these are made without a tree in the fold's memory            */
    int64_t             n_total, total;            /* what they leave, and where                                    */
    int32_t             n_state, room, size[RD_MAX_STATE], wide[RD_MAX_STATE]; /* bytes of states, of finished ones */
    int64_t             row_steps;                   /* steps of one pass along the lane position               */
    int64_t             cells, group, groups, slots; /* cells of one row; slots that move on together; all slots */
    int64_t             beside;                      /* cells whose states of a lane are neighbours           */
    int64_t             tags, block, tree, scans, seen, spare, bytes; /* offsets in the fold's memory              */
    bool                in_square;              /* its STEP is in a square loop, which takes columns apart */
    int64_t             row_extent, col_extent; /* of the loops over rows and columns around the STEP */
    int64_t             row_bytes;              /* what a further row with states of its own adds         */
    rd_walk             lane, outer, index, cell;
} rd_tile_fold;

typedef struct rd_tile_inst {
    rd_level            level;
    bool                skip;     /* fused into a later one                                             */
    bool                direct;   /* LOAD: the register is the memory                                   */
    bool                stream;   /* STORE past the caches                                              */
    int32_t             moves;    /* STORE: the skipped LOAD whose elements it takes from memory to memory, -1 */
    bool                turns;    /* LOAD, STORE: rows are neighbours in memory, and columns lie apart    */
    bool                fetch;    /* LOAD that turns: it fetches the square below                         */
    int32_t             beside;   /* what else it fetches: a LOAD, whose `beside` is the next one, -1      */
    bool                ahead;    /* LOAD: while other loops over columns compute, the next rows are fetched   */
    bool                done;     /* STORE: what computes the register has stored it                    */
    int32_t             into;     /* computes into the memory of STORE number `into`, -1                */
    int32_t             buffer;   /* at tile level: where the register's elements go, -1                */
    rd_fused            fused;    /* STEP                                                               */
    rd_elem             from;     /* STEP: what its kernels load: the fold's elements, or halves to widen   */
    rd_simd_rows       *step;     /* STEP: its kernel, with the fused map in it                         */
    rd_simd_cells      *cells;    /* STEP: that of cells that keep step, or NULL                         */
    rd_simd_block      *blocks;   /* STEP: that of whole blocks, or NULL                                */
    int32_t             turned;   /* STEP: the skipped LOAD of its operand y, which its kernel turns, -1    */
    bool                counts;   /* STEP: its operand x is bools, which it counts                 */
    rd_simd_count_if   *count_if; /* STEP: compares its operand x with y, and counts                  */
    int32_t             small;    /* STEP: the skipped LOAD of small ints that it sums, -1                  */
    int32_t             x, y;     /* its operands: y weights, factors, or a fused map's second; -1: none */
    rd_simd_map *const *map;      /* MAP, SELECT: by form                                               */
    rd_simd_wrap       *wrap;
    rd_walk             walk;
    int32_t             pass; /* that computes it once it is compiled, -1 */
} rd_tile_inst;

typedef struct rd_pass_operand {
    rd_walk walk;   /* memory: from row to row, from column to column; at NULL: register `reg` */
    int64_t offset; /* elements from there                                                     */
    int64_t deep;   /* from index to index of a short loop that the pass keeps as a loop       */
    int32_t inst;   /* of a tile's pass: the LOAD or STORE                                     */
    int32_t reg;
    bool    made; /* the register is the pass's, and read elsewhere          */
    bool    past; /* stored past the caches                                  */
} rd_pass_operand;

/* What one compiled pass can replace.  Instructions on a tile: it runs in the place of the last one; those between that are
 * not in it have run before, and read nothing of what it computes.  Or a nest, a loop with all that is in it: its indices
 * are the rows of the pass, those of the loops over another axis in it the columns (nests.c, phases.c). */
typedef struct rd_tile_pass {
    int32_t first, last;
    int32_t rows, cols; /* of a nest: loops that give rows, columns; -1: none; the loops of phases are nests, too */
    bool    nest;
    int32_t n_operand, n_fold;
    int32_t n_load, n_row_load;              /* elements read from memory, of each (row, column), of each row */
    int32_t number[RD_SPEC_FOLDS];           /* of the folds it feeds                              */
    const rd_tile_fold *fold[RD_SPEC_FOLDS]; /* as they meet rows and columns of the pass          */
    rd_spec_form        form;
    int64_t             block; /* of phases: elements of a block of their folds */
    rd_pass            *code;
    rd_pass_operand     operand[RD_SPEC_OPERANDS]; /* last: a plan keeps those in use */
} rd_tile_pass;

typedef struct rd_tile_reg {
    rd_level level;
    rd_elem  elem;
    int32_t  born, last, uses; /* the instruction that makes it, the last one that reads it (-1), how many do */
} rd_tile_reg;

/* All that a program does, if that is one total: of n elements at x, and maybe y; or those of planes, in n lanes; or of the n
 * columns of planes, which a loop over them stores. */
typedef struct rd_tile_total {
    rd_simd_totals     *row;   /* the kernel of one row, */
    rd_simd_block      *plane; /* or that of planes      */
    const rd_tile_fold *fold;
    const rd_address   *x, *y, *to;
    int64_t             n;
    const rd_loop      *rows, *cols; /* of a plane                                   */
    int32_t             around;      /* loops around these, the first instructions */
} rd_tile_total;

/* Columns of which a kernel has a block in registers, at most. */
enum { RD_BLOCK_COLUMNS = 128 };

/* What prepare() makes of a program. */
typedef struct rd_tile_code {
    const rd_simd       *simd;
    rd_tile_inst        *inst;
    rd_tile_loop        *loop;
    rd_tile_fold        *fold;
    rd_tile_reg         *reg;
    int64_t              rows, cells; /* most rows of a tile; elements of a buffer        */
    int32_t              n_buffer;
    int64_t              buffer_bytes;
    bool                 streams; /* some STORE goes past the caches */
    bool                 square;  /* some loop is                    */
    int32_t              n_pass;
    bool                 async; /* passes come while plans run */
    rd_tile_pass       **pass;
    const rd_tile_total *total; /* all there is to do, or NULL */
} rd_tile_code;

/* A register's elements: (r, c) at `at` + r row + c col elements; col is 0 or 1. */
typedef struct rd_view {
    char   *at;
    int64_t row, col;
    rd_elem elem;
} rd_view;

typedef struct rd_axis_range {
    int64_t index, lo, hi;
} rd_axis_range;

/* The first element, in the reference's order, that is known to fail; row INT64_MAX: none.  The tile's other instructions
 * go on, on rows up to its, as one of them may fail before. */
typedef struct rd_fault {
    int64_t   row, col;
    rd_status status; /* its sentence is in the task */
} rd_fault;

/* A task between instructions; lies in its state with all it points to. */
typedef struct rd_tiles {
    const rd_program   *p;
    const rd_tile_code *code;
    rd_task            *task;
    rd_level            level;
    int64_t  rows, cols; /* the tile's shape; at row level 1 and as many as the tile has rows; at task level 1, 1 */
    int64_t  first_row;  /* of the tile's rows, where a loop goes through a few at a time */
    rd_view *reg;
    rd_axis_range     *axis, *row_axis;                          /* row_axis: that of the tile's rows */
    char              *task_words, *row_words, *buffers, *spare; /* spare: one more buffer of 8-byte elements */
    char             **fold;
    const rd_kernels **kernels; /* of the passes; NULL: not compiled, as long as this run lasts */
    int32_t            leave;   /* loop to leave early, -1 */
    rd_fault           fault;
    const char        *ahead, *ahead_end; /* memory to fetch into the second-level cache meanwhile */
} rd_tiles;

/* prepare.c; what the machine cannot run is the reference executor's. */
typedef enum rd_tile_result { RD_TILE_OK, RD_TILE_CANNOT, RD_TILE_NO_MEMORY } rd_tile_result;
rd_tile_result rd_tile_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool);
/* fuse.c: what is stored where it is computed, and what is computed where it is folded. */
bool rd_tile_fuse(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* reads.c: the registers that instruction i reads, each once; how many. */
enum { RD_MOST_READ = 3 + RD_MAX_CALL + RD_MAX_TERMS };
int32_t rd_tile_reads(const rd_program *p, int32_t i, int32_t *reg);
/* Bytes of the array at an address. */
int64_t rd_tile_bytes(const rd_program *p, const rd_address *at);
/* squares.c: loops over rows that take columns apart. */
enum { RD_SQUARE = 64 }; /* elements of a side: some cache lines of any type */
void rd_tile_squares(const rd_program *p, rd_tile_code *code);
/* folds.c: the plan of every fold, of one row or, when tiles have their sizes, of all rows of a tile. */
bool rd_tile_plan_folds(const rd_program *p, rd_tile_code *code, bool sized);
/* The fold's first instruction of that kind, -1; the loops that give the rows and columns at an instruction, or NULL. */
int32_t rd_tile_inst_of(const rd_program *p, rd_inst_kind kind, int32_t fold);
void    rd_tile_loops_at(const rd_program *p, const rd_tile_code *code, int32_t i, const rd_loop **row,
                         const rd_loop **col);
/* Does a loop always visit its whole axis, or do tasks or panels share it? */
bool rd_tile_visits_all(const rd_program *p, const rd_loop *loop);
/* fold_kernels.c: rows that are whole folds; the kernels of steps; are rows of these columns runs along all lanes, a
 * fold each? */
void rd_tile_find_totals(const rd_program *p, rd_tile_code *code);
void rd_tile_find_steps(const rd_program *p, rd_tile_code *code);
bool rd_tile_folds_run(const rd_tile_fold *f, const rd_loop *col);
/* sizes.c: most columns and rows of a tile, for each loop; first the columns, then the rows. */
void rd_tile_size_columns(const rd_program *p, rd_tile_code *code);
void rd_tile_size_rows(const rd_program *p, rd_tile_code *code);
/* buffers.c: which registers of a tile share memory; how many elements a tile has. */
bool rd_tile_buffers(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* nests.c, passes.c: what compiled passes could do, before buffers are shared out; and, when all is known, asking for them. */
bool rd_tile_find_nests(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
bool rd_tile_find_passes(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
bool rd_tile_ask_for_passes(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* total.c: code->total, and its run, which stands for all of the program. */
bool rd_tile_find_total(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
void rd_tile_run_total(const rd_program *p, rd_task *task);
/* How a position moves along these loops, either of which may be NULL. */
rd_walk rd_tile_walk(const rd_address *at, const rd_loop *row, const rd_loop *col);

/* compiled.c: the kernels that are here, for a run of these instructions; the instructions of a pass, or a nest. */
void rd_tiles_find_kernels(rd_tiles *m, const rd_task *task, int32_t from, int32_t to);
void rd_tiles_pass(rd_tiles *m, int32_t number);

/* run.c */
bool                  rd_tiles_run(rd_tiles *m, rd_task *task, int32_t from, int32_t to);
int64_t               rd_tiles_bytes(const rd_program *p);
rd_tiles             *rd_tiles_new(const rd_program *p, char *state);
static inline int64_t rd_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Position of the tile's first element, without gathered indices. */
static inline int64_t rd_tiles_position(const rd_tiles *m, const rd_address *at)
{
    int64_t position = at->offset;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0) {
            const rd_axis_range *axis = &m->axis[at->add[k].axis];
            position += at->add[k].coef * (at->add[k].local ? axis->index - axis->lo : axis->index);
        }
    return position;
}

/* Another buffer of 8-byte elements beside m->spare. */
static inline char *rd_tiles_second_spare(const rd_tiles *m)
{
    return m->spare + 8 * (m->code->cells > m->code->rows ? m->code->cells : m->code->rows);
}

/* A register as this level sees it; put together field by field, as a copy that is changed would be read while its
 * parts still are on their way to memory. */
static inline rd_view rd_tiles_view(const rd_tiles *m, int32_t reg)
{
    const rd_view *home  = &m->reg[reg];
    const rd_level level = m->code->reg[reg].level;
    const int64_t  row   = level == RD_AT_TILE ? home->row : level == RD_AT_ROW && m->level == RD_AT_TILE;
    const int64_t  col   = level == RD_AT_TILE ? home->col : level == RD_AT_ROW && m->level == RD_AT_ROW;
    const int64_t  first = level == RD_AT_ROW ? m->first_row * rd_elem_size(home->elem) : 0;

    return (rd_view){ .at = home->at + first, .row = row, .col = col, .elem = home->elem };
}

/* Element (row, col) of a view. */
static inline char *rd_view_at(const rd_view *v, int64_t row, int64_t col)
{
    return v->at + (row * v->row + col * v->col) * rd_elem_size(v->elem);
}
rd_word rd_view_word(const rd_view *v, int64_t row, int64_t col);
void    rd_view_set(const rd_view *v, int64_t row, int64_t col, rd_word word);

/* values.c */
/* The memory at an instruction's address, as it lies: rows and columns apart as the walk says. */
char *rd_tiles_memory(const rd_tiles *m, const rd_walk *w);
void  rd_tiles_value(rd_tiles *m, int32_t pc);
/* Where a register of the instruction is to be computed. */
rd_view rd_tiles_target(rd_tiles *m, int32_t pc, int32_t reg);
/* The view with columns side by side, copied to the spare buffer if they are not. */
rd_view rd_tiles_dense(rd_tiles *m, rd_view v);

/* squares.c: rows until a block ends of which other columns are still to come, `rows` at most; a LOAD or STORE that turns,
 * to y and from x; a STORE that moves. */
int64_t rd_tiles_rows_of_block(const rd_tiles *m, int64_t rows);
void    rd_tiles_move(rd_tiles *m, int32_t pc);
void    rd_tiles_turn_in(const rd_tiles *m, int32_t pc, const rd_view *y);
void    rd_tiles_turn_out(const rd_tiles *m, int32_t pc, const rd_view *x);
rd_view rd_tiles_turned(const rd_tiles *m, int32_t load, rd_fold_rows *q);

/* steps.c (with runs.c and row_totals.c), results.c, scans.c, trees.c; memory of a fold is m->fold[number]. */
void rd_tiles_start(rd_tiles *m, int32_t pc);
void rd_tiles_step(rd_tiles *m, int32_t pc);
/* The folds of a compiled pass take a tile; operands from element (0, 0) on, of these sizes. */
void rd_tiles_steps(rd_tiles *m, const rd_tile_pass *pass, const rd_kernels *kernels, const rd_operand *operand,
                    const int32_t *size);
void rd_tiles_scan(rd_tiles *m, int32_t pc);
/* What a scan keeps for each slot; a group of them begins. */
int64_t rd_tiles_scan_bytes(const rd_tile_fold *f);
void    rd_tiles_start_scan(const rd_tile_fold *f, char *memory, int64_t group);
void    rd_tiles_close(rd_tiles *m, int32_t pc);
bool    rd_tiles_settled(const rd_tiles *m, int32_t fold);
void    rd_tiles_join(const rd_tile_fold *f, char *into, char *next);
#endif
