/* pages.h - memory that is filled once and then gone through. */
#ifndef RD_CORE_PAGES_H
#define RD_CORE_PAGES_H
#include <stddef.h>

/** Asks for large pages where `bytes` have some whole ones; changes nothing else. */
void rd_ask_for_large_pages(void *memory, size_t bytes);

/** What is in the whole large pages of it is of no use any more: the system may take them back when
 *  it needs some.  Until then they are there without being cleared; who writes to one has it
 *  again. */
void rd_let_take_back(void *memory, size_t bytes);
#endif
