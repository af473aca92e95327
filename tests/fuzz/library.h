/* library.h - targets that call a library of others, which may break: that is no finding of ours. */
#ifndef RD_FUZZ_LIBRARY_H
#define RD_FUZZ_LIBRARY_H

/* From now on a crash, an abort, a report of a sanitizer or an alarm ends the process with RD_FUZZ_BROKE (driver.h),
 * if it comes from code of that file, or from what that code has called. */
void rd_fuzz_contain(const char *library);
#endif
