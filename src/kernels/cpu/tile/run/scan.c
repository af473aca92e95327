/* scan.c - SCAN: by an operator (operator_scans.c), by states (state_scans.c), or by a caller's
 * functions (user_folds.c). */
#include "kernels/cpu/tile/run/state_scans.h"
#include "kernels/cpu/tile/run/operator_scans.h"
#include "kernels/cpu/tile/run/user_folds.h"

/* Sets the memory of one scan, by the kind of its reducer: f->running if no single operator merges
 * its states (a running mean). */
void rd_tiles_size_scan(rd_tile_fold *f)
{
    if (f->running)
        rd_state_scan_size(f);
    else
        rd_operator_scan_size(f);
}

/* Initialises the scans of a group, before their first element. */
void rd_tiles_start_scan(const rd_tile_fold *f, char *memory, int64_t group)
{
    if (f->running) /* no single operator merges its states */
        rd_state_scan_start(f, memory, group);
    else
        rd_operator_scan_start(f, memory, group);
}

/* SCAN: takes the elements of a tile and writes their running results. */
void rd_tiles_scan(rd_tiles *m, int32_t pc)
{
    const rd_tile_fold *f = &m->code->fold[m->p->inst[pc].arg];

    if (f->users) /* the caller's reducer */
        rd_user_folds_scan(m, pc, f);
    else if (f->running) /* no single operator merges its states */
        rd_state_scan_run(m, pc, f);
    else
        rd_operator_scan_run(m, pc);
}
