/* backends.h - the backends that callers may name (backends.def). */
#ifndef RD_CORE_BACKENDS_H
#define RD_CORE_BACKENDS_H
#include "rdim.h"

enum {
    RD_N_BACKENDS = 1 /* one for AUTO */
#define RD_BACKEND(NAME, name, title) +1
#include "core/backends.def"
};

/* RD_BACKEND_CUDA for "cuda"; RD_BACKEND_AUTO for NULL and unknown names. */
rd_backend rd_backend_named(const char *name);
/* The name in sentences: "CUDA". */
const char *rd_backend_title(rd_backend backend);
#endif
