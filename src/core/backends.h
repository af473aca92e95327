/* backends.h - the backends that callers may name. */
#ifndef RD_CORE_BACKENDS_H
#define RD_CORE_BACKENDS_H
#include "rdim.h"

enum {
    RD_N_BACKENDS = 1 /* AUTO */
#define RD_BACKEND(NAME, name, title) +1
#include "core/backends.def"
};

/* RD_BACKEND_CUDA of "cuda"; RD_BACKEND_AUTO of NULL and what is none. */
rd_backend rd_backend_named(const char *name);
/* "CUDA" */
const char *rd_backend_title(rd_backend backend);
#endif
