/* patches.c - the kernel of folds of rows and columns (cross.c): what surrounds a patch. */
#include "kernels/cuda/tree.h"

/* The end of a range of patches is the backend's (meets.c). */
void rd_cuda_write_patches(rd_cuda_text *t, rd_printing *n, int32_t kernel)
{
    rd_cuda_lend(t, n);
    rd_cuda_meet_functions(t);
    rd_cuda_kernel_head(t, "cross", -1);
    rd_cuda_line(t, "{");
    t->indent++;
    rd_cuda_declare_shared(t);
    rd_cuda_line(t, "RD_SHARED(uint32_t, came, 1);");
    rd_cuda_declare_lanes(t);
    rd_cuda_line(t,
                 "const int t = (int)threadIdx.x %% RD_TEAM, team = (int)threadIdx.x / RD_TEAM;");
    rd_cuda_line(t, "uint32_t warnings = 0;");
    rd_cuda_declare_slots(t);
    rd_cuda_line(t, "for (int64_t work = q.head.first + blockIdx.x; work < q.head.n_work; work += "
                    "gridDim.x) {");
    t->indent++;
    rd_cuda_declare_patch(t);
    rd_cuda_declare_nodes(t);
    rd_cuda_take_back(t, n);
    n->indent = t->indent;
    rd_print_item(n, kernel);
    rd_cuda_lend(t, n);
    rd_cuda_line(t, "__syncthreads();");
    t->indent--;
    rd_cuda_line(t, "}");
    if (t->s->reports)
        rd_cuda_line(t, "RD_WARN(warnings)");
    t->indent--;
    rd_cuda_line(t, "}\n");
    rd_cuda_take_back(t, n);
}

void rd_cuda_leave_patch(void *of, rd_printing *n, int32_t fold)
{
    rd_cuda_text *t = of;

    rd_cuda_lend(t, n);
    (t->s->fold[fold].lanes ? rd_cuda_leave_rows : rd_cuda_leave_columns)(t, fold);
    rd_cuda_take_back(t, n);
}

/* "if (is0)" */
void rd_cuda_last_patch(void *of, rd_printing *n)
{
    rd_cuda_text *t = of;

    rd_cuda_lend(t, n);
    rd_cuda_arrive_along(t, n->kernel->along);
    rd_cuda_take_back(t, n);
}

void rd_cuda_node_of_patch(void *of, rd_printing *n, int32_t fold, const char *lane)
{
    rd_cuda_text *t = of;

    rd_cuda_lend(t, n);
    rd_cuda_take_met(t, fold, lane);
    rd_cuda_take_back(t, n);
}
