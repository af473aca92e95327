/* test_price.c - prices of loop trees: which of two programs is dearer; and the file of speeds. */
#define _GNU_SOURCE
#include "kernels/cpu/calibrate/calibrate.h"
#include "kernels/loop/price.h"
#include "kernels/store/store.h"
#include "loop_programs.h"
#include "rdim.h"
#include "suite.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* ---- Programs --------------------------------------------------------------------------------- */
/* Nothing runs, so an array may be larger than its memory. */
static rd_expr *array_of(rd_ctx *ctx, rd_dtype type, rd_shape shape, rd_strides strides)
{
    static double  memory[8];
    const rd_array array = { .data = memory, .type = type, .shape = shape, .strides = strides };

    return rd_leaf(ctx, &array);
}

static rd_expr *row(rd_ctx *ctx, int64_t n)
{
    return array_of(ctx, RD_F32, RD_SHAPE(n), (rd_strides){ 0 });
}

enum { SMALL = 2000, MIDDLE = 200000, LARGE = 20 << 20 };

static rd_expr *copied(rd_ctx *ctx)
{
    return rd_neg(row(ctx, MIDDLE));
}

static rd_expr *strided(rd_ctx *ctx)
{
    return rd_neg(array_of(ctx, RD_F32, RD_SHAPE(MIDDLE), RD_STRIDES(64)));
}

static rd_expr *turned(rd_ctx *ctx)
{
    rd_expr *const x = array_of(ctx, RD_F32, RD_SHAPE(400, 500), RD_STRIDES(1, 400));

    return rd_add(x, array_of(ctx, RD_F32, RD_SHAPE(400, 500), (rd_strides){ 0 }));
}

static rd_expr *straight(rd_ctx *ctx)
{
    return rd_add(row(ctx, MIDDLE), row(ctx, MIDDLE));
}

static rd_expr *gathered_near(rd_ctx *ctx)
{
    rd_expr *const places = array_of(ctx, RD_I64, RD_SHAPE(MIDDLE), (rd_strides){ 0 });

    return rd_neg(rd_take(row(ctx, SMALL), 0, places));
}

static rd_expr *gathered(rd_ctx *ctx)
{
    rd_expr *const places = array_of(ctx, RD_I64, RD_SHAPE(MIDDLE), (rd_strides){ 0 });

    return rd_neg(rd_take(row(ctx, LARGE), 0, places));
}

static rd_expr *exponential(rd_ctx *ctx)
{
    return rd_exp(row(ctx, SMALL));
}

static rd_expr *added(rd_ctx *ctx)
{
    return rd_add(row(ctx, SMALL), rd_wrap(ctx, (&(float){ 1 }), RD_SCALAR));
}

static rd_expr *divided(rd_ctx *ctx)
{
    return rd_div(row(ctx, SMALL), row(ctx, SMALL));
}

static rd_expr *multiplied(rd_ctx *ctx)
{
    return rd_mul(row(ctx, SMALL), row(ctx, SMALL));
}

static rd_expr *summed(rd_ctx *ctx)
{
    return rd_sum(row(ctx, LARGE), RD_ALL);
}

static rd_expr *summed_little(rd_ctx *ctx)
{
    return rd_sum(row(ctx, SMALL), RD_ALL);
}

static rd_expr *summed_far(rd_ctx *ctx)
{
    return rd_sum(array_of(ctx, RD_F32, RD_SHAPE(LARGE / 16), RD_STRIDES(16)), RD_ALL);
}

static rd_expr *summed_near(rd_ctx *ctx)
{
    return rd_sum(row(ctx, LARGE / 16), RD_ALL);
}

static rd_expr *long_rows(rd_ctx *ctx)
{
    return rd_sum(array_of(ctx, RD_F32, RD_SHAPE(20, 10000), (rd_strides){ 0 }), RD_DIMS(1));
}

static rd_expr *short_rows(rd_ctx *ctx)
{
    return rd_sum(array_of(ctx, RD_F32, RD_SHAPE(5000, 40), (rd_strides){ 0 }), RD_DIMS(1));
}

static rd_expr *scanned(rd_ctx *ctx)
{
    return rd_scan(array_of(ctx, RD_I32, RD_SHAPE(2000, 100), (rd_strides){ 0 }), "sum",
                   RD_DIMS(1));
}

static rd_expr *scanned_down(rd_ctx *ctx)
{
    return rd_scan(array_of(ctx, RD_I32, RD_SHAPE(100, 2000), (rd_strides){ 0 }), "sum",
                   RD_DIMS(0));
}

static rd_expr *pairs(rd_ctx *ctx, int64_t n)
{
    rd_expr *const x = row(ctx, n);

    return rd_sum(rd_exp(rd_neg(rd_square(rd_sub(rd_expand(x, 1), rd_expand(x, 0))))), RD_DIMS(1));
}

static rd_expr *few_pairs(rd_ctx *ctx)
{
    return pairs(ctx, 500);
}

static rd_expr *many_pairs(rd_ctx *ctx)
{
    return pairs(ctx, 2000);
}

/* ---- Prices ----------------------------------------------------------------------------------- */
typedef struct asked {
    rd_ctx          *ctx;
    const rd_speeds *s;
    int              threads;
    rd_price         sum;
    int              n;
} asked;

static void add_price(const rd_program *p, const char *what, void *user)
{
    asked *const   a    = user;
    rd_pool *const pool = rd_pool_new(a->ctx);
    rd_price       price;

    ck_assert_msg(
        rd_program_price(p, a->threads == 1, a->s, a->threads, loop_pool_get, pool, &price),
        "%s: no price", what);
    ck_assert_msg(price.compute >= 0 && price.memory >= 0 && price.entries >= 0 && price.start > 0,
                  "%s: a part below 0", what);
    ck_assert_msg(price.ns >= price.start && price.ns >= price.compute &&
                      price.ns <= price.start + price.compute + price.entries + price.memory + 1,
                  "%s: %g ns of %g, %g, %g and %g", what, price.ns, price.start, price.compute,
                  price.entries, price.memory);
    a->sum.ns += price.ns;
    a->n++;
    rd_pool_free(pool);
}

static double price_of(rd_expr *(*build)(rd_ctx *ctx), const rd_speeds *s, int threads)
{
    rd_ctx *const ctx = rd_ctx_new(NULL);
    rd_expr      *y   = build(ctx);
    asked         a   = { .ctx = ctx, .s = s, .threads = threads };

    ck_assert_msg(y != NULL, "%s", rd_error_text(ctx));
    loop_programs_of(ctx, (rd_exprs){ 0 }, (rd_exprs){ &y, 1 }, RD_TRAVERSE_AUTO, "a program",
                     add_price, &a);
    rd_ctx_free(ctx);
    ck_assert_int_gt(a.n, 0);
    return a.sum.ns;
}

/* The second costs at least so many times as much as the first, at most so many times. */
static const struct {
    const char *what;
    rd_expr *(*cheap)(rd_ctx *ctx);
    rd_expr *(*dear)(rd_ctx *ctx);
    int    cheap_threads, dear_threads;
    double least, most;
} orders[] = {
    { "a copy of what lies apart", copied, strided, 1, 1, 2, 100 },
    { "an operand that is turned", straight, turned, 1, 1, 1.3, 50 },
    { "a gather", copied, gathered, 1, 1, 4, 500 },
    { "a gather of what is near", copied, gathered_near, 1, 1, 1.2, 4.5 },
    { "exp beside a sum", added, exponential, 1, 1, 2, 50 },
    { "a division beside a product", multiplied, divided, 1, 1, 1.5, 30 },
    { "a large sum", summed_little, summed, 1, 1, 1000, 1e6 },
    { "a sum of one element in a line", summed_near, summed_far, 1, 1, 4, 50 },
    { "short rows", long_rows, short_rows, 1, 1, 1.3, 30 },
    { "a scan along rows", scanned_down, scanned, 1, 1, 1.5, 50 },
    { "16 times as many pairs", few_pairs, many_pairs, 1, 1, 12, 20 },
    { "one thread for much", many_pairs, many_pairs, 2, 1, 1.8, 2.01 },
    { "two threads for little", added, added, 1, 2, 1.5, 1000 },
    { "one thread for much memory", summed, summed, 2, 1, 1.2, 2.01 },
};

START_TEST(order)
{
    static const int32_t vectors[] = { 16, 32, 64 };

    for (int k = 0; k < COUNT(vectors); k++) {
        const rd_speeds s     = rd_speeds_usual(vectors[k]);
        const double    cheap = price_of(orders[_i].cheap, &s, orders[_i].cheap_threads);
        const double    dear  = price_of(orders[_i].dear, &s, orders[_i].dear_threads);

        ck_assert_msg(dear >= orders[_i].least * cheap && dear <= orders[_i].most * cheap,
                      "%s, vectors of %d bytes: %g ns and %g ns: %.2f times", orders[_i].what,
                      vectors[k], cheap, dear, dear / cheap);
    }
}
END_TEST

/* Twice as fast a machine takes half the time. */
START_TEST(scales)
{
    const rd_speeds s    = rd_speeds_usual(64);
    rd_speeds       fast = s;

    for (int k = 0; k < RD_N_SPEEDS; k++)
        fast.row[k] *= strstr(rd_speed_table[k].unit, "/ns") ? 2 : 0.5;
    ck_assert_double_eq_tol(price_of(orders[_i].dear, &fast, orders[_i].dear_threads) * 2 /
                                price_of(orders[_i].dear, &s, orders[_i].dear_threads),
                            1, 0.05);
}
END_TEST

/* ---- The file --------------------------------------------------------------------------------- */
static char base[256];

static void make_base(void)
{
    const char *const place = getenv("TMPDIR");

    snprintf(base, sizeof base, "%s/rdim-price-XXXXXX", place ? place : P_tmpdir);
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("XDG_CACHE_HOME", base, 1);
}

static void remove_base(void)
{
    char place[sizeof base + 16];

    snprintf(place, sizeof place, "%s/rdim", base);
    DIR *const dir = opendir(place);

    for (struct dirent *file; dir && (file = readdir(dir));)
        unlinkat(dirfd(dir), file->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(place);
    rmdir(base);
}

START_TEST(kept)
{
    rd_speeds s = rd_speeds_usual(32), back = rd_speeds_usual(32);

    ck_assert_msg(!rd_speeds_load(&back), "speeds before any are kept");
    for (int k = 0; k < RD_N_SPEEDS; k++)
        s.row[k] *= 1.5;
    ck_assert(rd_speeds_save(&s));
    ck_assert(rd_speeds_load(&back));
    for (int k = 0; k < RD_N_SPEEDS; k++)
        ck_assert_double_eq_tol(back.row[k] / s.row[k], 1, 1e-5);
}
END_TEST

static const char *const somewhere = "rdim speeds of a test";

/* What becomes of a file's text, that it is no longer read. */
static void other_place(rd_text *text)
{
    text->at[0] = 'R';
}

static void half(rd_text *text)
{
    text->at[text->n / 2] = '\0';
}

static void longer(rd_text *text)
{
    rd_text_add(text, "more 1\n");
}

static void no_number(rd_text *text)
{
    strstr(text->at, "\nl2 ")[4] = 'x';
}

static void negative(rd_text *text)
{
    memcpy(strstr(text->at, "\nl2 ") + 4, "-1", 2);
}

static void huge(rd_text *text)
{
    memcpy(strstr(text->at, "\nadd_f32 ") + 9, "9e9", 3);
}

static void empty(rd_text *text)
{
    text->at[0] = '\0';
}

static void other_row(rd_text *text)
{
    memcpy(strstr(text->at, "\nl2 ") + 1, "l3", 2);
}

static const struct {
    const char *what;
    void (*damage)(rd_text *text);
} damages[] = { { "of another place", other_place },
                { "half a file", half },
                { "more than a file", longer },
                { "no number", no_number },
                { "a number below 0", negative },
                { "a number of no machine", huge },
                { "nothing", empty },
                { "a row twice", other_row } };

START_TEST(damaged)
{
    rd_speeds       s     = rd_speeds_usual(64);
    const rd_speeds usual = s;
    rd_text         text  = { 0 };

    s.l2 = 123.25;
    rd_speeds_text(&text, &s, somewhere);
    s = usual;
    ck_assert(rd_speeds_read(text.at, somewhere, &s));
    ck_assert_double_eq(s.l2, 123.25);
    s = usual;
    damages[_i].damage(&text);
    ck_assert_msg(!rd_speeds_read(text.at, somewhere, &s), "read: %s", damages[_i].what);
    ck_assert_msg(memcmp(&s, &usual, sizeof s) == 0, "taken: %s", damages[_i].what);
    rd_text_free(&text);
}
END_TEST

/* A file that is there, but whose bytes are others than those that were sealed. */
START_TEST(other_bytes)
{
    rd_speeds       s     = rd_speeds_usual(64);
    const rd_speeds usual = s;
    char            place[400];

    ck_assert(rd_speeds_save(&s));
    snprintf(place, sizeof place, "%s/rdim", base);
    DIR *const dir    = opendir(place);
    bool       broken = false;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *file; (file = readdir(dir));)
        if (strncmp(file->d_name, "speeds-", 7) == 0) {
            const int fd = openat(dirfd(dir), file->d_name, O_WRONLY);

            broken = fd >= 0 && pwrite(fd, "77", 2, 200) == 2;
            close(fd);
        }
    closedir(dir);
    ck_assert(broken);
    ck_assert(!rd_speeds_load(&s));
    ck_assert(memcmp(&s, &usual, sizeof s) == 0);
}
END_TEST

START_TEST(rows)
{
    ck_assert_msg(strlen(rd_speed_table[_i].how) > 3 && strlen(rd_speed_table[_i].unit) > 0,
                  "%s: how is it measured?", rd_speed_table[_i].name);
    for (int k = 0; k < 3; k++)
        ck_assert_msg(rd_speed_table[_i].usual[k] > 0, "%s", rd_speed_table[_i].name);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("price");
    TCase   *prices = tcase_create("prices"), *files = tcase_create("files");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_loop_test(prices, order, 0, COUNT(orders));
    tcase_add_loop_test(prices, scales, 0, COUNT(orders));
    tcase_add_loop_test(prices, rows, 0, RD_N_SPEEDS);
    tcase_set_timeout(prices, 60);
    tcase_add_checked_fixture(files, make_base, remove_base);
    tcase_add_test(files, kept);
    tcase_add_test(files, other_bytes);
    tcase_add_loop_test(files, damaged, 0, COUNT(damages));
    suite_add_tcase(suite, prices);
    suite_add_tcase(suite, files);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
