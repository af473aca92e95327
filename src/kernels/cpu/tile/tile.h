/* tile.h - the tile machine: it runs a loop program by whole rows of elements, not one by one.
 *
 * The innermost loop gives the columns of a tile; the loop around it, where the program allows,
 * gives its rows.  The machine runs each instruction on the whole tile before the next one: a
 * vectorised interpreter.  So computed values stay in the first-level cache, and operands that are
 * contiguous in memory are not copied.  Instructions between the two loops run on one element per
 * row of the tile; those further out, on a single element.
 *
 *   program -plan/prepare.c-> plan of tiles, this header: which loops are rows and columns, where
 *                             registers live, what is fused (fuse.c: passes that need not be;
 *                             buffers.c: what shares memory, how many elements a tile has; sizes.c:
 *                             how many rows and columns; fold_mapping.c: which states the elements
 *                             of a fold update; fold_kernels.c: which kernels take it)
 *           -run/tile_loops.c-> loops; element_values.c: maps, loads, stores; steps.c,
 *                        operator_scans.c, fold_results.c: reductions and scans, on the combine
 *                        tree of trees.c
 *
 * Words.  A tile is a rectangle of elements that the machine computes at once, in rows and columns.
 * A place is an index that may be moved and clamped; a piece of an axis is a range of its indices
 * in which no place goes over to another form (plan/seams.c).
 * A fold is a reduction or a scan; its cells are the results that it makes.  The lanes of a cell
 * are partial results, which neighbouring elements update in turn.  A step is one element for each
 * lane; a block is a run of steps that each lane folds from the left.  Blocks merge by the combine
 * tree (program.h).  A group is a run of states that begin and end their blocks together
 * (run/trees.h). */
#ifndef RD_KERNELS_CPU_TILE_TILE_H
#define RD_KERNELS_CPU_TILE_TILE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/program.h"

/* The level of an instruction says how many elements its registers have: one, one per row of the
 * tile, or one per row and column. */
typedef enum rd_tile_level { RD_AT_TASK, RD_AT_ROW, RD_AT_TILE } rd_tile_level;

/* Strides of an address over the rows and columns of a tile (at row level: `col` is from row to
 * row). */
typedef struct rd_tile_strides {
    const rd_address *at;
    int64_t           row, col; /* elements from row to row, from column to column */
    bool              gathers;  /* the position depends on indices in registers, too */
    int32_t           size;     /* bytes of an element */
} rd_tile_strides;

typedef enum rd_loop_role {
    RD_LOOP_OUTER, /* one index (or one range) at a time */
    RD_LOOP_ROWS,  /* several indices make the rows      */
    RD_LOOP_COLS   /* columns                            */
} rd_loop_role;

/* The plan of a loop.  prepare.c sets its role, sizes.c the sizes, square_tiles.c `square`. */
typedef struct rd_tile_loop {
    rd_loop_role role;
    int64_t      most;   /* rows or columns at a time      */
    int64_t      rows;   /* columns: rows of the tile at a time */
    bool         square; /* tiles are about square, as operands run along rows or along columns */
    bool         cuts;   /* tiles end at seams (plan/cut_loops.c) */
} rd_tile_loop;

/* The lane mapping of a fold: which states the neighbouring elements of a tile's row update. */
typedef enum rd_fold_mapping {
    RD_FOLD_LANES,    /* neighbouring lanes of one cell */
    RD_FOLD_COLUMNS,  /* neighbouring cells, of one lane each */
    RD_FOLD_CHANNELS, /* all cells in turn, then their next lane: states lie as elements do, the
                       * cells of a lane side by side */
    RD_FOLD_ALONG,    /* scans: each element follows the one before it in the same scan */
    RD_FOLD_ELEMENTS  /* any state: elements go one by one */
} rd_fold_mapping;

/* The plan of a fold; fold_mapping.c fills it, square_tiles.c and fold_kernels.c change some of
 * it. */
typedef struct rd_tile_fold {
    const rd_fold      *fold; /* of the program                */
    const rd_fold_code *code; /* the kernels of its reducer    */
    const rd_scan_code *scan; /* those of scans by its operator */
    rd_fold_mapping     mapping;
    rd_elem             elem;          /* of the accumulator */
    bool                users;         /* the caller's reducer: user_folds.c */
    bool                running;       /* a scan whose reducer no operator merges: state_scans.c */
    bool                by_lanes;      /* users: a row's elements go to its lanes in turn */
    bool                grouped;       /* group-by: elements go to the cells of their labels */
    bool                masked;        /* a mask says which elements count */
    bool                has_index;     /* the state has the index of an element */
    bool                own_rows;      /* each row of a tile has states of its own */
    bool                weighted;      /* elements have weights or a second operand */
    bool                whole_columns; /* every tile has all columns of the loop */
    bool                in_place;      /* a block's states lie where its finished node will be */
    bool                counted; /* state 0 counts elements; the tile machine adds, no kernel */
    bool                best;    /* argmin, argmax by rising index: one lane holds the best */
    bool                notes_places; /* first_place holds the first unmasked index of each cell */
    bool                any_order;    /* exact: every order of elements gives the same bits */
    bool                can_exit_early; /* one cell, which an element equal to `end` decides */
    bool                adjacent_cells; /* rows of a tile are for adjacent cells of many lanes */
    bool                in_lockstep;    /* these cells are one group: all reach a block together */
    bool                row_panels;     /* a panel of the rows' axis begins after the fold does */
    int64_t             panel;          /* indices of such a panel of the columns' axis, 0: none */
    bool                totals;   /* each row is a whole fold, which ends before the next begins */
    bool                treeless; /* totals that kernels make without a combine tree */
    int64_t             n_total, total; /* results of totals: how many, and offset of the first */
    /* words of a state; nodes on the stack; bytes of each word, in blocks and in finished nodes */
    int32_t n_state, node_capacity, word_bytes[RD_MAX_STATE], node_word_bytes[RD_MAX_STATE];
    int64_t row_steps;     /* steps of one pass along the lane position */
    int64_t cells;         /* cells that one row of a tile may update */
    int64_t group, groups; /* states that enter blocks together (trees.h); how many such groups */
    int64_t slots;         /* states of all groups */
    int64_t interleaved;   /* cells whose states of one lane lie side by side (CHANNELS), else 1 */
    /* byte offsets in the fold's memory */
    int64_t tags_offset, block_offset, tree_offset, scans_offset, seen_offset, first_place_offset,
        spare_offset, bytes;
    bool            in_square; /* its STEP is in a square loop, or in one whose columns are cut */
    int64_t         row_extent, col_extent; /* of the loops over rows and columns around the STEP */
    int64_t         row_bytes;              /* memory of one more row with states of its own */
    int64_t         scan_words, scan_bytes; /* of a scan's slot: sums of blocks before it
                                             * (math/prefix_sums.h); bytes in all */
    rd_tile_strides lane, lane_line, index, cell;
    rd_word         end; /* the element that decides the result: see can_exit_early */
} rd_tile_fold;

/* What a place is in a piece of its axis: coef * index + offset.  What a comparison of places is:
 * offset, 0 or 1. */
typedef struct rd_place_form {
    int64_t coef, offset;
} rd_place_form;

/* The pieces of an axis: piece k goes from from[k] to from[k + 1] - 1. */
enum { RD_MOST_PIECES = 8 };
typedef struct rd_axis_pieces {
    int32_t n;
    int64_t from[RD_MOST_PIECES + 1];
} rd_axis_pieces;

/* The plan of an instruction; prepare.c fills it, the other passes of plan/ change it.  Numbers of
 * instructions and registers are -1 where there is none. */
typedef struct rd_tile_inst {
    rd_tile_level       level;
    bool                skip;             /* fused into a later instruction */
    bool                direct;           /* LOAD: the register is the memory itself */
    bool                by_pieces;        /* LOAD at places, SELECT by a comparison of places: by
                                        * pieces (run/joined_values.c); no register of a place is
                                        * read */
    int32_t             wanted_by_select; /* a by_pieces SELECT that alone reads the value: it is
                                        * made only where it is chosen; -1: always */
    bool                wanted_side; /* ... where the comparison is true, or where it is false */
    int32_t             row_axis, col_axis; /* of the loops that give rows and columns, -1: none */
    bool                nontemporal;        /* STORE: by non-temporal stores, past the caches */
    int32_t             copied_load;        /* STORE: the skipped LOAD whose elements it copies from
                                         * memory to memory */
    bool                transposes;    /* LOAD, STORE: rows of the tile are adjacent in memory and
                                         * columns far apart, so squares are transposed */
    bool                prefetches;    /* LOAD that transposes: it prefetches the square below */
    int32_t             next_prefetch; /* the next LOAD that is prefetched along with it: a list */
    bool                prefetches_rows; /* LOAD: the next rows are prefetched while other loops
                                          * over columns compute */
    bool                is_stored;       /* STORE: the instruction that computes has stored it */
    int32_t             stores_into;     /* computes into the memory of this STORE, -1 */
    int32_t             buffer;          /* at tile level: the buffer of the register's elements */
    rd_fused            fused;           /* STEP: the map fused into it */
    rd_elem             from;            /* STEP: the element that its kernels load, the fold's or
                                          * halves */
    rd_simd_rows       *step;            /* STEP: its kernel, with the fused map in it */
    rd_simd_cells      *cells;           /* STEP: the kernel of cells in lockstep, or NULL */
    rd_simd_block      *blocks;          /* STEP: the kernel of full blocks, or NULL */
    int32_t             transposed_load; /* STEP: the skipped LOAD of operand y, which its kernel
                                          * transposes */
    bool                counts;          /* STEP: operand x is bools, which it counts */
    rd_simd_count_if   *count_if;        /* STEP: compares its operand x with y, and counts */
    int32_t             small_ints_load; /* STEP: the skipped LOAD of small ints that it sums */
    rd_simd_group      *group;           /* STEP of a group-by: its kernel */
    bool                uses_sum_kernel; /* STEP of a group-by: the kernel is one of group_sums.h */
    int32_t             label;           /* STEP of a group-by: the skipped LOAD of labels */
    int32_t             x, y;            /* its operand registers; y: weights, factors, or a fused
                                          * map's second operand */
    rd_simd_map *const *map;             /* MAP, SELECT: kernels by which operands are scalars */
    rd_simd_wrap       *wrap;            /* cuts or rounds results to their type, or NULL */
    rd_tile_strides     strides;         /* of its address */
} rd_tile_inst;

/* The plan of a register.  prepare.c makes it, fuse.c notes its readers. */
typedef struct rd_tile_reg {
    rd_tile_level        level;
    rd_elem              elem;
    const rd_place_form *form; /* of a place: what it is in each piece of an axis, -1: a number */
    int32_t              form_axis;
    int32_t born, last, uses; /* the instruction that makes it, the last one that reads it
                                     * (-1), how many read it */
} rd_tile_reg;

/* The plan of a program that is one total (total.c): of n elements at x, and maybe y; or of planes,
 * in n lanes; or of the n columns of planes, which a loop over them stores. */
typedef struct rd_tile_total {
    rd_simd_totals     *row;   /* the kernel of one row, or NULL */
    rd_simd_block      *plane; /* the kernel of planes, or NULL  */
    const rd_tile_fold *fold;
    const rd_address   *x, *y, *to;
    int64_t             n;
    const rd_loop      *rows, *cols; /* of a plane */
    int32_t             n_outer;     /* loops around the planes: the first instructions */
} rd_tile_total;

/* A kernel holds the block of at most so many columns in registers. */
enum { RD_BLOCK_COLUMNS = 128 };

/* The plan of a program; rd_tile_prepare() makes it. */
typedef struct rd_tile_code {
    const rd_simd       *simd;
    rd_tile_inst        *inst;
    rd_tile_loop        *loop;
    rd_tile_fold        *fold;
    rd_tile_reg         *reg;
    rd_axis_pieces      *pieces;                /* of each axis; NULL: no by_pieces */
    int64_t              rows, buffer_elements; /* most rows of a tile; elements of a buffer */
    int32_t              n_buffer;
    int64_t              buffer_bytes;
    int64_t              spares;      /* further buffers: 2, 3 with a mask, 4 with a group-by */
    bool                 nontemporal; /* some STORE is non-temporal */
    bool                 square;      /* some loop has square tiles */
    const rd_tile_total *total;       /* the program is this total, or NULL */
    const char          *why_tiles;   /* why no compiled nest is wanted; NULL: one is */
} rd_tile_code;

/* Elements of a side of a square tile: some cache lines of any type. */
enum { RD_SQUARE = 64 };

/* True if a type is the same in memory and in registers. */
static inline bool rd_tile_is_native(rd_dtype type)
{
    return type == RD_F32 || type == RD_F64 || type == RD_I64 || type == RD_U64;
}

/* Returns the lesser of two numbers. */
static inline int64_t rd_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
#endif
