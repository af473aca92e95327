/* bytes.c - what fuzz targets of the library's calls share. */
#include "fuzz/bytes.h"
#include "core/dtype.h"
#include "isa.h"
#include "oracle.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Inputs -------------------------------------------------------------------------------------- */
uint8_t fuzz_byte(fuzz_bytes *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

int fuzz_below(fuzz_bytes *in, int n)
{
    return fuzz_byte(in) % n;
}

int64_t fuzz_number(fuzz_bytes *in)
{
    static const int64_t limits[] = {
        INT64_MIN,        INT64_MIN + 1,    INT64_MAX,           INT64_MAX - 1,
        INT32_MIN,        INT32_MAX,        UINT32_MAX,          (int64_t)1 << 32,
        (int64_t)1 << 31, (int64_t)1 << 62, -((int64_t)1 << 62), 1 << 20,
        (int64_t)1 << 40, INT64_MAX / 2,    INT64_MIN / 2,       1000,
    };
    const uint8_t kind = fuzz_byte(in);
    uint64_t      all  = 0;

    if (kind < 208) /* -8 to 15, and 0 for a byte of 0 */
        return (kind + 8) % 24 - 8;
    if (kind < 240)
        return limits[kind % 16];
    for (int k = 0; k < 8; k++)
        all = all << 8 | fuzz_byte(in);
    return (int64_t)all;
}

char *fuzz_text(fuzz_bytes *in, char end)
{
    const uint8_t *from = in->at;
    size_t         n    = 0;

    while (from + n < in->end && from[n] && from[n] != (uint8_t)end)
        n++;
    in->at     = from + n + (from + n < in->end);
    char *text = malloc(n + 1); /* exactly: the address sanitizer sees what is read behind it */
    if (!text)
        abort();
    memcpy(text, from, n);
    text[n] = '\0';
    return text;
}

size_t fuzz_left(const fuzz_bytes *in)
{
    return (size_t)(in->end - in->at);
}

/* ---- Contexts ------------------------------------------------------------------------------------ */
static int64_t held;

static void *allocate(void *user, int64_t bytes)
{
    void *p = malloc(bytes ? (size_t)bytes : 1);

    (void)user;
    if (p) {
        memset(p, 0xA5, (size_t)bytes);
        held++;
    }
    return p;
}

static void release(void *user, void *p)
{
    (void)user;
    held -= p != NULL;
    free(p);
}

rd_ctx *fuzz_context(void)
{
    static bool told;

    if (!told)
        setenv("RDIM_TIER1", "off", 1);
    told        = true;
    rd_ctx *ctx = rd_ctx_new(&(rd_ctx_opts){ .size          = sizeof(rd_ctx_opts),
                                             .threads       = 1,
                                             .memory_limit  = 1 << 23,
                                             .deterministic = true,
                                             .allocate      = allocate,
                                             .release       = release });
    if (!ctx)
        abort();
    return ctx;
}

void fuzz_context_end(rd_ctx *ctx)
{
    rd_ctx_free(ctx);
    if (held != 0)
        fuzz_wrong("%" PRId64 " blocks of memory are left", held);
}

/* ---- Checks -------------------------------------------------------------------------------------- */
void fuzz_wrong(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fputs("fuzz: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* "call: what was asked, what was found", and two lines more where a text has a caret under it. */
static const char *fault_of(const char *text, rd_status status, const char *call)
{
    char         first[1000], named[80];
    const size_t n = strcspn(text, "\n");

    snprintf(first, sizeof first, "%.*s", (int)n, text);
    snprintf(named, sizeof named, "%.*s: ", (int)strcspn(first, ":"), first);
    if (n < 12 || strncmp(first, "rd_", 3) != 0 || !strstr(first, ": "))
        return "it does not name its call";
    if (call && strncmp(first, call, strlen(call)) != 0)
        return "it is of another call";
    if (count(first, named) != 1)
        return "it names its call twice";
    if (strstr(first, "  ") || first[n - 1] == ' ' || strstr(first, "(null)"))
        return "it has a gap";
    for (const char *c = text; *c; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            return "it has a byte that is not printed";
    if (status == RD_ERR_TEXT && (count(text, "\n") != 2 || text[strlen(text) - 1] != '^'))
        return "it has no caret";
    return NULL;
}

rd_status fuzz_refusal(rd_ctx *ctx, const char *call)
{
    const rd_status status = rd_error(ctx);
    const char     *fault =
        status == RD_OK ? "there is none" : fault_of(rd_error_text(ctx), status, call);

    if (fault && status != RD_ERR_MEMORY)
        fuzz_wrong("%s: %s, of the sentence\n%s", call ? call : "a call", fault,
                   rd_error_text(ctx));
    rd_error_clear(ctx);
    return status;
}

bool fuzz_is_small(const rd_expr *x, int64_t most)
{
    const int64_t n = rd_points(x->rank, x->extent);

    return n >= 0 && n <= most;
}

/* The type of the numbers that an array is made of, and how many. */
static rd_dtype parts_of(const rd_array *a, int64_t *n)
{
    const bool pairs = a->type == RD_C64 || a->type == RD_C128;

    *n = pairs ? 2 : 1;
    for (int k = 0; k < a->shape.n; k++)
        *n *= a->shape.at[k];
    return a->type == RD_C64 ? RD_F32 : pairs ? RD_F64 : a->type;
}

static bool is_nan(const char *p, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT && isnan(oracle_load(p, type).v);
}

static void must_agree(const rd_array *a, const rd_array *b)
{
    int64_t        n;
    const rd_dtype type = parts_of(a, &n);
    const int64_t  size = rd_dtype_size(type);
    const char    *p = a->data, *q = b->data;

    for (int64_t i = 0; i < n; i++, p += size, q += size)
        if (memcmp(p, q, (size_t)size) != 0 && !(is_nan(p, type) && is_nan(q, type)))
            fuzz_wrong("number %" PRId64 " of the result has other bits by the reference", i);
}

static bool evaluate(rd_ctx *ctx, rd_expr *x, rd_array *out, bool must)
{
    rd_array        scalar = { 0 };
    const rd_status status = (*out = (rd_array){ 0 }, rd_eval(ctx, x, out));

    if (must && status != RD_OK)
        fuzz_wrong("refused: %s %s", rd_status_name(status), rd_error_text(ctx));
    if (status != RD_OK)
        fuzz_refusal(ctx, NULL);
    isa_begin(ctx, ISA_SCALAR);
    const rd_status again = rd_eval(ctx, x, &scalar);
    isa_end(ctx);
    if (again != status)
        fuzz_wrong("%s, and by the reference %s %s", rd_status_name(status), rd_status_name(again),
                   rd_error_text(ctx));
    if (again != RD_OK)
        fuzz_refusal(ctx, NULL);
    else
        must_agree(out, &scalar);
    rd_array_free(&scalar);
    return status == RD_OK;
}

bool fuzz_evaluate(rd_ctx *ctx, rd_expr *x, rd_array *out)
{
    return evaluate(ctx, x, out, false);
}

void fuzz_must_evaluate(rd_ctx *ctx, rd_expr *x, rd_array *out)
{
    evaluate(ctx, x, out, true); /* rd_eval() refuses an x that is NULL */
}
