/* nest_call.h - how a compiled nest is called: the library and what it compiles both read this. */
#ifndef RD_KERNELS_CPU_NEST_NEST_CALL_H
#define RD_KERNELS_CPU_NEST_NEST_CALL_H
#include <stdint.h>

/* A user's function, and what it is handed. */
typedef struct rd_nest_function {
    void (*code)(void);
    void *user;
} rd_nest_function;

/* A user's reducer. */
typedef struct rd_nest_reducer {
    void (*init)(void *s);
    void (*step)(void *s, int64_t n, const void *x, int64_t stride, int64_t i);
    void (*step2)(void *s, int64_t n, const void *x, int64_t stride, const void *w, int64_t along,
                  int64_t i); /* of two operands, instead */
    void (*merge)(void *a, const void *b);
    void (*finish)(const void *s, void *y);
} rd_nest_reducer;

typedef struct rd_nest_call rd_nest_call;
struct rd_nest_call {
    void *const   *slot;
    char          *state;
    int64_t        lo, hi; /* the task's share of the root axis */
    const int64_t *number; /* extents, strides and offsets that the text does not spell out */
    int64_t        loads;  /* elements read from slots that are not scratch */
    uint32_t       warnings;
    int32_t        failed;   /* an index was outside its axis */
    int32_t        failing;  /* function that has said why it failed */
    const char    *sentence; /* why, NULL */
    const rd_nest_function *function;
    const rd_nest_reducer  *reducer; /* by fold */
    /* Puts a row in order, by its number; `stopped`: the run was cancelled meanwhile. */
    void (*sort)(rd_nest_call *q, int32_t number, const void *from, void *to);
    const void *code; /* of the library's */
    int32_t     stopped;
};

typedef struct rd_nest_kernels {
    void (*head)(rd_nest_call *q);
    void (*body)(rd_nest_call *q);
    void (*join)(char *into, char *next); /* states of tasks */
    void (*tail)(rd_nest_call *q);
    void (*whole)(
        rd_nest_call
            *q); /* all of it as one task; NULL: by parts, as the others are where this is not */
} rd_nest_kernels;
#endif
