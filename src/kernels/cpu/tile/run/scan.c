/* scan.c - SCAN: by an operator (scans.c), by states (running.c), or by a caller's functions
 * (users.c). */
#include "kernels/cpu/tile/run/running.h"
#include "kernels/cpu/tile/run/scans.h"
#include "kernels/cpu/tile/run/users.h"

void rd_tiles_size_scan(rd_tile_fold *f)
{
    if (f->running)
        rd_running_size(f);
    else
        rd_scans_size(f);
}

void rd_tiles_start_scan(const rd_tile_fold *f, char *memory, int64_t group)
{
    if (f->running)
        rd_running_start(f, memory, group);
    else
        rd_scans_start(f, memory, group);
}

void rd_tiles_scan(rd_tiles *m, int32_t pc)
{
    const rd_tile_fold *f = &m->code->fold[m->p->inst[pc].arg];

    if (f->users)
        rd_users_scan(m, pc, f);
    else if (f->running)
        rd_running_scan(m, pc, f);
    else
        rd_scans_scan(m, pc);
}
