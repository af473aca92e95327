/* strategies.h - the strategies to run a prepared program, with the functions of
 * rd_backend_table that run parts. */
#ifndef RD_KERNELS_CPU_STRATEGIES_H
#define RD_KERNELS_CPU_STRATEGIES_H
#include "kernels/program.h"

/* A strategy: its name, whether it is there for a task, and its functions. */
typedef struct rd_cpu_strategy {
    const char *name;
    bool (*suits)(const rd_program *p, const rd_task *task);
    void (*head)(const rd_program *p, rd_task *task);
    void (*body)(const rd_program *p, rd_task *task);
    void (*join)(const rd_program *p, rd_task *into, const rd_task *next);
    void (*tail)(const rd_program *p, rd_task *task);
} rd_cpu_strategy;

/* Returns the first strategy that is there for the task; without a task (NULL), for any. */
const rd_cpu_strategy *rd_cpu_strategy_of(const rd_program *p, const rd_task *task);
bool                   rd_is_total(const rd_program *p);
#endif
