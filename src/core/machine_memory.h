/* machine_memory.h - how much this process may keep in memory. */
#ifndef RD_CORE_MACHINE_MEMORY_H
#define RD_CORE_MACHINE_MEMORY_H
#include <stdbool.h>
#include <stdint.h>

/* Bytes of the machine, or of the control group that the process was in when it first asked; INT64_MAX
 * where nobody says. */
int64_t rd_machine_memory(void);
/* Is so much more than half of it?  Of a few megabytes that is known before the system is asked. */
bool rd_is_half_of_memory(double bytes);
void rd_machine_memory_is(int64_t bytes); /* tests: from now on; 0: as it is */
#endif
