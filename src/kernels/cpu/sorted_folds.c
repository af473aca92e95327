/* sorted_folds.c - programs that sort rows: whether a compiled nest is worth its compilation. */
#include "kernels/cpu/cpu.h"

/* True if an earlier sort reads the same rows: values, and places. */
static bool reads_rows_again(const rd_program *p, int32_t number)
{
    bool again = false;

    for (int32_t k = 0; k < number; k++)
        again |= p->address[p->sorting[k].from].slot == p->address[p->sorting[number].from].slot;
    return again;
}

/* True if at least half of the sorted elements are results of folds, as distances are. All else
 * that makes rows has kernels on tiles, and a nest only calls the routine. */
bool rd_sorts_fold_results(const rd_program *p)
{
    double sorted = 0, folded = 0;

    for (int32_t i = p->body; i < p->tail; i++)
        if (p->inst[i].kind == RD_I_SORT && !reads_rows_again(p, p->inst[i].arg))
            sorted +=
                rd_program_times(p, i) * (double)rd_sorting_length(&p->sorting[p->inst[i].arg]);
        else if (p->inst[i].kind == RD_I_CLOSE)
            folded += rd_program_times(p, i);
    return 2 * folded >= sorted;
}
