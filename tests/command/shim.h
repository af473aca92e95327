/* shim.h - how often each call was made, in a file that all processes of a run have mapped. */
#ifndef TESTS_COMMAND_SHIM_H
#define TESTS_COMMAND_SHIM_H
#include <stdatomic.h>
#include <string.h>

enum { FAULT_KINDS = 64, FAULT_BYTES = 4096 };

typedef struct fault_count {
    char        name[24]; /* of the call; set before the run */
    atomic_long n;
} fault_count;

/* That of a name; the last one is of all others. */
static inline fault_count *fault_counter(fault_count *all, const char *name)
{
    int k = 0;

    while (k < FAULT_KINDS - 1 && strcmp(all[k].name, name) != 0)
        k++;
    return &all[k];
}
#endif
