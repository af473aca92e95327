/* pages.h - advice to the system about memory. */
#ifndef RD_CORE_PAGES_H
#define RD_CORE_PAGES_H
#include <stddef.h>

/* Asks for large pages where the range has whole ones; changes nothing else. */
void rd_ask_for_large_pages(void *memory, size_t bytes);

/* Lets the system take back the whole large pages of a range, with their contents, when it needs
 * memory.  Until then they need not be cleared.  Writing to a page takes it back. */
void rd_let_take_back(void *memory, size_t bytes);
#endif
