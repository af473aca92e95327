/* shadow_memory.c - elements of memory in a shadow run: a hash table by slot and byte.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/loop/shadow/shadow.h"
#include <stdlib.h>

/* ---- A table --------------------------------------------------------------------------------- */
/* Returns the entry of the hash table where the search for an element begins; `room` is a power of
 * two. */
static size_t first_slot(int32_t slot, int64_t byte, size_t room)
{
    return (size_t)rd_mix((uint64_t)slot + 1, (uint64_t)byte) & (room - 1);
}

/* Returns the entry of an element, or the free one (slot -1) that it would get. The search goes
 * from a hashed entry on, by linear probing; `room` is a power of two. */
static rd_shadow_entry *entry_of(rd_shadow_entry *table, size_t room, int32_t slot, int64_t byte)
{
    size_t at = first_slot(slot, byte, room);

    while (table[at].slot >= 0 && (table[at].slot != slot || table[at].byte != byte))
        at = (at + 1) & (room - 1);
    return &table[at];
}

/* Makes the hash table twice as large, and enters all elements again. m->failed: no memory. */
static void grow(rd_shadow_memory *m)
{
    const size_t           room = m->room ? 2 * m->room : 1024;
    rd_shadow_entry *const made = calloc(room, sizeof *made);

    if (!made) {
        m->failed = true;
        return;
    }
    for (size_t k = 0; k < room; k++)
        made[k].slot = -1;
    for (size_t k = 0; k < m->room; k++)
        if (m->entry[k].slot >= 0)
            *entry_of(made, room, m->entry[k].slot, m->entry[k].byte) = m->entry[k];
    free(m->entry);
    m->entry = made;
    m->room  = room;
}

/* Stores an element in the table, which is kept at most half full so that searches are short. */
void rd_shadow_store(rd_shadow_memory *m, int32_t slot, int64_t byte, rd_shadow x)
{
    rd_shadow_entry *entry;

    if (!m->failed && 2 * (m->n + 1) > m->room)
        grow(m);
    if (m->failed)
        return;
    entry = entry_of(m->entry, m->room, slot, byte);
    m->n += entry->slot < 0;
    *entry = (rd_shadow_entry){ byte, slot, x };
}

/* Returns the shadow that was stored at this byte of the slot (array of the program's memory);
 * NULL: nothing was. */
const rd_shadow *rd_shadow_find(const rd_shadow_memory *m, int32_t slot, int64_t byte)
{
    const rd_shadow_entry *entry = m->room ? entry_of(m->entry, m->room, slot, byte) : NULL;

    return entry && entry->slot >= 0 ? &entry->x : NULL;
}

/* Frees the table. */
void rd_shadow_memory_free(rd_shadow_memory *m)
{
    free(m->entry);
    *m = (rd_shadow_memory){ 0 };
}

/* ---- What nothing has stored ----------------------------------------------------------------- */
/* Returns where row k of n sparse rows begins among `extent` stored places: at k * extent / n, or
 * up to that many places behind it, by a hash. The shadow run has no data, and makes such bounds
 * up. */
static int64_t begin_of_row(int64_t k, int64_t n, int64_t extent)
{
    const int64_t each  = extent / n;
    const int64_t shift = (int64_t)(rd_mix(RD_OF_MEMORY, (uint64_t)k) % ((uint64_t)each + 1));

    return k == 0 ? 0 : k == n ? extent : k * each + shift;
}

/* Returns the shadow of an element that nothing has stored. Where sparse rows begin must be a known
 * number, as loops go by it; all else is a hash of slot and byte. Row k's begin is at place offset
 * + k * coef of that address. */
rd_shadow rd_shadow_of_memory(const rd_program *p, int32_t slot, int64_t place, int64_t byte)
{
    for (int32_t k = 0; k < p->n_loop; k++) {
        const rd_loop *row = &p->loop[k];

        if (!rd_is_sparse_row(row) || p->address[row->row_from].slot != slot)
            continue;
        const rd_address *from = &p->address[row->row_from];
        const int64_t     coef = from->add[0].coef, n = p->axis_extent[rd_axis_of_rows(p, row)];
        const int64_t     at = coef ? (place - from->offset) / coef : -1;

        if (at >= 0 && at <= n && from->offset + at * coef == place)
            return rd_shadow_of_int(begin_of_row(at, n, p->axis_extent[row->axis]));
    }
    return (rd_shadow){ rd_mix(rd_mix(RD_OF_MEMORY, (uint64_t)slot), (uint64_t)byte), false };
}

/* ---- A task's memory ------------------------------------------------------------------------- */
/* Returns the table that a slot lies in: the task's own for scratch (temporary memory of a task),
 * else that of all tasks. */
static rd_shadow_memory *memory_of_slot(const rd_shadow_memories *m, int32_t slot)
{
    const bool is_scratch =
        slot >= m->p->first_scratch && slot - m->p->first_scratch < m->p->n_scratch;

    return is_scratch ? m->own : m->all;
}

/* Returns the byte at which element `place` lies. Indices of gathers are made up and may be far
 * outside, so the product may wrap around. */
static int64_t byte_of(rd_dtype type, int64_t place)
{
    return (int64_t)((uint64_t)place * (uint64_t)rd_dtype_size(type));
}

/* Loads the shadow of element `place` of a slot (array of the program's memory): what was stored
 * there last, or what memory holds before anything is stored. */
rd_shadow rd_shadow_load(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place)
{
    const int64_t          byte  = byte_of(type, place);
    const rd_shadow *const found = rd_shadow_find(memory_of_slot(m, slot), slot, byte);

    return found ? *found : rd_shadow_of_memory(m->p, slot, place, byte);
}

/* Stores the shadow of element `place` of a slot (array of the program's memory). */
void rd_shadow_put(const rd_shadow_memories *m, int32_t slot, rd_dtype type, int64_t place,
                   rd_shadow x)
{
    rd_shadow_store(memory_of_slot(m, slot), slot, byte_of(type, place), x);
}

/* Runs a SORT: each result is a hash of all elements and of its rank. A row in strips has the hash
 * so far as its state; the results are stored behind its last strip. */
void rd_shadow_sort(const rd_shadow_memories *m, int32_t sorting, const rd_shadow_row *row)
{
    const rd_sorting *s     = &m->p->sorting[sorting];
    const int64_t     to    = row->to;
    const int32_t     state = s->most ? m->p->address[s->state].slot : -1;
    uint64_t          hash  = rd_mix(RD_OF_SORT, (uint64_t)sorting);

    if (row->begin > 0)
        hash = rd_shadow_hash(rd_shadow_load(m, state, RD_I64, row->state));
    for (int64_t k = 0; k < row->n; k++)
        hash = rd_mix(hash, rd_shadow_hash(rd_shadow_load(m, m->p->address[s->from].slot, s->type,
                                                          row->from + k)));
    if (s->most)
        rd_shadow_put(m, state, RD_I64, row->state, (rd_shadow){ hash, false });
    for (int64_t k = 0; row->begin + row->n == s->n && k < s->n_out; k++)
        rd_shadow_put(m, m->p->address[s->to].slot, s->out, to + k,
                      (rd_shadow){ rd_mix(hash, (uint64_t)k), false });
}
