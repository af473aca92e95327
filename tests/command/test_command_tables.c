/* The command and text: tables in all forms that other programs write, and back. */
#include "base.h"
#include "command/run.h"
#include <math.h>

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");

    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void set_up(void)
{
    enter("tables");
}

/* ---- Tables to read -------------------------------------------------------------------------- */
/* t.csv holds `text`; the command line comes to all of `out`, or says `err` beside it. */
static const struct table {
    const char *text, *line, *out, *err;
} tables[] = {
    /* what is no text */
    { "\xef\xbb\xbf"
      "1,2\n3,4\n",
      "$R 'sum(t)' t.csv", "10\n", NULL },
    { "\xef\xbb\xbf"
      "a,b\r\n1,2\r\n3,4\r\n",
      "$R 'sum(a)' t.csv", "4\n", NULL },
    { "\xef\xbb\xbf\"a\",b\n1,2\n", "$R 'sum(a)' t.csv", "1\n", NULL },
    { "\xff\xfe"
      "1",
      "$R 'sum(t)' t.csv", NULL, "t.csv: text in UTF-16; it must be in UTF-8" },
    /* ends of lines */
    { "a,b\r1,2\r3,4\r", "$R 'sum(b)' t.csv", "6\n", NULL },
    { "a,b\r\n1,2\r\n\r\n3,4", "$R 'sum(b)' t.csv", "6\n", NULL },
    { "a,b\r\n1,2\r\n\r\n3,x\r\n", "$R 'sum(b)' t.csv", NULL, "t.csv: line 4: x is no number" },
    /* quotes */
    { "\"x, y\",\"a \"\"b\"\"\nc\",v\n1,\"p\nq\",2\n\"3\",\"\",4\n", "$R 'sum(v)' t.csv", "6\n",
      NULL },
    { "\"x, y\",\"a \"\"b\"\"\nc\",v\n1,\"p\nq\",2\n\"3\",\"\",4\n", "$R 'sum(z)' 'z=t.csv:x, y'",
      "4\n", NULL },
    { "v,w\n1,\"a\nb\"\n3,q\n7\n", "$R 'sum(v)' t.csv", NULL,
      "t.csv: line 5 has 1 fields, the first one 2" },
    { "v\n1\n\"a\n3\n", "$R 'sum(v)' t.csv", NULL,
      "t.csv: line 3: the quote before a 3 has no end" },
    { "v\n1\n\"a\"b\n", "$R 'sum(v)' t.csv", NULL, "t.csv: line 3: text behind the quoted a" },
    { "n,v\n's-Bosch,1\n'q',2\n'2', 3\n", "$R 'sum(v)' t.csv", "6\n", NULL },
    { "n,v\n'1',1\n'2,5',2\n", "$R 'sum(v)' t.csv", "3\n", NULL },
    /* nothing in a field */
    { "a,b,c\n1,,\n,2,\n", "$R 'nansum(a); nansum(b); count(isnan(c))' t.csv", "1\n2\n2\n", NULL },
    { "a\tb\n\t1\n3\t\n\t\n", "$R 'nansum(a); nansum(b); size(a, 0)' t.csv", "3\n1\n3\n", NULL },
    /* columns of text */
    { "date,station,v\n2020-01-01,A,1\n2020-01-02,B,3\n", "$R 'mean(v)' t.csv", "2\n", NULL },
    { "date,station,v\n2020-01-01,A,1\n2020-01-02,B,3\n", "$R 'mean(date)' t.csv", NULL,
      "t.csv: line 2: 2020-01-01 is no number" },
    { "date,station,v\n2020-01-01,A,1\n2020-01-02,B,3\n", "$R 'mean(t)' t.csv", NULL,
      "t.csv: line 2: 2020-01-01 is no number; t.csv:v is a column of numbers" },
    { "v,w\n1,2\n3,x\n", "$R 'sum(v)' t.csv", "4\n", NULL },
    { "v,w\n1,2\n3,x\n", "$R 'sum(w)' t.csv", NULL, "t.csv: line 3: x is no number" },
    { "v,w\n1,2\n3,x\n", "$R --list t.csv",
      "t.csv: CSV\n  t                -     (2, 2); text\n  v                f64   (2); text\n"
      "  w                -     (2); text\n",
      NULL },
    /* a first line like the second one is no line of names */
    { "2020-01-01,A,1\n2020-01-02,B,3\n", "$R 'sum(z)' z=t.csv:3", "4\n", NULL },
    { "2020-01-01,A,1\n2020-01-02,B,3\n", "$R 'sum(z)' z=t.csv", NULL,
      "t.csv: line 1: 2020-01-01 is no number; t.csv:3 is a column of numbers" },
    { "a,1990\n5,7\n", "$R 'sum(z)' z=t.csv:1990", "7\n", NULL },
    /* names */
    { "a,b,a\n1,2,3\n", "$R 'sum(b)' t.csv", "2\n", NULL },
    { "a,b,a\n1,2,3\n", "$R 'sum(a)' t.csv", NULL,
      "t.csv: columns 1 and 3 are both called a; say t.csv:1 for the first" },
    { "a,b,a\n1,2,3\n", "$R 'sum(z)' z=t.csv:3", "3\n", NULL },
    { "a,b\n1,2\n3,4\n", "$R 'sum(b)' b=t.csv", "6\n", NULL },
    { "a,b\n1,2\n3,4\n", "$R 'sum(z)' z=t.csv", "10\n", NULL },
    { "t,b\n1,2\n3,4\n", "$R 'sum(t)' t.csv", "4\n", NULL },
    { "h,km/h\n1,2\n", "$R 'sum(h)' t.csv", "1\n", NULL },
    { "km/h,h\n2,1\n", "$R 'sum(h)' t.csv", "1\n", NULL },
    /* lines that do not fit, and files of little */
    { "1,2\n3\n", "$R 'sum(t)' t.csv", NULL, "t.csv: line 2 has 1 fields, the first one 2" },
    { "1,2\n3,4,5\n", "$R 'sum(t)' t.csv", NULL, "t.csv: line 2 has 3 fields, the first one 2" },
    { "snow depth\n1\n", "$R 'sum(t)' t.csv", NULL, "unless --separator says otherwise" },
    { "snow depth\n1\n", "$R 'sum(t)' t.csv --separator ,", "1\n", NULL },
    { "v\n1\n2\n", "$R 'sum(v)' t.csv", "3\n", NULL },
    { "1\n2", "$R 'sum(x)' t.csv", "3\n", NULL },
    { "", "$R 'sum(t)' t.csv", NULL, "t.csv: an empty file" },
    { "\n# no\n \n", "$R 'sum(t)' t.csv", NULL, "t.csv: no numbers in it" },
    { "a,b\n", "$R 'sum(a); size(a, 0)' t.csv", "0\n0\n", NULL },
    /* whole numbers that no double is */
    { "i\n9007199254740993\n-3\n", "$R i t.csv",
      "axis 0            result\n     0  9007199254740993\n"
      "     1                -3\n",
      NULL },
    { "i,j\n9007199254740992,1\n", "$R --list t.csv",
      "t.csv: CSV\n  t                f64   (1, 2); text\n  i                f64   (1); text\n"
      "  j                f64   (1); text\n",
      NULL },
    { "i\n9223372036854775807\n-9223372036854775808\n", "$R 'max(i); min(i)' t.csv",
      "9223372036854775807\n-9223372036854775808\n", NULL },
    { "i\n18446744073709551615\n9007199254740993\n", "$R 'max(i); min(i)' t.csv",
      "18446744073709551615\n9007199254740993\n", NULL },
    { "9007199254740993,1\n2,123456789012345678\n", "$R 't[0, 0]; t[1, 1]' t.csv",
      "9007199254740993\n123456789012345678\n", NULL },
    { "i,v\n9007199254740993,1.5\n", "$R 'max(i)' t.csv", "9007199254740993\n", NULL },
    { "i,v\n9007199254740993,1.5\n", "$R 'max(z)' z=t.csv", "9007199254740992\n",
      "t.csv: line 2: 9007199254740993 is rounded to a double: other columns have fractions" },
    { "i\n9007199254740993\nNA\n", "$R 'nanmax(i)' t.csv", "9007199254740992\n",
      "t.csv: line 2: 9007199254740993 is rounded to a double: no type of whole numbers has missing ones" },
    { "i\n-1\n18446744073709551615\n", "$R 'min(i)' t.csv", "-1\n",
      "t.csv: line 3: 18446744073709551615 is rounded to a double: no type has negative numbers" },
    { "i\n9007199254740993\n0.5\n", "$R 'min(i)' t.csv", "0.5\n", NULL },
    { "i\n9007199254740993\n100000000000000000000\n", "$R 'max(i)' t.csv", "1e+20\n", NULL },
    /* complex numbers */
    { "z,w\n1+2i,1\n(3-4j),2\n", "$R 'sum(z); sum(w)' t.csv", "4-2i\n3\n", NULL },
    /* separators and commas */
    { "a;b\n1,5;2\n3;4,25\n", "$R 'sum(b)' t.csv --decimal-comma", "6.25\n", NULL },
    { "a;b\n1,5;2\n3;4,25\n", "$R 'sum(b)' t.csv", NULL,
      "t.csv: line 3: 4,25 is no number; --decimal-comma reads such numbers" },
    { "1,5\n2,5\n", "$R 'sum(t)' t.csv --decimal-comma", "4\n", NULL },
    { "1.5;2\n", "$R 'sum(t)' t.csv --decimal-comma --separator ';'", NULL,
      "t.csv: line 1: 1.5 is no number" },
    { "1|5\n2|5\n", "$R 'sum(t)' t.csv --separator '|'", "13\n", NULL },
    { "1|5\n2|5\n", "$R 'sum(z)' z=t.csv", NULL, "2|5 is no number; --separator says" },
    { "a,1\tb\n1,5\t2\n", "$R 'sum(b)' t.csv --separator tab", "2\n", NULL },
    { "1", "$R 'sum(t)' t.csv --separator 5", NULL, "--separator 5: a character such as ; or |" },
    { "1", "$R 'sum(t)' t.csv --separator , --decimal-comma", NULL, "a comma is one or the other" },
};

START_TEST(table_is_read)
{
    const struct table *t = &tables[_i];

    write_text("t.csv", t->text);
    const int status = run(t->line);
    ck_assert_msg((status == 0) == (t->out != NULL), "%s: %d\n%s%s", t->line, status, out, err);
    ck_assert_msg(strcmp(out, t->out ? t->out : "") == 0, "%s of %s: said\n%s", t->line, t->text,
                  out);
    ck_assert_msg(t->err ? strstr(err, t->err) != NULL : !*err, "%s of %s: said\n%s", t->line,
                  t->text, err);
}
END_TEST

/* ---- Decimals -------------------------------------------------------------------------------- */
/* A sign, up to 19 digits and a point anywhere among them: as C reads them, bit by bit. */
START_TEST(decimals)
{
    enum { MANY = 30000, MOST = 24 };
    static double want[MANY], got[MANY];
    uint64_t      random = 1;
    FILE         *f      = fopen("d.csv", "wb");

    ck_assert(f && fputs("1.5\n", f) >= 0);
    for (int k = 0; k < MANY; k++) {
        char      text[MOST] = "", *p = text;
        const int digits = 1 + k % 19, point = k / 19 % (digits + 1);

        if (k % 3 == 0)
            *p++ = k % 2 ? '-' : '+';
        for (int d = 0; d < digits; d++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            if (d == point)
                *p++ = '.';
            *p++ = (char)('0' + (k % 5 && d < 2 ? 0 : (random >> 40) % 10));
        }
        if (point == digits)
            *p++ = '.';
        want[k] = strtod(text, NULL);
        ck_assert(fprintf(f, "%s\n", text) > 0);
    }
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(run("$R 'd[1:]' d.csv -o -:raw > d.raw; sed s/[.]/,/ d.csv > e.csv"), 0);
    f = fopen("d.raw", "rb");
    ck_assert(f && fread(got, sizeof *got, MANY, f) == MANY && fclose(f) == 0);
    for (int k = 0; k < MANY; k++)
        ck_assert_msg(memcmp(&got[k], &want[k], sizeof *got) == 0, "%d: %.17g, not %.17g", k,
                      got[k], want[k]);
    ck_assert_int_eq(run("$R --decimal-comma -o -:raw 'e[1:]' e.csv > e.raw && cmp d.raw e.raw"),
                     0);
}
END_TEST

/* ---- Elements as text ------------------------------------------------------------------------ */
enum { ROWS = 60, COLUMNS = 4, MANY = ROWS * COLUMNS };

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const struct type {
    rd_dtype type;
    int      size, parts; /* of one element, in bytes; numbers that it is of */
    int      low, high;   /* bits that are left out of some random ones, so that all sizes come */
} types[] = {
    { RD_BOOL, 1, 1, 7, 7 }, { RD_I8, 1, 1, 0, 7 },   { RD_U8, 1, 1, 0, 7 },
    { RD_I16, 2, 1, 0, 15 }, { RD_U16, 2, 1, 0, 15 }, { RD_I32, 4, 1, 0, 31 },
    { RD_U32, 4, 1, 0, 31 }, { RD_I64, 8, 1, 0, 63 }, { RD_U64, 8, 1, 0, 63 },
    { RD_F16, 2, 1, 0, 0 },  { RD_BF16, 2, 1, 0, 0 }, { RD_F32, 4, 1, 0, 0 },
    { RD_F64, 8, 1, 0, 0 },  { RD_C64, 8, 2, 0, 0 },  { RD_C128, 16, 2, 0, 0 },
    { RD_F8, 1, 1, 0, 0 },
};

/* Every bit pattern is an element, but for bools. */
static void fill(const struct type *t, unsigned char *to, int n)
{
    const int size = t->size / t->parts;

    for (int i = 0; i < n * t->parts; i++) {
        const int      out_of = t->high - t->low + 1;
        const uint64_t bits   = random_bits() >> (64 - 8 * size),
                       word   = bits >> (t->low + (int)(random_bits() % (uint64_t)out_of));
        memcpy(to + (ptrdiff_t)i * size, &word, (size_t)size);
    }
}

/* Elements of a file or of memory, as that type. */
static void load_as(rd_ctx *ctx, rd_expr *x, rd_dtype type, void *to)
{
    ck_assert_msg(x, "%s", rd_error_text(ctx));
    const rd_shape shape = rd_shape_of(x);
    ck_assert_msg(rd_eval(ctx, rd_cast(x, type),
                          &(rd_array){ .data = to, .type = type, .shape = shape }) == RD_OK,
                  "%s", rd_error_text(ctx));
}

/* The same bits, or NaN both, part by part. */
static void check_same(const struct type *t, const unsigned char *want, const unsigned char *got,
                       int n)
{
    const int      size = t->size / t->parts;
    const rd_dtype part = t->type == RD_C64 ? RD_F32 : t->type == RD_C128 ? RD_F64 : t->type;

    for (int i = 0; i < n * t->parts; i++) {
        const double a = cmd_element(want, part, i), b = cmd_element(got, part, i);
        ck_assert_msg(a != a ? b != b
                             : memcmp(want + (ptrdiff_t)i * size, got + (ptrdiff_t)i * size,
                                      (size_t)size) == 0,
                      "%s: number %d is %.17g, not %.17g", cmd_type_name(t->type), i, b, a);
    }
}

/* Written to a table, in both styles, and read again. */
START_TEST(there_and_back)
{
    static const char *const styles[] = { "", "--decimal-comma" };
    const struct type       *t        = &types[_i];
    unsigned char            want[MANY * 16], got[MANY * 16];
    char                     line[256];

    if (!cmd_numpy_has(t->type)) /* .npy has no such type */
        return;
    for (int style = 0; style < COUNT(styles); style++) {
        rd_ctx *ctx = rd_ctx_new(NULL);
        fill(t, want, MANY);
        rd_expr *x = rd_leaf(
            ctx, &(rd_array){ .in = want, .type = t->type, .shape = { 2, 0, { ROWS, COLUMNS } } });
        ck_assert(rd_save(ctx, x, "x.npy") == RD_OK);
        snprintf(line, sizeof line, "$R x x.npy -o y.csv %s && $R y y.csv -o z.npy %s",
                 styles[style], styles[style]);
        ck_assert_msg(run(line) == 0, "%s: %s", cmd_type_name(t->type), err);
        ck_assert_msg(!*err, "%s: %s", cmd_type_name(t->type), err);
        load_as(ctx, rd_load(ctx, "z.npy"), t->type, got);
        check_same(t, want, got, MANY);
        rd_ctx_free(ctx);
    }
}
END_TEST

/* The number of the type that is next to what the text says: by the C library, or by a cast. */
static double read_as(rd_ctx *ctx, const char *text, rd_dtype type)
{
    double        value = strtod(text, NULL), back;
    unsigned char half[2];

    if (type == RD_F64)
        return value;
    if (type == RD_F32)
        return (double)strtof(text, NULL);
    load_as(ctx, rd_wrap(ctx, &value, RD_SCALAR), type, half);
    back = cmd_element(half, type, 0);
    return back;
}

/* Not one digit more than it takes, and no text that another is shorter than. */
START_TEST(shortest)
{
    const struct type *t = &types[_i];
    const int tries      = SANITIZED ? 300 : t->type == RD_F64 || t->type == RD_F32 ? 20000 : 2000;

    if (t->parts == 2 || !cmd_is_float(t->type))
        return;
    rd_ctx *ctx = rd_ctx_new(NULL);
    for (int k = 0; k < tries; k++) {
        unsigned char one[8];
        fill(t, one, 1);
        const double value = cmd_element(one, t->type, 0);
        const char  *text  = cmd_element_text(one, t->type, 0);
        char         less[CMD_MOST_TEXT];
        int          digits = 1;
        if (!isfinite(value))
            continue;
        ck_assert_msg(read_as(ctx, text, t->type) == value, "%s: %.17g", text, value);
        for (; digits <= 17; digits++) {
            snprintf(less, sizeof less, "%.*g", digits, value);
            if (read_as(ctx, less, t->type) == value)
                break;
        }
        ck_assert_msg(strlen(text) <= strlen(less), "%s: %s is shorter", text, less);
    }
    rd_ctx_free(ctx);
}
END_TEST

static const struct said {
    const char *line, *out;
} numbers[] = {
    { "$R 10.; $R 1990.; $R 100000.; $R 1234567.; $R -- '-0.'", "10\n1990\n1e+05\n1234567\n-0\n" },
    { "$R 0.1; $R 0.0001; $R 1e-5; $R 1e22; $R 5e-324", "0.1\n0.0001\n1e-05\n1e+22\n5e-324\n" },
    { "$R 'f16(0.1)'; $R 'bf16(0.1)'; $R 'f32(0.1)'", "0.1\n0.1\n0.1\n" },
    { "$R 'f16(65504.)'; $R 'f16(6e-8)'; $R 'bf16(3.39e38)'", "65504\n6e-08\n3.39e+38\n" },
    { "$R 'k * 1' k=9007199254740993; $R '7 / k; k' k=2.0; $R k k=0.5; $R k k=1e300",
      "9007199254740993\n3.5\n2\n0.5\n1e+300\n" },
    { "$R 'k' k=-9223372036854775808; $R k k=9223372036854775808 2>&1 | head -1",
      "-9223372036854775808\nrdim: 9223372036854775808: whole numbers are of 64 bits with a sign; "
      "with a point it is a float\n" },
    { "$R 'arange(100) + 9007199254740993'",
      "result: i64 (100)\n  axis 0       100\n  min 9007199254740993, mean 9.0072e+15, "
      "max 9007199254741092\n" },
    { "$R 'arange(100) > 3'; $R 'f16(arange(100)) / 3'; $R 'bf16(arange(100)) / 3'",
      "result: bool (100)\n  axis 0       100\n  min 0, mean 0.96, max 1\n"
      "result: f16 (100)\n  axis 0       100\n  min 0, mean 16.5, max 33\n"
      "result: bf16 (100)\n  axis 0       100\n  min 0, mean 16.5, max 33\n" },
    { "$R 'sqrt(c128(-2))'", "0+1.4142135623730951i\n" },
    { "$R '9007199254740993 * 1'; $R 'u64(9223372036854775807) * 2 + 1'",
      "9007199254740993\n18446744073709551615\n" },
};

START_TEST(number_is_printed)
{
    const int status = run(numbers[_i].line);

    ck_assert_msg(status == 0, "%s: %s", numbers[_i].line, err);
    ck_assert_str_eq(out, numbers[_i].out);
}
END_TEST

/* ---- Pipes ----------------------------------------------------------------------------------- */
static const struct pipe {
    const char *line, *out, *err;
} pipes[] = {
    { "printf '1,2\\n3,4\\n' | $R 'sum(x)' -", "10\n", NULL },
    { "printf 'a,b\\n1,2\\n3,4\\n' | $R 'sum(a)' -", "4\n", NULL },
    { "printf 'a,b\\n1,2\\n3,4\\n' | $R 'sum(p * q)' p=-:a q=-:b", "14\n", NULL },
    { "printf 'a\\n1\\n' > t.csv; $R 'sum(a)' - < t.csv", "1\n", NULL },
    { "$R 'arange(5)' -o x.npy; cat x.npy | $R 'sum(x)' x=-", "10\n", NULL },
    { "$R 'sum(x)' x=- < x.npy; cat x.npy | $R 'sum(x)' x=/dev/stdin", "10\n10\n", NULL },
    { "head -c 100 x.npy | $R 'sum(x)' x=-", NULL, "rdim: -: truncated" },
    { "printf abcdefgh | $R 'x[1, 3]' x=-:u1:2x4", "104\n", NULL },
    { "printf abcdefgh | $R 'x[1, 3]' x=-:u1:2x5", NULL,
      "-: u8 (2, 5) is 10 bytes, and the file has 8" },
    { "printf 'CDF\\001' | $R x -", NULL, "-: the parts of a NetCDF file are read in any order" },
    { "printf 'PK\\003\\004' | $R x -", NULL,
      "-: the parts of a NumPy .npz file are read in any order" },
    { "printf '\\001\\002' | $R x x=-", NULL, "-: not a file of a known format" },
    { "$R x x=-", NULL, "-: an empty file" },
    { "$R x x=/dev/zero", NULL, "/dev/zero: not a regular file" },
    /* more than a pipe holds, by a writer that takes its time */
    { "head -c 3000000 /dev/zero | tr '\\0' '\\1' | $R 'sum(x)' x=-:u1:3000000", "3000000\n",
      NULL },
    { "head -c 20000000 /dev/zero | tr '\\0' '\\1' | TMPDIR=. $R 'sum(x)' x=-:u1:20000000 --memory 1M",
      "20000000\n", NULL },
    { "mkfifo f.csv; { printf 'a\\n1'; sleep 0.3; printf '2\\n'; sleep 0.3; printf '3\\n'; } > f.csv & "
      "$R 'sum(a)' f.csv; wait; rm f.csv",
      "15\n", NULL },
    { "mkfifo f; cat x.npy > f & $R 'sum(x * y)' x=f y=f; wait; rm f", "30\n", NULL },
    { "mkfifo f; timeout -s INT 0.3 $R 'sum(x)' x=f; s=$?; rm f; exit $s", NULL, "interrupted" },
    /* output */
    { "$R 'x * 2' x.npy -o -:npy | $R 'sum(x)' -", "20\n", NULL },
    { "$R 'x * 2' x.npy -o -:csv | cat", "0\n2\n4\n6\n8\n", NULL },
    { "$R 'x * 2' x.npy -o /dev/stdout:raw | $R 'sum(x)' x=-:i8:5", "20\n", NULL },
    { "$R 'arange(2) + 0 * arange(2)[:, newaxis]' -o -:tsv", "0\t1\n0\t1\n", NULL },
    { "mkfifo f.npy; cat f.npy > y.npy & $R 'x * 2' x.npy -o f.npy; wait; rm f.npy; $R 'sum(y)' y.npy",
      "20\n", NULL },
    { "$R 'arange(1000000)' -o -:raw | tail -c 8 | od -An -td8", "999999\n", NULL },
    { "$R 'arange(1000000)' -o -:npy | $R 'max(x)' -", "999999\n", NULL },
    { "$R 'x' x.npy -o -", NULL, "-o -: the format is said behind it: -:npy, -:csv or -:raw" },
    { "$R 'x' x.npy -o -:nc", NULL, "-o -:nc: a NetCDF file is written in parts of any order" },
    { "$R 'a = x; b = x' x.npy -o a=-:npy -o b=-:csv", NULL, "-o -: named twice" },
    { "$R 'x' x.npy -o -:csv > /dev/full", NULL, "-: cannot write: No space left on device" },
};

START_TEST(pipe_is_used)
{
    const struct pipe *p      = &pipes[_i];
    const int          status = run(p->line);
    const char        *from   = out + strspn(out, " ");

    ck_assert_msg((status == 0) == (p->out != NULL), "%s: %d\n%s%s", p->line, status, out, err);
    ck_assert_msg(strcmp(from, p->out ? p->out : "") == 0, "%s: said\n%s", p->line, out);
    ck_assert_msg(p->err ? strstr(err, p->err) != NULL : !*err, "%s: said\n%s", p->line, err);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("command_tables");
    TCase   *tc     = tcase_create("tables");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, set_up, leave);
    tcase_add_loop_test(tc, table_is_read, 0, COUNT(tables));
    tcase_add_loop_test(tc, there_and_back, 0, COUNT(types));
    tcase_add_loop_test(tc, shortest, 0, COUNT(types));
    tcase_add_test(tc, decimals);
    tcase_add_loop_test(tc, number_is_printed, 0, COUNT(numbers));
    tcase_add_loop_test(tc, pipe_is_used, 0, COUNT(pipes));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
