/* auto.h - decides whether AUTO takes a GPU for data in host memory. */
#ifndef RD_EVAL_AUTO_H
#define RD_EVAL_AUTO_H
#include "eval/plan.h"
#include "eval/rates.h"

/* Seconds on this processor, on the GPU, and of these for copies; and whether AUTO takes the
 * GPU. */
typedef struct rd_auto_choice {
    double here, there, copies;
    bool   takes; /* AUTO takes the GPU */
} rd_auto_choice;

/* For CPU programs with leaves and results in host memory, by measured rates. */
rd_auto_choice rd_auto_verdict(const rd_rates *rates, int n, const rd_program *p, int n_slot,
                               const rd_slot *slot);
/* True if the programs take long enough to measure rates for them. */
bool rd_auto_is_worth_asking(int n, const rd_program *p);
/* "about 1.2 ms there, 0.9 ms of it copies; 3.4 ms here" */
void rd_verdict_text(rd_text *text, const rd_auto_choice *verdict);
#endif
