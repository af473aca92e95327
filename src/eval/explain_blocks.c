/* explain_blocks.c - says which stages on a device copy their data a block at a time, and which
 * are partitioned across several devices.  A run decides again by the memory that is free then. */
#include "eval/explain_blocks.h"
#include "eval/plan.h"
#include "eval/run/device.h"
#include "eval/run/room.h"

/* The data of all stages, and the device's memory. */
typedef struct data {
    rd_queue *queue;
    int64_t   bytes, room; /* bytes: host data and arrays; room: of the device */
} data;

/* True if the slot's data lie in host memory: a leaf, an input or a result. Arrays between stages
 * lie on the device. */
static bool is_here(const rd_slot *slot, rd_results results)
{
    switch (slot->kind) {
    case RD_SLOT_LEAF:
    case RD_SLOT_INPUT: return !slot->expr || slot->expr->device == 0;
    case RD_SLOT_OUTPUT:
        return !results.at[slot->result].out || results.at[slot->result].out->device == 0;
    default: return false;
    }
}

/* Sums up the bytes of all data that a run needs on the device, and asks the device for its
 * memory; true if that is not enough (tight). rd_slot_span() are the bytes of a slot that the
 * programs touch. */
static bool find_room(data *d, const rd_graph *g, rd_results results, int n, const rd_program *p,
                      const rd_backend_use *use)
{
    char why[RD_DEVICE_TEXT];
    bool full;

    for (int s = 0; s < g->n_slot; s++)
        if (g->slot[s].kind == RD_SLOT_ARRAY || is_here(&g->slot[s], results))
            d->bytes += rd_slot_span(n, p, s, &g->slot[s]);
    d->queue = rd_queue_of(g->ctx, use->backend, use->device, &full, why);
    d->room  = d->queue ? use->backend->device->room(d->queue, d->bytes) : 0;
    return d->queue && rd_room_is_tight(d->bytes, d->room);
}

/* Bytes in units of 2^30. */
static double gibibytes(int64_t bytes)
{
    return (double)bytes / 0x1p30;
}

/* Writes the line of one stage with its bytes in GiB. here: bytes of its data in host memory. */
static void stage_text(rd_text *text, int stage, const data *d, int64_t here, bool by_blocks)
{
    rd_text_add(text,
                "stage %d %s: %.3g GiB that it takes lie here; data are %.3g GiB in all, the GPU "
                "has room for %.3g\n",
                stage, by_blocks ? "goes by blocks" : "wants its data there at once",
                gibibytes(here), gibibytes(d->bytes), gibibytes(d->room));
}

/* Writes a line for each stage on several devices: partitioned, or on one device and why.
 * `refuses`: the device cannot run the stage at all, which another line says; `shares` is on how
 * many devices it runs, with the reason why it is one. */
static void partitions_text(rd_text *text, int n, const rd_program *p, const rd_backend_use *use)
{
    for (int k = 0; k < n; k++) {
        const char *why;

        if (use->backend->device->refuses(&p[k]))
            continue;
        const int32_t shares = use->backend->device->shares(&p[k], &why);

        if (shares > 1)
            rd_text_add(text, "stage %d is dealt out to %d GPUs\n", k, (int)shares);
        else
            rd_text_add(text, "stage %d runs on one of %d GPUs: %s\n", k, (int)use->devices, why);
    }
}

/* If the device's memory is tight, writes a line for each stage with large data in host memory:
 * whether it processes them by blocks or wants them at once. On several devices: how stages are
 * partitioned. False: no memory. find_room() is false where memory is not tight. mine are the
 * bytes of slot s that stage k touches, of arrays in host memory (is_here()); parts[s]: they are
 * large beside the room d.room. refuses() and windows() are the device's: it cannot run the
 * program; it can process it by blocks. */
bool rd_blocks_text(rd_text *text, rd_pool *pool, const rd_graph *g, rd_results results, int n,
                    const rd_program *p, const rd_backend_use *use)
{
    bool                        *parts  = rd_pool_get(pool, (size_t)g->n_slot + 1);
    data                         d      = { .bytes = 0 };
    const rd_device_table *const device = use->backend->device;

    if (use->devices > 1) {
        partitions_text(text, n, p, use);
        return true;
    }
    if (!parts || !find_room(&d, g, results, n, p, use))
        return parts;
    for (int k = 0; k < n; k++) {
        int64_t here = 0;

        for (int s = 0; s < g->n_slot; s++) {
            const int64_t mine =
                is_here(&g->slot[s], results) ? rd_slot_span(/*n=*/1, &p[k], s, &g->slot[s]) : 0;

            parts[s] = rd_room_is_large(mine, d.room);
            here += parts[s] ? mine : 0;
        }
        if (here > 0 && !device->refuses(&p[k]))
            stage_text(text, k, &d, here,
                       device->windows && device->windows(&p[k], d.queue, parts));
    }
    return true;
}
