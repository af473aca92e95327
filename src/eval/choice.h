/* choice.h - choices that change only speed, made by cost or by measurement; and the list of
 * measurements. */
#ifndef RD_EVAL_CHOICE_H
#define RD_EVAL_CHOICE_H
#include "core/text_buffer.h"
#include "kernels/program.h"
#include "rdim.h"

/* Choices for one plan. */
typedef struct rd_choice {
    rd_traversal traversal;   /* greedy, lazy, or by cost (auto) */
    int8_t       panel, tile; /* log2 of the factor on bytes of panels and of tile buffers */
    bool         one_thread;  /* on one thread */
    bool         measured;    /* made by a measurement, not by cost */
    bool shares_crossing;     /* on a device, reductions along both axes of an array share loops */
    /* on this processor, reductions that want different loops share none, and each recomputes
     * what is cheap */
    bool separate_loops;
    bool brief; /* for the first runs: no compiled loops where they gain little */
    /* the device to plan for, with threads in place of loops; NULL: this processor */
    const rd_backend_table *device;
} rd_choice;

/* One measurement: of a plan, by its key's hash, or of a device program, by its key. */
typedef struct rd_found {
    uint64_t    key;     /* of the plan, or of the device program */
    rd_choice   choice;  /* the fastest, of a plan */
    double      seconds; /* of a run, when it was measured */
    bool        stage;   /* a device program */
    rd_measured of;      /* its kernels' numbers; 0 seconds: it could not be measured */
} rd_found;

/* Measured rates of a GPU and of this processor per second: bytes of memory, operations as
 * additions of f32. */
typedef struct rd_rates {
    uint64_t        key;                /* by the GPU's name; 0: not measured */
    rd_device_rates device;             /* of the GPU */
    double          memory, operations; /* of this processor */
} rd_rates;

/* All measurements of a context; starts as zeros. */
typedef struct rd_findings {
    int32_t   n, room; /* entries; entries that have memory */
    rd_found *at;      /* sorted by key */
    rd_rates  rates;   /* key 0: not measured */
} rd_findings;

/* The entry of a key; NULL: not measured. */
const rd_found *rd_findings_get(const rd_findings *f, uint64_t key);
/* Adds or replaces an entry.  False without memory, which is not recorded. */
bool rd_findings_put(rd_ctx *ctx, rd_findings *f, const rd_found *found);
/* Appends without order; rd_findings_sort() must follow.  Sorting keeps the last of equal keys.
 * Without memory, which is not recorded, it keeps only the first `before` entries, which are
 * sorted. */
bool rd_findings_add(rd_ctx *ctx, rd_findings *f, const rd_found *found);
bool rd_findings_sort(rd_ctx *ctx, rd_findings *f, int32_t before);
void rd_findings_free(rd_ctx *ctx, rd_findings *f);
/* Writes and reads the text of a file, one line per entry.  Reading returns the number of the
 * first bad line, 0: none, or RD_NOT_SORTED: no memory to sort.  It overwrites line ends with 0. */
enum { RD_NOT_SORTED = -1 };
void rd_findings_text(rd_text *text, const rd_findings *f);
int  rd_findings_read(rd_ctx *ctx, rd_findings *f, char *text);
bool rd_traversal_read(const char *word, rd_traversal *traversal);
/* "greedy, panels x4, tiles x1/2, 1 thread" */
void rd_choice_text(rd_text *text, const rd_choice *choice);
/* The measurements of a context; NULL without memory (eval/cache/cache.c). */
rd_findings *rd_findings_of(rd_ctx *ctx);
#endif
