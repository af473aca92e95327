/* guard.c - slots of pages, each between two that may not be touched.  They are made once, as a call of
 * the system for each leaf would take longer than the evaluation. */
#define _GNU_SOURCE
#include "guard.h"
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 160, PAGE = 4096, SLOT = 96 * PAGE, DIRT = 0x7e };

static char *slots;
static int   used;

static bool ready(void)
{
    const size_t each = SLOT + PAGE;

    if (slots)
        return true;
    char *p =
        mmap(NULL, SLOTS * each + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    for (size_t k = 0; k <= SLOTS; k++)
        if (mprotect(p + k * each, PAGE, PROT_NONE) != 0)
            return false;
    slots = p;
    return true;
}

void *guard_memory(int64_t bytes, bool at_end)
{
    if (bytes < 0 || bytes > SLOT || used == SLOTS || !ready())
        return NULL;
    char *slot  = slots + (size_t)used++ * (SLOT + PAGE) + PAGE;
    char *piece = at_end ? slot + SLOT - bytes : slot;
    return memset(piece, DIRT, (size_t)bytes);
}

void guard_reset(int kept)
{
    used = kept;
}

int guard_used(void)
{
    return used;
}
