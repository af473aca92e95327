/* driver.h - what a fuzz target gives, and may give.
 *
 * To add a target: write tests/fuzz/NAME.c with LLVMFuzzerTestOneInput(), put some small inputs into a
 * folder, and add the line rdim_fuzz(NAME SOURCE CORPUS DEFINITIONS LIBRARIES...) to cmake/fuzz.cmake; a target
 * of the library's calls is one name more in the list there, and bytes.h has what it needs.  The tests then run
 * it for a moment.  docs/testing.md says how to run it for long. */
#ifndef RD_FUZZ_DRIVER_H
#define RD_FUZZ_DRIVER_H
#include <stddef.h>
#include <stdint.h>

/* The status of a process in which a library that the target calls has broken (library.h): no finding. */
enum { RD_FUZZ_BROKE = 78 };

/* Tries one input, which it must not change or keep; returns 0.  A wrong answer calls abort(). */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Words that inputs are made of, up to a NULL: a target may define it. */
extern const char *const rd_fuzz_words[] __attribute__((weak));
#endif
