/* interleaved_places.h - places of short rows in order (argsort), interleaved; sort_kernels.h
 * includes it once.
 *
 * A key of 32 bits and its place form one key of 64 bits, so equal keys keep the order of their
 * places.  Keys of 64 bits leave no room for a place, so places are a second array.
 *
 * A group is as many rows as are sorted side by side; x[j][l] is the key of element j in row l. */
/* Sorts short rows of 32-bit keys side by side (x[j][l]: element j of row l), and writes the
 * positions of the first n_out in order (argsort).  A key in the high half and its position in the
 * low half form one key of 64 bits, so equal keys keep their order. */
static void sort_interleaved_places_32(group_32 *g)
{
    rows_of_keys_64 *x = (rows_of_keys_64 *)(void *)g->x; /* as many bytes */

    for (int64_t j = 0; j < g->s->n; j++) {
        uint32_t keys[INTERLEAVED_64];

        load_column(rd_dtype_size(g->s->type), g->rows, g->from + j * rd_dtype_size(g->s->type),
                    g->from_pitch, g->elements);
        g->keys(INTERLEAVED_64, g->elements, keys, g->invert);
        for (int l = 0; l < INTERLEAVED_64; l++)
            x[j][l] = (uint64_t)keys[l] << 32 | (uint64_t)j;
    }
    order_64(g->s->n, x);
    for (int64_t k = 0; k < g->s->n_out; k++)
        for (int64_t l = 0; l < g->rows; l++)
            *(int64_t *)(void *)(g->to + l * g->to_pitch + k * 8) = (int64_t)(uint32_t)x[k][l];
}

/* Keys of 64 bits, and the position of each key in its row.  Both arrays have [element][row], and
 * are exchanged together. */
typedef struct key_places {
    rows_of_keys_64 *key, *place;
} key_places;

/* One comparator of the sorting network: puts elements i and k of every row l in order, by their
 * keys, equal ones by their positions (`at` of element i, `next` of k).  Keys and positions are
 * exchanged together.  No branch depends on keys, so the loop becomes vector selects. */
static ALWAYS void compare_pairs(void *rows, int64_t i, int64_t k)
{
    const key_places *r    = rows;
    uint64_t *restrict low = r->key[i], *restrict high = r->key[k];
    uint64_t *restrict at = r->place[i], *restrict next = r->place[k];

    for (int l = 0; l < INTERLEAVED_64; l++) {
        const uint64_t a = low[l], b = high[l], p = at[l], q = next[l];
        const bool     swap = (b < a) | ((b == a) & (q < p));

        low[l]  = swap ? b : a;
        high[l] = swap ? a : b;
        at[l]   = swap ? q : p;
        next[l] = swap ? p : q;
    }
}

/* Sorts rows of 64-bit keys with a second array of places that goes along, and writes the places of
 * the first n_out in order. */
static void sort_interleaved_places_64(group_64 *g)
{
    key_places r = { g->x, g->x + g->s->n };

    load_keys_64(g);
    for (int64_t j = 0; j < g->s->n; j++)
        for (int l = 0; l < INTERLEAVED_64; l++)
            r.place[j][l] = (uint64_t)j;
    merge_exchange(g->s->n, compare_pairs, &r);
    for (int64_t k = 0; k < g->s->n_out; k++)
        for (int64_t l = 0; l < g->rows; l++)
            *(int64_t *)(void *)(g->to + l * g->to_pitch + k * 8) = (int64_t)r.place[k][l];
}
