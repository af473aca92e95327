/* backends.c - names of backends. */
#include "core/backends.h"
#include <string.h>

/* The backends by number; AUTO has no name. */
static const struct {
    const char *name, *title;
} rows[RD_N_BACKENDS] = {
#define RD_BACKEND(NAME, name, title) [RD_BACKEND_##NAME] = { #name, title },
#include "core/backends.def"
};

/* The backend of that name, as "cuda"; AUTO for NULL and unknown names. */
rd_backend rd_backend_named(const char *name)
{
    for (int k = 1; name && k < RD_N_BACKENDS; k++)
        if (strcmp(name, rows[k].name) == 0)
            return (rd_backend)k;
    return RD_BACKEND_AUTO;
}

/* The name of a backend in sentences, as "CUDA"; NULL of AUTO. */
const char *rd_backend_title(rd_backend backend)
{
    return rows[backend].title;
}
