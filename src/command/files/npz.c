/* npz.c - NumPy's .npz: a zip archive of .npy files. Stored members are memory-mapped, deflated
 * ones are inflated into a file without a name. Archives of more than 4 GB (zip64) are read,
 * too.
 *
 * A member is one file of the archive, here one array. A local header stands before each member.
 * The central directory at the end lists all members. */
#include "files/formats.h"
#include "files/inflate.h"
#include "files/records.h"
#include "result.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True if the bytes begin a zip archive: a local header, or the end record of an empty archive. */
static bool matches(const uint8_t *bytes, size_t n)
{
    return n >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

#if RDIM_ZLIB
#include <zlib.h>

enum {
    LOCAL       = 30,
    CENTRAL     = 46,
    END         = 22,
    LOCATOR     = 20,
    END64       = 56, /* bytes of the zip records, without names */
    STORED      = 0,
    DEFLATED    = 8,
    PIECE       = 1 << 16,
    MOST_HEADER = 1 << 20 /* NumPy's headers have some hundred bytes */
};

/* Reads a little-endian integer of 2 bytes. */
static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)(p[0] | p[1] << 8);
}

/* Reads a little-endian integer of 4 bytes. */
static uint32_t get32(const uint8_t *p)
{
    return get16(p) | get16(p + 2) << 16;
}

/* Reads a little-endian integer of 8 bytes. */
static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* An open archive, and its size in bytes. */
typedef struct archive {
    const char *path;
    int         fd;
    int64_t     size;
} archive;

/* A member of the archive. The variable has its name and the offset of its local header. */
typedef struct member {
    int      method;
    uint32_t crc;          /* CRC-32 of the unpacked bytes */
    int64_t  packed, size; /* bytes in the archive, and unpacked */
} member;

/* Ends the program with a sentence about a broken archive. */
static _Noreturn void refuse(const archive *a, const char *what)
{
    cmd_fail("%s: a broken .npz file: %s", a->path, what);
}

/* Reads n bytes of the archive; ends the program if they lie outside. */
static void get_bytes(const archive *a, void *to, int64_t n, int64_t offset)
{
    if (offset < 0 || offset > a->size || n > a->size - offset)
        refuse(a, "a record lies outside");
    cmd_read_at(a->fd, a->path, to, n, offset);
}

/* Finds the end-of-central-directory record, and returns its offset. A comment of up to 64 KiB may
 * follow it, so its signature is searched backwards. */
static int64_t find_end(const archive *a, uint8_t end[END])
{
    static uint8_t tail[END + 65536];
    const int64_t  n = a->size < (int64_t)sizeof tail ? a->size : (int64_t)sizeof tail;

    get_bytes(a, tail, n, a->size - n);
    for (int64_t at = n - END; at >= 0; at--)
        if (memcmp(tail + at, "PK\5\6", 4) == 0) {
            memcpy(end, tail + at, END);
            return a->size - n + at;
        }
    refuse(a, "its list of members is missing (truncated?)");
}

/* Finds the central directory: the number of members, its offset and its size. Fields of all ones
 * have too few bits. A zip64 end record has the values then, and a locator before the end record
 * has its offset.
 *
 *     bytes of the end record      10: members (2)  12: size (4)   16: offset (4)
 *     bytes of the zip64 record    32: members (8)  40: size (8)   48: offset (8) */
static void find_directory(const archive *a, uint64_t *n, uint64_t *offset, uint64_t *bytes)
{
    uint8_t       end[END], locator[LOCATOR], end64[END64];
    const int64_t at = find_end(a, end);

    *n      = get16(end + 10);
    *bytes  = get32(end + 12);
    *offset = get32(end + 16);
    if (*n != 0xffff && *bytes != 0xffffffff && *offset != 0xffffffff)
        return;
    if (at < LOCATOR)
        return;
    get_bytes(a, locator, LOCATOR, at - LOCATOR);
    if (memcmp(locator, "PK\6\7", 4) != 0)
        return;
    get_bytes(a, end64, END64, (int64_t)(get64(locator + 8) & INT64_MAX));
    if (memcmp(end64, "PK\6\6", 4) != 0)
        refuse(a, "no record of 64 bits where one is announced");
    *n      = get64(end64 + 32);
    *bytes  = get64(end64 + 40);
    *offset = get64(end64 + 48);
}

/* Reads 64-bit values from the zip64 extra field, which has id 1. Only values that do not fit 32
 * bits (all ones) are there, in the order of `wide`. Each extra field begins with its id and its
 * length, 2 bytes each. */
static void read_extra(const uint8_t *at, const uint8_t *end, uint64_t *const wide[3])
{
    while (end - at >= 4) {
        const uint32_t id = get16(at), n = get16(at + 2);
        const uint8_t *p = at + 4;

        if (n > (uint64_t)(end - p))
            return;
        for (int k = 0; id == 1 && k < 3; k++)
            if (*wide[k] == 0xffffffff && p + 8 <= at + 4 + n) {
                *wide[k] = get64(p);
                p += 8;
            }
        at += 4 + n;
    }
}

/* The name of an array: that of its member, without ".npy". */
static const char *array_name(const uint8_t *name, size_t n)
{
    const bool npy = n > 4 && memcmp(name + n - 4, ".npy", 4) == 0;

    return cmd_copy((const char *)name, npy ? n - 4 : n);
}

/* Reads one entry of the central directory; returns its length. `left` bytes are there.
 *
 *     bytes of an entry   8: flags (bit 0: encrypted)   10: method   16: CRC-32   20: packed size
 *                         24: size   28: length of the name   30: of extra fields
 *                         32: of a comment   42: offset of the local header
 *                         46: name, extra fields, comment */
static uint64_t read_entry(const archive *a, const uint8_t *p, uint64_t left, cmd_variable *v,
                           member *m)
{
    if (left < CENTRAL || memcmp(p, "PK\1\2", 4) != 0)
        refuse(a, "its list of members cannot be read");
    uint64_t       packed = get32(p + 20), size = get32(p + 24), offset = get32(p + 42);
    const uint64_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
    const uint64_t length = CENTRAL + name + extra + comment;

    if (length > left)
        refuse(a, "its list of members ends early");
    read_extra(p + CENTRAL + name, p + CENTRAL + name + extra,
               (uint64_t *const[]){ &size, &packed, &offset });
    if (packed > (uint64_t)a->size || offset > (uint64_t)a->size || size > INT64_MAX / 2)
        refuse(a, "a member lies outside");
    if (get16(p + 8) & 1)
        v->why = "it is encrypted";
    v->name   = array_name(p + CENTRAL, name);
    v->layout = get16(p + 10) == STORED ? "stored" : "deflated";
    v->offset = (int64_t)offset;
    *m        = (member){ (int)get16(p + 10), get32(p + 16), (int64_t)packed, (int64_t)size };
    return length;
}

/* Orders pointers to variables by name, for qsort(). */
static int compare_names(const void *a, const void *b)
{
    return strcmp((*(cmd_variable *const *)a)->name, (*(cmd_variable *const *)b)->name);
}

/* Marks members of one name as unreadable: NumPy reads the last one, and other programs the first
 * one. */
static void mark_duplicates(cmd_variable *v, size_t n)
{
    cmd_variable **sorted = cmd_room((n + 1) * sizeof *sorted);

    for (size_t k = 0; k < n; k++)
        sorted[k] = &v[k];
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t k = 1; k < n; k++)
        if (strcmp(sorted[k - 1]->name, sorted[k]->name) == 0)
            sorted[k - 1]->why = sorted[k]->why =
                cmd_text("several members are called %s", sorted[k]->name);
}

/* Reads the central directory, and makes a variable of each member. Members are not opened, so
 * types are found later. Each entry of the directory has at least CENTRAL bytes, so a number of
 * members that needs more is refused. */
static void open_npz(cmd_file *file)
{
    archive  a = { .path = file->path };
    uint64_t n, offset, bytes;

    a.fd = cmd_open_to_read(a.path, &a.size);
    find_directory(&a, &n, &offset, &bytes);
    if (offset > (uint64_t)a.size || bytes > (uint64_t)a.size - offset || n > bytes / CENTRAL ||
        n > INT32_MAX / 2)
        refuse(&a, "its list of members lies outside");
    uint8_t      *list = cmd_room(bytes);
    cmd_variable *v    = cmd_add_variables(file, (int)n);
    member       *m    = cmd_room(n * sizeof *m);
    get_bytes(&a, list, (int64_t)bytes, (int64_t)offset);
    for (uint64_t k = 0, at = 0; k < n; k++) {
        at += read_entry(&a, list + at, bytes - at, &v[k], &m[k]);
        v[k].id = (int64_t)k;
    }
    mark_duplicates(v, n);
    close(a.fd);
    file->state = m;
}

/* Compares a member's local header with the central directory. The sizes are 0 in a local header
 * that was written before they were known.
 *
 *     bytes of a local header   6: flags   8: method   14: CRC-32   18: packed size   22: size
 *                               26: length of the name   28: of extra fields */
static void check_local_header(const archive *a, const cmd_variable *v, const member *m,
                               const uint8_t local[LOCAL])
{
    enum { SIZE_BEHIND = 8 }; /* flag: a data descriptor behind the member has the sizes */
    uint8_t        extra[UINT16_MAX];
    const uint32_t n    = get16(local + 28);
    uint64_t       size = get32(local + 22), packed = get32(local + 18), none = 0;

    if (get16(local + 6) & SIZE_BEHIND && get32(local + 14) == 0 && size == 0 && packed == 0)
        return;
    get_bytes(a, extra, n, v->offset + LOCAL + get16(local + 26));
    read_extra(extra, extra + n, (uint64_t *const[]){ &size, &packed, &none });
    if (get16(local + 6) & SIZE_BEHIND) /* the sizes may be right or 0 */
        return;
    if ((int)get16(local + 8) != m->method || get32(local + 14) != m->crc ||
        (int64_t)size != m->size || (int64_t)packed != m->packed)
        cmd_fail("%s: a broken .npz file: its list says %lld bytes of %s, checksum %08x, and the "
                 "member itself %lld, checksum %08x",
                 a->path, (long long)m->size, v->name, m->crc, (long long)size, get32(local + 14));
}

/* The offset of a member's data, behind its local header, its name and its extra fields. Bytes 26
 * and 28 of the header have the lengths of the last two. */
static int64_t data_offset(const archive *a, const cmd_variable *v, const member *m)
{
    uint8_t local[LOCAL];

    get_bytes(a, local, LOCAL, v->offset);
    if (memcmp(local, "PK\3\4", 4) != 0)
        refuse(a, "no member where one is announced");
    check_local_header(a, v, m, local);
    const int64_t data = v->offset + LOCAL + get16(local + 26) + get16(local + 28);
    if (data > a->size || m->packed > a->size - data)
        refuse(a, "a member ends outside");
    return data;
}

/* Ends the program if `crc`, computed of a member's bytes, differs from the checksum in the
 * archive. */
static void check_crc(const archive *a, const cmd_variable *v, const member *m, uint32_t crc)
{
    if (crc != m->crc)
        cmd_fail("%s: %s is damaged: its checksum is %08x, and what is there comes to %08x",
                 a->path, v->name, m->crc, crc);
}

/* Checks the CRC-32 of a stored member. The pages stay in the system's cache for the next reader. 1
 * GB takes two cores 0.2 to 0.4 s. */
static void check_stored(const archive *a, const cmd_variable *v, const member *m, int64_t data)
{
    if (m->size != m->packed)
        refuse(a, "a stored member has two sizes");
    const void *at = m->size ? cmd_map(a->fd, data, m->size) : "";

    if (!at)
        cmd_fail("%s: %s cannot be mapped", a->path, v->name);
    check_crc(a, v, m, cmd_crc32(0, at, m->size));
    if (m->size)
        cmd_unmap(at, m->size);
}

/* Ends the program if the array's header claims more elements than the member holds, as bytes of
 * the next member would be read. The header's length has 2 bytes in version 1 of .npy, and 4 bytes
 * later. */
static void check_array(const archive *a, const cmd_variable *v, const member *m, int64_t data,
                        rd_expr *x)
{
    uint8_t        begin[12];
    const rd_shape shape = rd_shape_of(x);
    const int64_t  bytes = cmd_points(&shape, rd_type_of(x), a->path) * cmd_size_of(rd_type_of(x));

    get_bytes(a, begin, sizeof begin, data);
    const int64_t header =
        begin[6] == 1 ? 10 + (int64_t)get16(begin + 8) : 12 + (int64_t)get32(begin + 8);
    if (header > m->size || bytes > m->size - header)
        cmd_fail("%s: truncated: %s of %s %s needs %lld bytes, and its member has %lld", a->path,
                 v->name, cmd_type_name(rd_type_of(x)), cmd_shape_text(&shape),
                 (long long)(header + bytes), (long long)m->size);
}

/* Inflates a member into a file, at most its first `most` bytes. It works in pieces, so that a
 * false size in the archive cannot fill the disk. The checksum is compared only if all is
 * inflated. */
static void inflate_member(const archive *a, const cmd_variable *v, const member *m, int64_t data,
                           int64_t most, int fd)
{
    static uint8_t in[PIECE], out[PIECE];
    z_stream       z     = { 0 };
    int64_t        taken = 0, written = 0;
    uint32_t       crc    = 0;
    int            status = Z_OK;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        cmd_fail("%s: zlib cannot begin", a->path);
    while (status == Z_OK && written < most) {
        if (z.avail_in == 0 && taken < m->packed) {
            const int64_t n = m->packed - taken < PIECE ? m->packed - taken : PIECE;
            cmd_read_at(a->fd, a->path, in, n, data + taken);
            z.next_in  = in;
            z.avail_in = (uInt)n;
            taken += n;
        }
        z.next_out      = out;
        z.avail_out     = PIECE;
        status          = inflate(&z, Z_NO_FLUSH);
        const int64_t n = PIECE - z.avail_out;
        if (n > m->size - written)
            refuse(a, "a member is longer than it says");
        cmd_write_at(fd, a->path, out, n, written);
        crc = cmd_crc32(crc, out, n);
        written += n;
    }
    inflateEnd(&z);
    if (status == Z_OK && written >= most && written < m->size)
        return;
    if (status != Z_STREAM_END || written != m->size)
        refuse(a, "a member cannot be inflated");
    check_crc(a, v, m, crc);
}

/* The state of reading one member. If `looking`, only the header of its array is read. */
typedef struct reading {
    cmd_file     *file;
    cmd_variable *v;
    const member *m;
    archive       archive;
    bool          looking;
    int           inflated; /* file without a name that holds the inflated bytes; -1: none */
    rd_expr      *x;
} reading;

/* Checks a stored member and makes its leaf (input array), which the library maps. If `looking`,
 * the checksum waits until the elements are read. */
static void read_stored(reading *r, int64_t data)
{
    if (!r->looking)
        check_stored(&r->archive, r->v, r->m, data);
    r->x = rd_load(r->file->ctx, r->archive.path, .offset = data);
    if (r->x)
        check_array(&r->archive, r->v, r->m, data, r->x);
}

/* Inflates a member into a file without a name, and makes the leaf (input array) of that. If
 * `looking`, only the start is inflated, and the file is sparse. */
static void read_deflated(reading *r, int64_t data)
{
    const int64_t size = r->m->size;

    r->inflated = cmd_storage_file(r->looking ? 0 : size, r->archive.path);
    if (r->looking &&
        ftruncate(r->inflated, (off_t)size) != 0) /* a sparse file, which takes no room */
        cmd_fail("%s: no room for %lld bytes", r->archive.path, (long long)size);
    inflate_member(&r->archive, r->v, r->m, data, r->looking ? MOST_HEADER : INT64_MAX,
                   r->inflated);
    r->x = rd_load(r->file->ctx, cmd_text("/proc/self/fd/%d", r->inflated));
}

/* Returns the library's sentence without the path that it was given, as no user knows the path of
 * an inflated member. */
static const char *load_error(const reading *r)
{
    const char *text = cmd_error_text(r->file->ctx);

    return cmd_reason(cmd_reason(text, r->archive.path), cmd_text("/proc/self/fd/%d", r->inflated));
}

/* Reads an array of records. When the member is first looked at (bytes is 0), its fields become
 * variables, and it becomes unreadable itself. Later calls make the leaf (input array) of one
 * field. An array without fields has one field with the name "". */
static void read_records(reading *r, const cmd_npy_place *p)
{
    cmd_records *const all = cmd_read_records(p);

    if (!all || (!*all->field[0].name && all->field[0].why))
        cmd_fail("%s: %s: %s", r->archive.path, r->v->name, load_error(r));
    rd_error_clear(r->file->ctx);
    if (r->v->bytes == 0 && !*all->field[0].name)
        cmd_describe_field(r->v, all, 0);
    if (r->v->bytes == 0) {
        r->v->why = cmd_text("it has records, whose fields are variables, as %s.%s", r->v->name,
                             all->field[0].name);
        if (r->looking)
            cmd_add_fields(r->file, all, r->v->name, r->v->id);
    }
    if (r->v->why && !r->looking)
        cmd_fail("%s: %s cannot be read: %s", r->archive.path, r->v->name, r->v->why);
    if (!r->looking)
        r->x = cmd_read_field(r->file->ctx, p, all, r->v);
}

/* Reads a stored or deflated member. If its array has a type that rd_load() refuses, its records
 * are read, from the archive or from the file with the inflated bytes. */
static void read_member(void *of)
{
    reading      *r    = of;
    const int64_t data = data_offset(&r->archive, r->v, r->m);

    (void)cmd_can_inflate(); /* loads the library that computes checksums */
    if (r->m->method != STORED && r->m->method != DEFLATED)
        cmd_fail("%s: %s is packed by method %d of zip; deflate is what can be read",
                 r->archive.path, r->v->name, r->m->method);
    if (r->m->method == STORED)
        read_stored(r, data);
    else
        read_deflated(r, data);
    const bool stored = r->m->method == STORED;
    if (!r->x && rd_error(r->file->ctx) == RD_ERR_TYPE)
        read_records(r, &(cmd_npy_place){ .fd    = stored ? r->archive.fd : r->inflated,
                                          .path  = r->archive.path,
                                          .begin = stored ? data : 0,
                                          .size  = r->m->size });
    else if (!r->x)
        cmd_fail("%s: %s: %s", r->archive.path, r->v->name, load_error(r));
}

/* Reads a member, and closes its files even if that fails: a long list of unreadable members would
 * exhaust them. If `looking`, only its type and shape are found. */
static rd_expr *read_as(cmd_file *file, cmd_variable *v, bool looking)
{
    reading r = { .file     = file,
                  .v        = v,
                  .m        = (const member *)file->state + v->id,
                  .archive  = { .path = file->path },
                  .looking  = looking,
                  .inflated = -1 };

    r.archive.fd           = cmd_open_to_read(file->path, &r.archive.size);
    const char *const fail = cmd_try(read_member, &r);
    close(r.archive.fd);
    if (r.inflated >= 0)
        close(r.inflated);
    if (fail)
        cmd_end(CMD_FAILED, fail);
    if (v->bytes == 0 && r.x) {
        const rd_shape shape = rd_shape_of(r.x);
        cmd_set_shape(v, rd_type_of(r.x), &shape);
    }
    return r.x;
}

/* Makes the leaf (input array) of a member, or of a field of its records (v->bytes is above 0), and
 * reads the coordinates of its axis. */
static rd_expr *read_npz(cmd_file *file, cmd_variable *v)
{
    rd_expr *const x = rd_label(read_as(file, v, /*looking=*/false), v->name);

    if (v->bytes > 0 && !v->is_axis)
        cmd_read_record_axis(file, v);
    return x;
}

/* Finds type and shape of a member. For a field of records (v->bytes is above 0) they are known
 * already. */
static void look_npz(cmd_file *file, cmd_variable *v)
{
    if (v->bytes == 0)
        read_as(file, v, /*looking=*/true);
}

/* Finds a variable, or "member.field". Fields are known after the member was looked at, so the
 * member before each '.' of the name is looked at, the longest name first. A member with a number
 * (bytes) or a reason (why) was looked at before. */
static cmd_variable *find_npz(const cmd_file *file, const char *name)
{
    cmd_variable *found = cmd_find_by_path(file, name);

    for (size_t n = strlen(name); !found && n-- > 1;) {
        cmd_variable *const array =
            name[n] == '.' ? cmd_find_by_path(file, cmd_copy(name, n)) : NULL;

        if (!array || array->bytes > 0 || array->why)
            continue;
        look_npz((cmd_file *)file, array);
        found = cmd_find_by_path(file, name);
    }
    return found;
}

/* ---- Writing: members are stored, aligned to 64 bytes, with sizes of 64 bits ----------------- */
/* A written member, for its entry in the central directory. */
typedef struct entry {
    const char *name;
    uint32_t    crc;
    uint64_t    size, offset;
} entry;

/* An archive that is being written. */
typedef struct writer {
    const char *path;
    int         fd;
    int64_t     at; /* bytes written so far */
} writer;

/* Writes n bytes at the end of the archive. */
static void append(writer *w, const void *bytes, int64_t n)
{
    cmd_write_at(w->fd, w->path, bytes, n, w->at);
    w->at += n;
}

/* Writes a little-endian integer of 2 bytes, and returns the byte behind it. */
static uint8_t *put16(uint8_t *p, uint32_t v)
{
    *p++ = (uint8_t)v;
    *p++ = (uint8_t)(v >> 8);
    return p;
}

/* Writes a little-endian integer of 4 bytes, and returns the byte behind it. */
static uint8_t *put32(uint8_t *p, uint32_t v)
{
    return put16(put16(p, v & 0xffff), v >> 16);
}

/* Writes a little-endian integer of 8 bytes, and returns the byte behind it. */
static uint8_t *put64(uint8_t *p, uint64_t v)
{
    return put32(put32(p, (uint32_t)v), (uint32_t)(v >> 32));
}

/* Continues a CRC-32 in pieces of at most 1 GB, as zlib's lengths have 32 bits. */
static uint32_t checksum(uLong crc, const void *bytes, int64_t n)
{
    for (const uint8_t *p = bytes; n > 0;) {
        const uInt piece = n < 1 << 30 ? (uInt)n : 1 << 30;

        crc = crc32(crc, p, piece);
        p += piece;
        n -= piece;
    }
    return (uint32_t)crc;
}

/* Writes the fields that the local header and the directory entry share: version 4.5 (zip64),
 * flags, method, time and date (1980-01-01), CRC-32, sizes, length of the name. Sizes of all ones
 * are in the zip64 extra field. */
static uint8_t *put_common_fields(uint8_t *p, const entry *e)
{
    p = put16(p, 45);
    p = put16(p, 0x0800); /* flag: names are UTF-8 */
    p = put16(p, STORED);
    p = put32(p, 0x00210000);
    p = put32(p, e->crc);
    p = put32(p, 0xffffffff);
    p = put32(p, 0xffffffff);
    return put16(p, (uint32_t)strlen(e->name));
}

/* Writes a member: local header, name, extra fields, NumPy's header, elements. The zip64 extra
 * field (id 1) has 20 bytes. A second one, of id 0x4452 ("RD"), pads the data to a multiple of 64
 * bytes, so that elements can be mapped. */
static void append_member(writer *w, const cmd_result *r, entry *e)
{
    char          header[CMD_NPY_HEADER];
    uint8_t       local[LOCAL + 20], *p = local, zeros[64] = { 0 };
    const int64_t n     = cmd_npy_header(r->array.type, &r->array.shape, header);
    const int64_t bytes = cmd_count(r) * cmd_size_of(r->array.type);
    const int64_t start = w->at + LOCAL + (int64_t)strlen(e->name) + 20 + 4;
    const int64_t pad   = (64 - start % 64) % 64;

    e->size   = (uint64_t)(n + bytes);
    e->offset = (uint64_t)w->at;
    e->crc    = checksum(checksum(crc32(0, NULL, 0), header, n), r->array.in, bytes);
    p         = put_common_fields(put32(p, 0x04034b50), e);
    p         = put16(p, (uint32_t)(20 + 4 + pad));
    append(w, local, p - local);
    append(w, e->name, (int64_t)strlen(e->name));
    p = put64(put64(put16(put16(local, 1), 16), e->size), e->size);
    p = put16(put16(p, 0x4452), (uint32_t)pad);
    append(w, local, p - local);
    append(w, zeros, pad);
    append(w, header, n);
    append(w, r->array.in, bytes);
}

/* Writes the central directory, the zip64 end record, its locator, and the end record. Each entry
 * has a zip64 extra field of 28 bytes. Fields of all ones in the end record refer to the zip64
 * record. */
static void append_directory(writer *w, const entry *e, int n)
{
    const int64_t start = w->at;
    uint8_t       record[END64 + LOCATOR + END], *p;

    for (int k = 0; k < n; k++) {
        p = put_common_fields(put16(put32(record, 0x02014b50), 45), &e[k]);
        p = put16(put16(put16(p, 28), 0), 0);
        p = put32(put32(put16(p, 0), 0), 0xffffffff);
        append(w, record, p - record);
        append(w, e[k].name, (int64_t)strlen(e[k].name));
        p = put64(put64(put64(put16(put16(record, 1), 24), e[k].size), e[k].size), e[k].offset);
        append(w, record, p - record);
    }
    const uint64_t bytes = (uint64_t)(w->at - start);
    p                    = put16(put16(put64(put32(record, 0x06064b50), END64 - 12), 45), 45);
    p                    = put64(put64(put32(put32(p, 0), 0), (uint64_t)n), (uint64_t)n);
    p                    = put64(put64(p, bytes), (uint64_t)start);
    p                    = put32(put64(put32(put32(p, 0x07064b50), 0), (uint64_t)w->at), 1);
    p                    = put16(put16(put32(p, 0x06054b50), 0), 0);
    p                    = put16(put16(p, 0xffff), 0xffff);
    p                    = put16(put32(put32(p, 0xffffffff), 0xffffffff), 0);
    append(w, record, p - record);
}

/* Writes all members and then the central directory. */
static void write_npz(const char *path, const char *aside, const cmd_results *results)
{
    writer w = { .path = path, .fd = open(aside, O_WRONLY | O_CLOEXEC) };
    entry *e = cmd_room((size_t)results->n * sizeof *e);

    if (w.fd < 0)
        cmd_fail("%s: cannot write: %s", path, strerror(errno));
    for (int k = 0; k < results->n; k++) {
        e[k].name = cmd_text("%s.npy", results->at[k].name);
        append_member(&w, &results->at[k], &e[k]);
    }
    append_directory(&w, e, results->n);
    cmd_close_written(w.fd, path);
}

const cmd_format cmd_npz = { .name     = "NumPy .npz",
                             .suffixes = ".npz ",
                             .matches  = matches,
                             .open     = open_npz,
                             .read     = read_npz,
                             .look     = look_npz,
                             .find     = find_npz,
                             .write    = write_npz };
#else
/* Ends the program, as this build has no zlib. */
static void open_npz(cmd_file *file)
{
    cmd_fail("%s: this rdim was built without zlib, and so without .npz files", file->path);
}

const cmd_format cmd_npz = { .name     = "NumPy .npz (not in this build)",
                             .suffixes = ".npz ",
                             .matches  = matches,
                             .open     = open_npz };
#endif
