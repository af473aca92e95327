/* tile_plan.h - the passes that make the plan of tiles; prepare.c calls them. */
#ifndef RD_KERNELS_CPU_TILE_PLAN_TILE_PLAN_H
#define RD_KERNELS_CPU_TILE_PLAN_TILE_PLAN_H
#include "kernels/cpu/tile/tile.h"
#include "kernels/loop/speeds.h"
#include "kernels/scalar_residue.h"

/* prepare.c.  RD_TILE_UNSUPPORTED: the reference executor must run the program. */
typedef enum rd_tile_result { RD_TILE_OK, RD_TILE_UNSUPPORTED, RD_TILE_NO_MEMORY } rd_tile_result;
rd_tile_result rd_tile_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool);
/* Notes why no compiled nest is wanted, NULL if one is.  Does nothing for programs that tiles
 * cannot run. */
void rd_tile_keep(const rd_program *p, const char *why);
/* fuse.c: stores values where they are computed, and computes values where they are folded. */
bool rd_tile_fuse(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* seams.c: finds what is read at places, and chosen by them.  Uses of registers are counted.
 * False: no memory. */
bool rd_tile_fuse_seams(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* plan_groups.c.  rd_tile_can_group: true if tiles can run this group-by fold.
 * rd_tile_begins_groups: true if a loop begins such a fold.  rd_tile_fuse_group: sets the kernel of
 * a STEP and what the kernel reads. */
bool rd_tile_can_group(const rd_program *p, const rd_tile_code *code, int32_t fold);
bool rd_tile_begins_groups(const rd_program *p, const rd_loop *loop);
void rd_tile_fuse_group(const rd_program *p, rd_tile_code *code, int32_t i);
/* The bytes of the array at an address. */
int64_t rd_tile_bytes(const rd_program *p, const rd_address *at);
/* square_tiles.c: finds the loops that transpose operands, and gives them square tiles. */
void rd_tile_plan_squares(const rd_program *p, rd_tile_code *code);
bool rd_tile_can_split_columns(const rd_tile_fold *f);
/* cut_loops.c: finds the loops whose tiles end at seams. */
void rd_tile_cut_loops(const rd_program *p, rd_tile_code *code);
/* fold_mapping.c: plans every fold, of one row at first, and of all rows of a tile once sizes are
 * known. */
bool rd_tile_plan_folds(const rd_program *p, rd_tile_code *code, bool sized);
/* rd_tile_inst_of: the fold's first instruction of a kind, or -1.  rd_tile_loops_around: the loops
 * that give the rows and columns at an instruction, or NULL. */
int32_t rd_tile_inst_of(const rd_program *p, rd_inst_kind kind, int32_t fold);
void    rd_tile_loops_around(const rd_program *p, const rd_tile_code *code, int32_t i,
                             const rd_loop **row, const rd_loop **col);
/* True if an EXIT (which leaves a loop once a result is decided) depends on a fold of one cell
 * (result).  With several cells tiles go on. */
static inline bool rd_tile_exits_early(const rd_program *p, int32_t exit)
{
    return p->fold[p->inst[exit].a].n_cell == 1;
}

/* fold_kernels.c: finds rows that are whole folds; chooses the kernels of STEPs. */
void rd_tile_find_totals(const rd_program *p, rd_tile_code *code);
void rd_tile_find_steps(const rd_program *p, rd_tile_code *code);
/* sizes.c: sets the most columns, then the most rows, of each loop's tiles. */
void rd_tile_size_columns(const rd_program *p, rd_tile_code *code);
void rd_tile_size_rows(const rd_program *p, rd_tile_code *code);
/* buffers.c: gives buffers to the registers of a tile, and sets how many elements a tile has. */
bool rd_tile_buffers(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* price.c: the predicted nanoseconds of all kernels, with memory traffic left out. */
double rd_tile_compute_ns(const rd_program *p, const rd_tile_code *code, const rd_speeds *s);
/* The predicted nanoseconds of one element of an instruction, without the call of its kernel. */
double rd_tile_element_ns(const rd_program *p, const rd_tile_code *code, int32_t i,
                          const rd_speeds *s);
/* tile_residue.c: adds the scalar residue. */
void rd_tile_residue(const rd_program *p, const rd_tile_code *code, const rd_speeds *s,
                     rd_residue *r);
/* strides.c: the strides of an address along these loops, either of which may be NULL. */
rd_tile_strides rd_tile_strides_of(const rd_address *at, const rd_loop *row, const rd_loop *col);
#endif
