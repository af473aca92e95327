/* auto.h - does AUTO take a GPU for data of this process's memory? */
#ifndef RD_EVAL_AUTO_H
#define RD_EVAL_AUTO_H
#include "eval/plan.h"
#include "eval/rates.h"

/* Seconds on this processor, there, and of these for copies; is it worth it? */
typedef struct rd_verdict {
    double here, there, copies;
    bool   takes;
} rd_verdict;

/* For programs of the CPU, whose leaves and results lie here, by rates that were measured. */
rd_verdict rd_auto_verdict(const rd_rates *rates, int n, const rd_program *p, int n_slot,
                           const rd_slot *slot);
/* Before any rate is known: does it take long enough to ask for them? */
bool rd_auto_is_worth_asking(int n, const rd_program *p);
/* "about 1.2 ms there, 0.9 ms of it copies; 3.4 ms here" */
void rd_verdict_text(rd_text *text, const rd_verdict *verdict);
#endif
