/* preprocess.h - C text as it is after the preprocessor, for people. */
#ifndef RD_KERNELS_CPU_JIT_PREPROCESS_H
#define RD_KERNELS_CPU_JIT_PREPROCESS_H
#include "core/text_buffer.h"

/* Adds `text` as it reads behind `before`, which is left out; as it stands where no compiler is. */
void rd_preprocess(rd_text *into, const char *before, const char *text);
#endif
