/* cpu_pipeline.c - Runs the passes that a loop tree goes through for the CPU, in order. */
#include "kernels/pass/pass_log.h"
#include "kernels/pass/pass.h"

/* A pass, as a row of passes.def says. */
typedef struct pass_row {
    const char *name;
    rd_pass    *pass;
    bool        open; /* see passes.def */
} pass_row;

static const pass_row for_cpu[] = {
#define RD_PASS(name, open) { #name, rd_pass_##name, open },
#include "kernels/pass/passes.def"
#undef RD_PASS
};

/* Runs the rows of passes.def in order, and logs the tree and checks it after each
 * (rd_pass_finished). */
void rd_schedule_for_cpu(rd_schedule *t, const rd_target *target, rd_text *log)
{
    rd_pass_log trees = { .to = log };

    rd_pass_finished("build", /*open=*/false, t, &trees);
    for (size_t k = 0; k < sizeof for_cpu / sizeof *for_cpu && !t->failed; k++) {
        for_cpu[k].pass(t, target);
        rd_pass_finished(for_cpu[k].name, for_cpu[k].open, t, &trees);
    }
    rd_text_free(&trees.last);
}
