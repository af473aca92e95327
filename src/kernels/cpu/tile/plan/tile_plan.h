/* tile_plan.h - what a program is as tiles: the parts of prepare.c. */
#ifndef RD_KERNELS_CPU_TILE_PLAN_TILE_PLAN_H
#define RD_KERNELS_CPU_TILE_PLAN_TILE_PLAN_H
#include "kernels/cpu/tile/tile.h"
#include "kernels/loop/speeds.h"
#include "kernels/residue.h"

/* prepare.c; what the machine cannot run is the reference executor's. */
typedef enum rd_tile_result { RD_TILE_OK, RD_TILE_UNSUPPORTED, RD_TILE_NO_MEMORY } rd_tile_result;
rd_tile_result rd_tile_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool);
/* Notes why no compiled nest is wanted, NULL: it is; nothing of what tiles cannot run. */
void rd_tile_keep(const rd_program *p, const char *why);
/* fuse.c: what is stored where it is computed, and what is computed where it is folded. */
bool rd_tile_fuse(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* plan_groups.c: can it run a fold by label?  Does a loop begin such folds?  What a STEP's kernel reads. */
bool rd_tile_can_group(const rd_program *p, const rd_tile_code *code, int32_t fold);
bool rd_tile_begins_groups(const rd_program *p, const rd_loop *loop);
void rd_tile_fuse_group(const rd_program *p, rd_tile_code *code, int32_t i);
/* Bytes of the array at an address. */
int64_t rd_tile_bytes(const rd_program *p, const rd_address *at);
/* square_tiles.c: loops over rows that take columns apart. */
void rd_tile_plan_squares(const rd_program *p, rd_tile_code *code);
/* fold_mapping.c: the plan of every fold, of one row or, when tiles have their sizes, of all rows of a
 * tile. */
bool rd_tile_plan_folds(const rd_program *p, rd_tile_code *code, bool sized);
/* The fold's first instruction of that kind, -1; the loops that give the rows and columns at an
 * instruction, or NULL. */
int32_t rd_tile_inst_of(const rd_program *p, rd_inst_kind kind, int32_t fold);
void    rd_tile_loops_around(const rd_program *p, const rd_tile_code *code, int32_t i,
                             const rd_loop **row, const rd_loop **col);
/* Is the EXIT one of a fold of one cell?  Of several, tiles go on. */
static inline bool rd_tile_exits_early(const rd_program *p, int32_t exit)
{
    return p->fold[p->inst[exit].a].n_cell == 1;
}

/* fold_kernels.c: rows that are whole folds; the kernels of steps. */
void rd_tile_find_totals(const rd_program *p, rd_tile_code *code);
void rd_tile_find_steps(const rd_program *p, rd_tile_code *code);
/* sizes.c: most columns and rows of a tile, for each loop; first the columns, then the rows. */
void rd_tile_size_columns(const rd_program *p, rd_tile_code *code);
void rd_tile_size_rows(const rd_program *p, rd_tile_code *code);
/* buffers.c: which registers of a tile share memory; how many elements a tile has. */
bool rd_tile_buffers(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool);
/* price.c: nanoseconds of its kernels, while no memory crosses levels. */
double rd_tile_compute_ns(const rd_program *p, const rd_tile_code *code, const rd_speeds *s);
/* The same of one element of an instruction, but for the call of its kernel. */
double rd_tile_element_ns(const rd_program *p, const rd_tile_code *code, int32_t i,
                          const rd_speeds *s);
/* residue.c: adds what its kernels do. */
void rd_tile_residue(const rd_program *p, const rd_tile_code *code, const rd_speeds *s,
                     rd_residue *r);
/* strides.c: how a position moves along these loops, either of which may be NULL. */
rd_tile_strides rd_tile_strides_of(const rd_address *at, const rd_loop *row, const rd_loop *col);
#endif
