/* sorted_folds.c - programs that sort rows: whether a compiled nest is worth its compilation. */
#include "kernels/cpu/cpu.h"

/* True if at least half of the sorted elements are results of folds, as distances are. All else
 * that makes rows has kernels on tiles, and a nest only calls the routine. */
bool rd_sorts_fold_results(const rd_program *p)
{
    double sorted = 0, folded = 0;

    for (int32_t i = p->body; i < p->tail; i++)
        if (p->inst[i].kind == RD_I_SORT)
            sorted += rd_program_times(p, i) * (double)p->sorting[p->inst[i].arg].n;
        else if (p->inst[i].kind == RD_I_CLOSE)
            folded += rd_program_times(p, i);
    return 2 * folded >= sorted;
}
