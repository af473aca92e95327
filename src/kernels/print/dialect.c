/* dialect.c - a row for each language that trees are printed in. */
#include "kernels/print/dialect.h"
#include <inttypes.h>

const rd_dialect rd_dialect_c = { .memory  = "",
                                  .number  = "N%" PRId32,
                                  .spelled = 128,
                                  .hides   = true,
                                  .counts  = true,
                                  .divides = true };

const rd_dialect rd_dialect_opencl = {
    .memory = "__global ", .number = "N%" PRId32, .spelled = 128, .divides = true
};

const rd_dialect rd_dialect_cuda = {
    .memory = "", .number = "q.N[%" PRId32 "]", .spelled = 16, .places = true
};
