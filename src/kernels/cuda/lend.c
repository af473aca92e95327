/* lend.c - one text that the printer of trees and this backend write by turns. */
#include "kernels/cuda/tree.h"
#include <string.h>

void rd_cuda_lend(rd_cuda_text *t, const rd_printing *n)
{
    t->to       = n->to;
    t->indent   = n->indent;
    t->n_number = n->n_number;
    memcpy(t->number, n->number, sizeof *t->number * (size_t)n->n_number);
}

void rd_cuda_take_back(const rd_cuda_text *t, rd_printing *n)
{
    n->n_number = t->n_number;
    memcpy(n->number, t->number, sizeof *t->number * (size_t)t->n_number);
    if (t->why)
        n->why = t->why;
}
