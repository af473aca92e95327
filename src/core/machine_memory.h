/* machine_memory.h - how much memory this process may use. */
#ifndef RD_CORE_MACHINE_MEMORY_H
#define RD_CORE_MACHINE_MEMORY_H
#include <stdbool.h>
#include <stdint.h>

/* Bytes of the machine, or the limit of the process's control group at the first call; INT64_MAX
 * if unknown. */
int64_t rd_machine_memory(void);
/* True if so many bytes are more than half of it.  A few megabytes never are, which is known
 * without asking the system. */
bool rd_is_half_of_memory(double bytes);
void rd_machine_memory_is(int64_t bytes); /* tests: sets it; 0: ask again */
#endif
