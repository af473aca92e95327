/* sorted_folds.c - programs that sort rows: whether a compiled nest is worth its compilation. */
#include "kernels/cpu/cpu.h"

/* True if an earlier sort of the program reads the same rows as sort `number`: one asks for values
 * and one for positions. */
static bool reads_rows_again(const rd_program *p, int32_t number)
{
    bool again = false;

    for (int32_t k = 0; k < number; k++)
        again |= p->address[p->sorting[k].from].slot == p->address[p->sorting[number].from].slot;
    return again;
}

/* True if at least half of the sorted elements are results of folds (reductions), as distances are.
 * A CLOSE makes a result; sorts that read the same rows again do not count. All else that makes
 * rows has kernels on tiles, and a nest would only call the same sort. */
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
