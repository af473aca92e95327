/* tile.h - the tile machine: a loop program run by whole rows of elements instead of one by one.
 *
 * The innermost loop is a row of columns; the loop around it, where the program allows, gives the
 * rows of a tile.  Every instruction runs on the whole tile before the next one does: what is
 * computed stays in the first-level cache, what is only read from memory side by side is not copied
 * at all.  Instructions between the two loops run on a row of as many elements as the tile has
 * rows; those further out, on one element.
 *
 *   program -plan/prepare.c-> plan of tiles, this header: which loops are rows and columns, where
 *                             registers live, what is fused (fuse.c: passes that need not be;
 *                             buffers.c: what shares memory, how many elements a tile has; sizes.c:
 *                             how many rows and columns; fold_mapping.c: how elements meet the states of a
 *                             fold; fold_kernels.c: which kernels take it)
 *           -run/tile_loops.c-> loops; element_values.c: maps, loads, stores; steps.c, operator_scans.c, fold_results.c:
 *                        reductions and scans, on the combine tree of trees.c */
#ifndef RD_KERNELS_CPU_TILE_TILE_H
#define RD_KERNELS_CPU_TILE_TILE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/program.h"

/* Where an instruction stands, and so how many elements its registers have: one, one per row, one
 * per row and column. */
typedef enum rd_tile_level { RD_AT_TASK, RD_AT_ROW, RD_AT_TILE } rd_tile_level;

/* How a position moves from element to element of the tile (or of the row of rows). */
typedef struct rd_tile_strides {
    const rd_address *at;
    int64_t           row, col;
    bool              gathers; /* indices in registers count */
    int32_t           size;    /* bytes of an element        */
} rd_tile_strides;

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
} rd_tile_loop;

/* How the elements of one row of the tile meet a fold's states. */
typedef enum rd_fold_mapping {
    RD_FOLD_LANES,    /* neighbours are neighbouring lanes of one cell     */
    RD_FOLD_COLUMNS,  /* neighbours are neighbouring cells                 */
    RD_FOLD_CHANNELS, /* of all cells in turn, lane after lane: states lie as elements do, cells of
                       * a lane side by side */
    RD_FOLD_ALONG,    /* of a scan: neighbours follow each other           */
    RD_FOLD_ELEMENTS  /* each element has a place of its own               */
} rd_fold_mapping;

typedef struct rd_tile_fold {
    const rd_fold      *fold;
    const rd_fold_code *code;
    const rd_scan_code *scan;
    rd_fold_mapping     form;
    rd_elem             elem;
    bool                users;    /* a caller's reducer: the reference's folds, in user_folds.c */
    bool                running;  /* a scan whose reducer no operator merges: state_scans.c */
    bool                by_lanes; /* these take the lanes of a row one after the other */
    bool                grouped;  /* elements go to cells by their labels: grouped_folds.c       */
    bool                masked, indexed, own_rows; /* own_rows: each row of a tile has states of its
                                                    * own */
    bool                weighted, whole_columns;   /* whole_columns: all columns are always there */
    bool                in_place;                  /* a block's states are where its node will be */
    bool                counted; /* register 0 counts elements; the machine does, not kernels */
    bool                best;    /* places by rising index: lanes are not kept apart */
    bool                notes_places; /* of the first element that counts, for each cell */
    bool                any_order;    /* exact: places, counts */
    bool                settles;      /* of one cell, which an element, `end`, may decide */
    bool                neighbours;   /* the rows of a tile are for neighbouring cells of many
                                     * lanes */
    bool                in_step;      /* these are one group */
    bool                row_panels;   /* a panel of the rows' axis begins after the fold does */
    int64_t             panel;        /* the same of columns: its indices, 0: none */
    bool                totals;   /* rows are whole folds: each ends before the next one begins */
    bool                treeless; /* these are made without a tree in the fold's memory */
    int64_t             n_total, total; /* what they leave, and where */
    /* bytes of states, of finished ones */
    int32_t n_state, room, size[RD_MAX_STATE], wide[RD_MAX_STATE];
    int64_t row_steps;                   /* steps of one pass along the lane position */
    int64_t cells, group, groups, slots; /* cells of one row; slots that move on together; all
                                          * slots */
    int64_t beside;                      /* cells whose states of a lane are neighbours */
    /* offsets in the fold's memory */
    int64_t         tags, block, tree, scans, seen, first_place, spare, bytes;
    bool            in_square; /* its STEP is in a square loop, which takes columns apart */
    int64_t         row_extent, col_extent; /* of the loops over rows and columns around the STEP */
    int64_t         row_bytes;              /* what a further row with states of its own adds */
    int64_t         scan_words, scan_bytes; /* of a scan's slot: sums before, math/so_far.h; all */
    rd_tile_strides lane, outer, index, cell;
    rd_word         end; /* see settles */
} rd_tile_fold;

typedef struct rd_tile_inst {
    rd_tile_level       level;
    bool                skip;     /* fused into a later one */
    bool                direct;   /* LOAD: the register is the memory */
    bool                stream;   /* STORE past the caches */
    int32_t             moves;    /* STORE: the skipped LOAD whose elements it takes from memory to
                                   * memory, -1 */
    bool                turns;    /* LOAD, STORE: rows are neighbours in memory, and columns lie
                                   * apart */
    bool                fetch;    /* LOAD that turns: it fetches the square below */
    int32_t             beside;   /* what else it fetches: a LOAD, whose `beside` is the next one,
                                   * -1 */
    bool                ahead;    /* LOAD: while other loops over columns compute, the next rows are
                                   * fetched */
    bool                done;     /* STORE: what computes the register has stored it */
    int32_t             into;     /* computes into the memory of STORE number `into`, -1 */
    int32_t             buffer;   /* at tile level: where the register's elements go, -1 */
    rd_fused            fused;    /* STEP */
    rd_elem             from;     /* STEP: what its kernels load: the fold's elements, or halves to
                                   * widen */
    rd_simd_rows       *step;     /* STEP: its kernel, with the fused map in it */
    rd_simd_cells      *cells;    /* STEP: that of cells that keep step, or NULL */
    rd_simd_block      *blocks;   /* STEP: that of whole blocks, or NULL */
    int32_t             turned;   /* STEP: the skipped LOAD of its operand y, which its kernel
                                   * turns, -1 */
    bool                counts;   /* STEP: its operand x is bools, which it counts */
    rd_simd_count_if   *count_if; /* STEP: compares its operand x with y, and counts */
    int32_t             small;    /* STEP: the skipped LOAD of small ints that it sums, -1 */
    rd_simd_group      *group;    /* STEP by label: its kernel                           */
    bool                sums;     /* that is one of sums, which may have their own operands */
    int32_t             label;    /* STEP by label: the skipped LOAD of labels, -1       */
    int32_t             x, y;     /* its operands: y weights, factors, or a fused map's second; -1:
                                   * none */
    rd_simd_map *const *map;      /* MAP, SELECT: by form */
    rd_simd_wrap       *wrap;
    rd_tile_strides     walk;
} rd_tile_inst;

typedef struct rd_tile_reg {
    rd_tile_level level;
    rd_elem       elem;
    int32_t born, last, uses; /* the instruction that makes it, the last one that reads it (-1),
                                * how many do */
} rd_tile_reg;

/* All that a program does, if that is one total: of n elements at x, and maybe y; or those of
 * planes, in n lanes; or of the n columns of planes, which a loop over them stores. */
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
    int64_t              spares;  /* further buffers: three where a fold has a mask */
    bool                 streams; /* some STORE goes past the caches */
    bool                 square;  /* some loop is                    */
    const rd_tile_total *total;   /* all there is to do, or NULL */
    const char          *better;  /* why no compiled nest is wanted; NULL: it is */
} rd_tile_code;

/* Loops over rows that take columns apart run in squares: so many elements of a side, some cache
 * lines of any type. */
enum { RD_SQUARE = 64 };

static inline int64_t rd_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
#endif
