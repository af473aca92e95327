/* fast.c - functions with `accuracy` FAST: within their bounds on a million points each. */
#include "../gpu_fast.h"
#include "parts.h"
#include <stdio.h>

/* A fake GPU is asked for fewer. */
enum { POINTS = 1 << 20, FEW = 1 << 12, MANY_SEEDS = 100 };

void run_fast(part *p, const settings *s, double until)
{
    const int64_t n = s->seeds < MANY_SEEDS ? FEW : POINTS;

    p->wanted = n_gpu_fasts;
    for (; part_goes_on(p, until); p->ran++) {
        const gpu_fast *f      = &gpu_fasts[p->ran];
        rd_text         report = { 0 };
        gpu_fast_found  found  = { 0 };

        if (!gpu_fast_is_near(f, n, &found, &report)) {
            fprintf(stderr, "%s", report.at ? report.at : "out of memory\n");
            p->failed++;
        } else if (found.differ == 0) {
            fprintf(stderr, "%s: FAST has the bits of SAME\n", f->name);
            p->failed++;
        }
        printf("%s: off by %.2f of what it may be, %.2f ulp, %.3g, at %a\n", f->name, found.part,
               found.ulps, found.error, found.at);
        p->results++;
        p->elements += n;
        rd_text_free(&report);
    }
}
