/* choice.h - decisions that only speed depends on, as cost or a measurement makes them; and what
 * measurements found. */
#ifndef RD_EVAL_CHOICE_H
#define RD_EVAL_CHOICE_H
#include "core/text.h"
#include "kernels/program.h"
#include "rdim.h"

typedef struct rd_choice {
    rd_traversal traversal;
    int8_t       panel, tile; /* panels, and buffers of tiles, of 2^n times as many bytes */
    bool         alone;       /* on one thread                                            */
    bool         measured;    /* not by cost                                              */
    bool         cross;       /* there, reductions along both axes of an array share loops */
    bool         apart; /* they share none on this processor, with each computing what is cheap */
    bool         brief; /* for its first runs: without code, where that is a small gain */
    /* the device that it is for, whose threads do what loops do elsewhere; NULL: this processor */
    const rd_backend_table *device;
} rd_choice;

/* Of plans whose keys have these hashes, or of programs of a device with these keys. */
typedef struct rd_found {
    uint64_t    key;
    rd_choice   choice;
    double      seconds; /* of a run, when it was measured */
    bool        stage;   /* a program of a device: ...     */
    rd_measured of;      /* ... numbers of its kernels; 0 seconds: it could not be measured */
} rd_found;

/* What a GPU and this processor do in a second: bytes of memory, operations in additions of f32. */
typedef struct rd_rates {
    uint64_t        key; /* of GPUs of its name; 0: not measured */
    rd_device_rates device;
    double          memory, operations; /* this processor's      */
} rd_rates;

/* All 0 to begin with. */
typedef struct rd_findings {
    int32_t   n, room;
    rd_found *at; /* by key */
    rd_rates  rates;
} rd_findings;

/* NULL: not measured. */
const rd_found *rd_findings_get(const rd_findings *f, uint64_t key);
/* In place of an earlier one.  False without memory, which is not recorded. */
bool rd_findings_put(rd_ctx *ctx, rd_findings *f, const rd_found *found);
/* At the end, in no order: rd_findings_sort() must follow.  It keeps the last of equal keys; without
 * memory, which is not recorded either, it leaves the first `before` alone, which were in order. */
bool rd_findings_add(rd_ctx *ctx, rd_findings *f, const rd_found *found);
bool rd_findings_sort(rd_ctx *ctx, rd_findings *f, int32_t before);
void rd_findings_free(rd_ctx *ctx, rd_findings *f);
/* As a file has them, a line each; and back: the number of the first line that cannot be read, 0:
 * all were; RD_NOT_SORTED: no memory to put them in order.  Lines of the text end in 0 then. */
enum { RD_NOT_SORTED = -1 };
void rd_findings_text(rd_text *text, const rd_findings *f);
int  rd_findings_read(rd_ctx *ctx, rd_findings *f, char *text);
bool rd_traversal_read(const char *word, rd_traversal *traversal);
/* "greedy, panels x4, tiles x1/2, 1 thread" */
void rd_choice_text(rd_text *text, const rd_choice *choice);
/* What a context's evaluations found, NULL without memory (eval/cache/cache.c). */
rd_findings *rd_findings_of(rd_ctx *ctx);
#endif
