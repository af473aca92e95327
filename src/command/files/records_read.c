/* records_read.c - fields of .npy records as variables. They are memory-mapped as strided leaves
 * where possible, and else gathered by all threads. A record is an element with several fields; a
 * field may be an array with inner axes. */
#include "files/records.h"
#include "calendar.h"
#include "files/late.h"
#include "files/packing.h"
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Variables ------------------------------------------------------------------------------- */
/* True if dates count months or years. These have no fixed length, so such dates become days. */
static bool is_by_calendar(const cmd_field *f)
{
    return f->is_date && (strcmp(f->unit, "M") == 0 || strcmp(f->unit, "Y") == 0);
}

/* The name of NumPy's unit in CF; NULL: it is unknown. */
static const char *unit_name(const cmd_field *f)
{
    static const char *const names[][2] = {
        { "Y", "years" },        { "M", "months" },        { "W", "weeks" },
        { "D", "days" },         { "h", "hours" },         { "m", "minutes" },
        { "s", "seconds" },      { "ms", "milliseconds" }, { "us", "microseconds" },
        { "ns", "nanoseconds" }, { "ps", "picoseconds" },  { "fs", "femtoseconds" },
        { "as", "attoseconds" },
    };

    if (is_by_calendar(f))
        return "days";
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k][0], f->unit) == 0)
            return names[k][1];
    return NULL;
}

/* Sets units and calendar of times, and makes NumPy's NaT (INT64_MIN) a missing value. An unknown
 * unit makes the variable unreadable. */
static void describe_time(cmd_variable *v, const cmd_field *f)
{
    const char *const name = f->unit ? unit_name(f) : NULL;

    if (f->unit && !name)
        v->why = cmd_text("its elements are times in an unknown unit, %s", f->unit);
    v->units    = f->is_date && name ? cmd_text("%s since 1970-01-01", name) : name;
    v->calendar = f->is_date ? "proleptic_gregorian" : NULL;
    cmd_add_default_fill(v, cmd_integer(INT64_MIN), RD_I64);
}

/* Fills in the variable of one field: axes of the array and then of the field. v->bytes becomes the
 * number of the field, from 1. A field that cannot be read has no type. */
void cmd_describe_field(cmd_variable *v, const cmd_records *r, int field)
{
    const cmd_field *const f     = &r->field[field];
    rd_shape               shape = r->shape;

    v->bytes = field + 1;

    if (shape.n + f->rank > RD_MAX_RANK) {
        v->why = cmd_text("it has %d axes, more than %d", shape.n + f->rank, RD_MAX_RANK);
        return;
    }
    for (int k = 0; k < f->rank; k++)
        shape.at[shape.n++] = f->n[k];
    cmd_set_shape(v, f->why ? RD_AUTO : f->type, &shape);
    v->why     = f->why;
    v->swapped = f->swapped;
    v->layout  = *f->name ? "in records" : "one piece";
    v->packing = (cmd_packing){ .scale = 1 };
    if (f->type == RD_I64 && (f->is_date || f->unit) && !f->why)
        describe_time(v, f);
}

/* True if the first field has dates and others follow, in one row of records. The dates are then
 * the coordinates of the records. The field must be readable (no `why`) and have one date a record
 * (rank 0). */
static bool has_axis(const cmd_records *r)
{
    const cmd_field *const f = &r->field[0];

    return r->n > 1 && r->shape.n == 1 && f->is_date && !f->why && f->rank == 0;
}

/* Adds a variable for each field, named "prefix.field", and marks a leading date field as
 * coordinates. A field without a name has the name of the array or of the file. */
void cmd_add_fields(cmd_file *file, const cmd_records *r, const char *prefix, int64_t id)
{
    cmd_variable *v = cmd_add_variables(file, r->n);

    for (int k = 0; k < r->n; k++) {
        const char *const name = r->field[k].name;

        v[k].name = !prefix ? *name ? name : cmd_stem(file->path)
                    : *name ? cmd_text("%s.%s", prefix, name)
                            : prefix;
        v[k].id   = id;
        cmd_describe_field(&v[k], r, k);
        if (has_axis(r) && v[k].shape.n > 0)
            v[k].axis[0].name = r->field[0].name;
        v[k].is_axis = k == 0 && has_axis(r);
    }
}

/* Finds the variable of the same array (equal id) that holds the coordinates of the records; NULL:
 * none does. */
static cmd_variable *find_axis(const cmd_file *file, const cmd_variable *v)
{
    for (int k = 0; k < file->n; k++)
        if (file->variable[k].id == v->id && file->variable[k].is_axis)
            return &file->variable[k];
    return NULL;
}

/* Reads the date field of the same array as coordinates of the records, unless dates are missing
 * (NaN) or too many. */
void cmd_read_record_axis(cmd_file *file, cmd_variable *v)
{
    enum { MOST_COORDINATES = 1 << 22 };
    cmd_variable *const first = find_axis(file, v);
    const int64_t       n     = first ? first->shape.at[0] : 0;

    if (n < 1 || n > MOST_COORDINATES)
        return;
    double *at = cmd_room((size_t)n * sizeof *at);
    cmd_read_now(file->ctx, cmd_read(file, first), at, n);
    for (int64_t i = 0; i < n; i++)
        if (at[i] != at[i])
            return; /* a missing date is no coordinate */
    v->axis[0].at       = at;
    v->axis[0].units    = first->units;
    v->axis[0].calendar = first->calendar;
}

/* ---- Offsets of elements --------------------------------------------------------------------- */
/* The number of records; ends the program if the file is too short for them. */
static int64_t records_of(const cmd_npy_place *p, const cmd_records *r)
{
    const int64_t n    = cmd_points(&r->shape, RD_U8, p->path);
    const int64_t room = p->size - r->data;

    if (r->bytes > 0 && n > room / r->bytes)
        cmd_fail("%s: truncated: %lld records of %lld bytes each are more than the %lld bytes that "
                 "are there",
                 p->path, (long long)n, (long long)r->bytes, (long long)room);
    return n;
}

/* Converts bytes between records (`record`) and along inner axes (`pitch`) to strides in elements.
 * False: they are no multiples of an element's size. */
static bool find_strides(const cmd_records *r, const cmd_field *f, const cmd_variable *v,
                         int64_t record, const int64_t *pitch, rd_strides *to)
{
    int64_t   step = record / f->size;
    const int n    = r->shape.n;
    bool      ok   = record % f->size == 0;

    to->n = v->shape.n;
    for (int k = 0; k < n; k++) {
        const int a = r->fortran ? k : n - 1 - k;
        to->at[a]   = step;
        step *= r->shape.at[a];
    }
    for (int k = 0; k < f->rank; k++) {
        to->at[n + k] = pitch[k] / f->size;
        ok &= pitch[k] % f->size == 0;
    }
    return ok;
}

/* Makes a strided leaf (input array) with the variable's name. */
static rd_expr *make_leaf(rd_ctx *ctx, const cmd_variable *v, const void *data,
                          const rd_strides *strides)
{
    rd_expr *leaf = rd_leaf(
        ctx, &(rd_array){ .in = data, .type = v->type, .shape = v->shape, .strides = *strides });

    if (!leaf || (*v->name && !rd_label(leaf, v->name)))
        cmd_fail_of(ctx);
    return leaf;
}

/* ---- Gathering of fields --------------------------------------------------------------------- */
/* The state that all threads share: the field, and the next piece of records. */
typedef struct job {
    const cmd_npy_place *p;
    const cmd_records   *r;
    const cmd_field     *f;
    char                *to;
    int64_t              records, inner, each; /* records in a piece */
    atomic_llong         next;
    atomic_int           error; /* an error of cmd_read_piece() */
} job;

/* Copies the elements of one record, in C order of its inner axes; `pitch` is the distance in bytes
 * along each. */
static void gather_record(const job *j, const char *from, char *to)
{
    for (int64_t i = 0; i < j->inner; i++) {
        int64_t left = i, at = 0;

        for (int a = j->f->rank; a-- > 0; left /= j->f->n[a])
            at += left % j->f->n[a] * j->f->pitch[a];
        memcpy(to + i * j->f->size, from + at, (size_t)j->f->size);
    }
}

/* Reads a piece of records, and gathers the field's elements, in this machine's byte order. Complex
 * numbers are swapped as two floats each; bools become 0 or 1. Returns an error of
 * cmd_read_piece(). */
static int gather_piece(const job *j, int64_t first, char *room)
{
    const int64_t left = j->records - first, n = left < j->each ? left : j->each;
    const int64_t bytes = j->inner * j->f->size, part = cmd_size_of(j->f->type) / 2;
    const bool    pairs = j->f->type == RD_C64 || j->f->type == RD_C128;
    char *const   to    = j->to + first * bytes;
    const int     error = cmd_read_piece(j->p->fd, room, n * j->r->bytes,
                                         j->p->begin + j->r->data + first * j->r->bytes);

    for (int64_t k = 0; !error && k < n; k++)
        gather_record(j, room + k * j->r->bytes + j->f->offset, to + k * bytes);
    if (!error && j->f->swapped)
        cmd_swap(to, pairs ? 2 * n * j->inner : n * j->inner, pairs ? part : j->f->size);
    for (int64_t k = 0; j->f->type == RD_BOOL && k < n * j->inner; k++)
        to[k] = to[k] != 0;
    return error;
}

/* Runs in each thread: takes piece after piece until none is left, or one fails. */
static void *gather_by_thread(void *of)
{
    job        *j     = of;
    char *const room  = malloc((size_t)(j->each * j->r->bytes));
    int         error = room ? 0 : ENOMEM, nothing = 0;

    for (int64_t k; !error && (k = atomic_fetch_add(&j->next, 1) * j->each) < j->records;) {
        error = gather_piece(j, k, room);
        if (atomic_load(&j->error) || cmd_interrupted())
            break;
    }
    if (error)
        atomic_compare_exchange_strong(&j->error, &nothing, error);
    free(room);
    return NULL;
}

/* ---- Times ----------------------------------------------------------------------------------- */
/* The day of the first of a month, counted from 1970-01-01. Months are counted from 1970-01, and
 * may be negative. */
static int64_t day_of_month(int64_t months)
{
    const int64_t year = months >= 0 ? months / 12 : (months - 11) / 12;
    return cmd_day_of(CMD_PROLEPTIC_GREGORIAN,
                      (cmd_date){ 1970 + year, (int)(months - 12 * year) + 1, 1 });
}

/* Multiplies counts so that they are in the unit itself ("[25s]" has 25). Months and years become
 * days. NaT (INT64_MIN) stays. Dates beyond 999999 years, and overflow, end the program. */
static void count_units(const cmd_npy_place *p, const cmd_variable *v, const cmd_field *f,
                        int64_t *at, int64_t n)
{
    const bool    months = is_by_calendar(f);
    const int64_t times  = months && *f->unit == 'Y' ? 12 : 1,
                  most   = months ? 12 * 999999 : INT64_MAX;

    for (int64_t i = 0; i < n && (months || f->times > 1); i++) {
        int64_t value;

        if (at[i] == INT64_MIN)
            continue;
        if (__builtin_mul_overflow(at[i], f->times, &value) ||
            __builtin_mul_overflow(value, times, &value) || value > most || value < -most)
            cmd_fail("%s: %s has a time of %lld times %lld%s, which is too far away", p->path,
                     v->name, (long long)at[i], (long long)f->times, f->unit);
        at[i] = months ? day_of_month(value) : value;
    }
}

/* ---- Leaves of fields ------------------------------------------------------------------------ */
/* Gathers the field of all records by all threads, and makes a leaf (input array) of the dense
 * elements. A piece has about 1 MB of records. A field with a unit (f->unit, NumPy's unit of dates
 * and durations) has counts of it, which count_units() makes whole units. find_strides() cannot
 * fail here: the dense elements lie at multiples of their size. */
static rd_expr *gather_field(rd_ctx *ctx, const cmd_npy_place *p, const cmd_records *r,
                             const cmd_field *f, const cmd_variable *v, int64_t records)
{
    enum { PIECE = 1 << 20 };
    int64_t    pitch[RD_MAX_RANK] = { 0 }, size = f->size;
    rd_strides strides;
    job        j = { .p = p, .r = r, .f = f, .records = records, .inner = 1 };

    for (int a = f->rank; a-- > 0; size *= f->n[a]) {
        pitch[a] = size;
        j.inner *= f->n[a];
    }
    j.each = r->bytes < PIECE ? PIECE / r->bytes : 1;
    j.to   = cmd_storage(records * j.inner * f->size, v->name);
    cmd_share_work(gather_by_thread, &j, records / j.each + 1);
    cmd_fail_of_piece(p->path, atomic_load(&j.error));
    if (f->unit)
        count_units(p, v, f, (int64_t *)(void *)j.to, records * j.inner);
    (void)find_strides(r, f, v, j.inner * f->size, pitch, &strides);
    return make_leaf(ctx, v, j.to, &strides);
}

/* Maps the records, if the elements of the field can be used where they are, as strided arrays.
 * Bools, elements of the other byte order, and times that are no counts of one fixed unit are
 * gathered. */
rd_expr *cmd_read_field(rd_ctx *ctx, const cmd_npy_place *p, const cmd_records *r,
                        const cmd_variable *v)
{
    const cmd_field *const f       = &r->field[v->bytes - 1];
    const int64_t          records = records_of(p, r), at = p->begin + r->data + f->offset;
    const bool             pairs = f->type == RD_C64 || f->type == RD_C128;
    const int64_t          align = pairs ? f->size / 2 : f->size;
    rd_strides             strides;
    const char            *map = NULL;

    if (cmd_points(&v->shape, v->type, v->name) == 0)
        return cmd_leaf(ctx, v, NULL);
    if (!f->swapped && f->type != RD_BOOL && at % align == 0 && f->times == 1 &&
        !(f->unit && is_by_calendar(f)) && find_strides(r, f, v, r->bytes, f->pitch, &strides))
        map = cmd_map(p->fd, p->begin + r->data, records * r->bytes);
    return map ? make_leaf(ctx, v, map + f->offset, &strides)
               : gather_field(ctx, p, r, f, v, records);
}
