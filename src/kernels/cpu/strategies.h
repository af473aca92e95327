/* strategies.h - the ways to run a prepared program: what rd_backend_table has of parts of a
 * run, and when it is that way's. */
#ifndef RD_KERNELS_CPU_STRATEGIES_H
#define RD_KERNELS_CPU_STRATEGIES_H
#include "kernels/program.h"

typedef struct rd_cpu_strategy {
    const char *name;
    bool (*is)(const rd_program *p, const rd_task *task);
    void (*head)(const rd_program *p, rd_task *task);
    void (*body)(const rd_program *p, rd_task *task);
    void (*join)(const rd_program *p, rd_task *into, const rd_task *next);
    void (*tail)(const rd_program *p, rd_task *task);
} rd_cpu_strategy;

/* The first of the table that is there for the task; without a task (NULL), for any. */
const rd_cpu_strategy *rd_cpu_strategy_of(const rd_program *p, const rd_task *task);
bool                   rd_is_total(const rd_program *p);
#endif
