/* Metadata of Zarr stores, one thing changed at a time: what is read of them, and with which sentence the others are
 * refused. */
#include "command/hear.h"
#if RDIM_JSON
#include <errno.h>
#include <sys/stat.h>

/* Each member once more behind the usual ones: of two of a name the last one counts. */
#define OLD                                                                                             \
    "\"zarr_format\": 2, \"shape\": [2, 3], \"chunks\": [2, 3], \"dtype\": \"<f4\", \"order\": \"C\", " \
    "\"fill_value\": 1.5, \"filters\": null, \"compressor\": null"
#define BYTES(endian) "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"" endian "\"}}"
#define GRID(shape) \
    "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [" shape "]}}"
#define CODECS(list) "\"codecs\": [" list "]"
#define ORDER(list) \
    "{\"name\": \"transpose\", \"configuration\": {\"order\": " list "}}, " BYTES("little")
#define SHARDS(shape, codecs, index)                                                      \
    "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [" shape "], " \
    "\"codecs\": [" codecs "], \"index_codecs\": [" index "]}}"
#define KEYS(text) "\"chunk_key_encoding\": {\"name\": " text "}"
#define NEW                                                                                         \
    "\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2, 3], \"data_type\": \"float32\", " \
    "\"fill_value\": 1.5, \"attributes\": {}, " GRID("2, 3") ", " KEYS("\"default\"") ", " CODECS(  \
        BYTES("little"))

/* Stores without chunks: all that they have is the value that fills them. */
static const struct {
    const char *file, *json, *listed, *sums;
} stores[] = {
    { ".zarray", OLD, "z f32 (2, 3)", "9" },
    { ".zarray", OLD ", \"shape\": [], \"chunks\": []", "z f32 ()", "1.5" },
    { ".zarray", OLD ", \"shape\": [2, 0]", "z f32 (2, 0)", "0" },
    { ".zarray", OLD ", \"dtype\": \">c8\", \"fill_value\": [1, -2]", "z c64 (2, 3)", NULL },
    { ".zarray", OLD ", \"fill_value\": \"Infinity\"", "z f32 (2, 3)", "inf" },
    { ".zarray", OLD ", \"fill_value\": \"-Infinity\"", "z f32 (2, 3)", "-inf" },
    { ".zarray", OLD ", \"fill_value\": \"NaN\"", "z f32 (2, 3)", "nan" },
    { ".zarray", OLD ", \"fill_value\": null", "z f32 (2, 3)", "0" },
    { ".zarray", OLD ", \"dtype\": \"|b1\", \"fill_value\": true", "z bool (2, 3)", "6" },
    { ".zarray", OLD ", \"dtype\": \"<u8\", \"fill_value\": 18446744073709551615", "z u64 (2, 3)",
      "1.10680464e+20" },
    { ".zarray", OLD ", \"shape\": 5", "z - (): its shape is 5", NULL },
    { ".zarray", OLD ", \"shape\": [2, -3]", "z - (): its shape is [ 2, -3 ]", NULL },
    { ".zarray", OLD ", \"shape\": [2, 1.5]", "z - (): its shape is [ 2, 1.5 ]", NULL },
    { ".zarray", OLD ", \"chunks\": [2]", "z - (2, 3): its chunks have shape [ 2 ]", NULL },
    { ".zarray", OLD ", \"chunks\": null", "z - (2, 3): its chunks have shape null", NULL },
    { ".zarray", OLD ", \"chunks\": [2, \"3\"]", "z - (2, 3): its chunks have shape [ 2, \"3\" ]",
      NULL },
    { ".zarray", OLD ", \"chunks\": [2, 0]",
      "z - (2, 3): its chunks have shape [ 2, 0 ], without an element", NULL },
    { ".zarray", OLD ", \"chunks\": [20000, 20000]",
      "z - (2, 3): its chunks have shape [ 20000, 20000 ], and more than 1073741823 bytes are not "
      "read at once",
      NULL },
    { ".zarray", OLD ", \"dtype\": \"|S5\"", "z - (2, 3): its elements are of type |S5", NULL },
    { ".zarray", OLD ", \"dtype\": [[\"a\", \"<f4\"]]",
      "z - (2, 3): its elements are of type [ [ \"a\", \"<f4\" ] ]", NULL },
    { ".zarray", OLD ", \"fill_value\": \"nothing\"", "z - (2, 3): its fill value is nothing",
      NULL },
    { ".zarray", OLD ", \"fill_value\": [1, 2]", "z - (2, 3): its fill value is [ 1, 2 ]", NULL },
    { ".zarray", OLD ", \"filters\": [{\"kind\": 5}]", "z - (2, 3): its codecs have no names",
      NULL },
    { ".zarray", OLD ", \"compressor\": {\"id\": 5}", "z - (2, 3): its codecs have no names",
      NULL },
    { ".zarray",
      OLD ", \"filters\": [{\"id\": \"zlib\"}, {\"id\": \"zlib\"}, {\"id\": \"zlib\"}, {\"id\": "
          "\"zlib\"}, {\"id\": \"zlib\"}, {\"id\": \"zlib\"}, {\"id\": \"zlib\"}, {\"id\": "
          "\"zlib\"}, {\"id\": \"zlib\"}]",
      "z - (2, 3): its chunks went through many codecs", NULL },
    { ".zarray", OLD ", \"order\": \"A\"", "z - (2, 3): its order is A", NULL },
    { ".zarray", OLD ", \"dimension_separator\": \"-\"", "z - (2, 3): its dimension_separator is -",
      NULL },

    { "zarr.json", NEW, "z f32 (2, 3)", "9" },
    { "zarr.json", NEW ", " CODECS(BYTES("little") ", \"crc32c\""), "z f32 (2, 3)", "9" },
    { "zarr.json", NEW ", " KEYS("\"v2\", \"configuration\": {\"separator\": \"/\"}"),
      "z f32 (2, 3)", "9" },
    { "zarr.json", NEW ", \"shape\": {}", "z - (): its shape is { }", NULL },
    { "zarr.json", NEW ", \"data_type\": \"string\"", "z - (2, 3): its elements are of type string",
      NULL },
    { "zarr.json", NEW ", \"data_type\": {\"name\": \"fixed\"}",
      "z - (2, 3): its elements are of type { \"name\": \"fixed\" }", NULL },
    { "zarr.json", NEW ", \"chunk_grid\": {\"name\": \"odd\"}",
      "z - (2, 3): its chunks are of a grid { \"name\": \"odd\" }", NULL },
    { "zarr.json", NEW ", \"storage_transformers\": [{\"name\": \"odd\"}]",
      "z - (2, 3): its store has transformers", NULL },
    { "zarr.json", NEW ", " GRID("2"), "z - (2, 3): its chunks have shape [ 2 ]", NULL },
    { "zarr.json", NEW ", " KEYS("\"fanout\""),
      "z - (2, 3): its chunks are named by { \"name\": \"fanout\" }", NULL },
    { "zarr.json", NEW ", " KEYS("\"v2\", \"configuration\": {\"separator\": \"\"}"),
      "z - (2, 3): its separator is ", NULL },
    { "zarr.json", NEW ", " CODECS("{\"id\": 5}"), "z - (2, 3): its codecs are [ { \"id\": 5 } ]",
      NULL },
    { "zarr.json", NEW ", " CODECS(BYTES("odd")), "z - (2, 3): its order of bytes is odd", NULL },
    { "zarr.json", NEW ", " CODECS(ORDER("[1, 0]")), "z f32 (2, 3)", "9" },
    { "zarr.json", NEW ", " CODECS(ORDER("[0, 0]")),
      "z - (2, 3): its chunks are transposed by { \"name\": \"transpose\", \"configuration\": { "
      "\"order\": [ 0, 0 ] ...",
      NULL },
    { "zarr.json", NEW ", " CODECS(ORDER("[0, 2]")),
      "z - (2, 3): its chunks are transposed by { \"name\": \"transpose\", \"configuration\": { "
      "\"order\": [ 0, 2 ] ...",
      NULL },
    { "zarr.json", NEW ", " CODECS(ORDER("\"F\"")),
      "z - (2, 3): its chunks are transposed by { \"name\": \"transpose\", \"configuration\": { "
      "\"order\": \"F\" } }",
      NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), BYTES("little"))),
      "z f32 (2, 3)", "9" },
    { "zarr.json", NEW ", " CODECS(SHARDS("2, 2", BYTES("little"), BYTES("little"))),
      "z - (2, 3): its shards are no whole number of chunks", NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("2", BYTES("little"), BYTES("little"))),
      "z - (2, 3): its chunks have shape [ 2 ]", NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), BYTES("big"))),
      "z - (2, 3): its shards have an index of [ { \"name\": \"bytes\", \"configuration\": { "
      "\"endian\": \"big\" } } ...",
      NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), "\"zstd\"")),
      "z - (2, 3): its shards have an index of [ \"zstd\" ]", NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), "\"bytes\", \"zstd\"")),
      "z - (2, 3): its shards have an index of [ \"bytes\", \"zstd\" ]", NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), "")),
      "z - (2, 3): its shards have an index of [ ]", NULL },
    { "zarr.json", NEW ", " CODECS(SHARDS("1, 3", BYTES("little"), BYTES("little")) ", \"crc32c\""),
      "z - (2, 3): its shards are packed once more, or hold shards", NULL },
    { "zarr.json",
      NEW ", " CODECS(SHARDS("1, 3", SHARDS("1, 3", "", BYTES("little")), BYTES("little"))),
      "z - (2, 3): its shards are packed once more, or hold shards", NULL },
};

static void make_store(void)
{
    static const char *const files[] = { "z.zarr/.zarray", "z.zarr/.zattrs", "z.zarr/zarr.json" };

    for (int k = 0; k < COUNT(files); k++)
        (void)remove(files[k]);
    ck_assert(mkdir("z.zarr", 0777) == 0 || errno == EEXIST);
}

START_TEST(stores_by_metadata)
{
    char *text = NULL, path[40];

    snprintf(path, sizeof path, "z.zarr/%s", stores[_i].file);
    make_store();
    ck_assert(asprintf(&text, "{%s}", stores[_i].json) > 0);
    write_bytes(path, text, strlen(text));
    says(list, "z.zarr", text, stores[_i].listed);
    if (stores[_i].sums)
        says(sum, "z.zarr", text, stores[_i].sums);
    free(text);
}
END_TEST

/* What xarray writes of a missing value, which JSON may not have: it is none of the sum. */
static const struct {
    const char *value, *sum;
} missing[] = { { "1.5", "nan" },
                { "\"AAAAAAAA+D8=\"", "nan" },
                { "\"NaN\"", "9" },
                { "\"Infinity\"", "9" },
                { "\"-Infinity\"", "9" },
                { "\"AAAA\"", "9" },
                { "\"AAAA!AAA+D8=\"", "9" },
                { "[]", "9" },
                { "[1.5, \"odd\"]", "9" },
                { "{}", "9" } };

START_TEST(missing_values)
{
    char text[200];

    make_store();
    write_bytes("z.zarr/.zarray", "{" OLD "}", strlen("{" OLD "}"));
    snprintf(text, sizeof text, "{\"missing_value\": %s}", missing[_i].value);
    write_bytes("z.zarr/.zattrs", text, strlen(text));
    says(sum, "z.zarr", text, missing[_i].sum);
}
END_TEST
/* A filter that says no size has the usual one, 4. */
START_TEST(shuffled_chunk)
{
    static const char json[] = "{" OLD ", \"filters\": [{\"id\": \"shuffle\"}]}",
                      chunk[] =
                          "\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\x40\x80\xa0\xc0\x3f\x40\x40\x40\x40\x40";

    make_store();
    write_bytes("z.zarr/.zarray", json, strlen(json));
    write_bytes("z.zarr/0.0", chunk, 24);
    says(sum, "z.zarr", json, "21");
    ck_assert(remove("z.zarr/0.0") == 0);
}
END_TEST

/* ---- Packed values --------------------------------------------------------------------------- */
/* Six times one value, as attributes say what it means; "nan": it is missing. */
static const struct {
    const char *dtype, *value, *attributes, *sum;
} packed[] = {
    { "<i2", "5", "\"missing_value\": 5", "nan" },
    { "<i2", "5", "\"missing_value\": [7, 5]", "nan" },
    { "<i2", "5", "\"missing_value\": 5.5", "30" },
    { "<i2", "5", "\"missing_value\": 5.0", "nan" },
    { "|u1", "5", "\"missing_value\": 261", "30" },
    { "|u1", "5", "\"missing_value\": 1e300", "30" },
    { "|u1", "5", "\"missing_value\": -251", "30" },
    { "<u8", "18446744073709551615", "\"missing_value\": 18446744073709551615", "nan" },
    { "<u8", "18446744073709551615", "\"missing_value\": 18446744073709551614", "1.10680464e+20" },
    { "<u8", "18446744073709551615", "\"missing_value\": -1", "1.10680464e+20" },
    { "<i8", "-1", "\"missing_value\": 18446744073709551615", "-6" },
    { "<f4", "5.5", "\"missing_value\": 5.5", "nan" },
    { "<f4", "5.5", "\"missing_value\": 5", "33" },
    { "<f4", "0.1", "\"missing_value\": 0.1", "nan" },
    { "<f4", "5", "\"missing_value\": 5", "nan" },
    /* ranges of integers */
    { "<i2", "5", "\"valid_min\": 5", "30" },
    { "<i2", "5", "\"valid_min\": 6", "nan" },
    { "<i2", "5", "\"valid_min\": 5.5", "nan" },
    { "<i2", "5", "\"valid_min\": -1e300", "30" },
    { "<i2", "5", "\"valid_min\": 1e300", "nan" },
    { "<i2", "5", "\"valid_min\": 40000", "nan" },
    { "<i2", "5", "\"valid_min\": -40000", "30" },
    { "<i2", "5", "\"valid_max\": 5", "30" },
    { "<i2", "5", "\"valid_max\": 4", "nan" },
    { "<i2", "5", "\"valid_max\": 4.5", "nan" },
    { "<i2", "5", "\"valid_max\": 1e300", "30" },
    { "<i2", "5", "\"valid_max\": -1e300", "nan" },
    { "<i2", "5", "\"valid_max\": 40000", "30" },
    { "<i2", "5", "\"valid_max\": -40000", "nan" },
    { "<i2", "5", "\"valid_range\": [1, 5]", "30" },
    { "<i2", "5", "\"valid_range\": [6, 9]", "nan" },
    { "<i2", "5", "\"valid_range\": [1, 4]", "nan" },
    { "<i2", "5", "\"valid_range\": [1]", "30" },
    { "<u8", "18446744073709551615", "\"valid_min\": 18446744073709551615", "1.10680464e+20" },
    { "<u8", "18446744073709551614", "\"valid_min\": 18446744073709551615", "nan" },
    { "<u8", "18446744073709551615", "\"valid_max\": 18446744073709551614", "nan" },
    /* of floats */
    { "<f4", "5.5", "\"valid_min\": 5.5", "33" },
    { "<f4", "5.5", "\"valid_min\": 6", "nan" },
    { "<f4", "5.5", "\"valid_max\": 5", "nan" },
    { "<f4", "5.5", "\"valid_max\": 5.5", "33" },
    /* packed */
    { "<i2", "5", "\"scale_factor\": 0.5", "15" },
    { "<i2", "5", "\"add_offset\": 0.5", "33" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"add_offset\": 1", "21" },
    { "<i2", "5", "\"scale_factor\": 2", "60" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"missing_value\": 5", "nan" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"missing_value\": 2.5", "15" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"valid_max\": 4", "nan" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"valid_range\": [0, 5]", "15" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"valid_range\": [0.0, 2.5]", "15" },
    { "<i2", "5", "\"scale_factor\": 0.5, \"valid_range\": [0.0, 2.4]", "nan" },
    { "<i2", "5", "\"scale_factor\": -0.5, \"valid_min\": -2.0", "nan" },
    { "<i2", "5", "\"scale_factor\": -0.5, \"valid_max\": -2.0", "-15" },
    { "<i2", "5", "\"scale_factor\": 0.0, \"add_offset\": 2.5, \"valid_max\": 2.0", "nan" },
    { "<i2", "5", "\"scale_factor\": 0.0, \"add_offset\": 2.5, \"valid_max\": 3.0", "15" },
    { "<i4", "5", "\"scale_factor\": 0.5, \"valid_min\": 2.5", "15" },
    { "<f4", "5", "\"scale_factor\": 0.5, \"valid_min\": 2.5", "15" },
    { "<f8", "5", "\"scale_factor\": 0.5, \"valid_max\": 2.0", "nan" },
    /* signs */
    { "|i1", "-1", "\"_Unsigned\": \"true\"", "1530" },
    { "|u1", "255", "\"_Unsigned\": \"false\"", "-6" },
    { "|u1", "255", "\"_Unsigned\": \"true\"", "1530" },
    { "|i1", "-1", "\"_Unsigned\": \"false\"", "-6" },
    { "|i1", "-1", "\"_Unsigned\": \"odd\"", "-6" },
    { "|i1", "-1", "\"_Unsigned\": \"true\", \"missing_value\": -1", "nan" },
    { "|i1", "-1", "\"_Unsigned\": \"true\", \"missing_value\": 255", "nan" },
    { "|i1", "-1", "\"_Unsigned\": \"true\", \"valid_range\": [0, -2]", "nan" },
    { "|i1", "-1", "\"_Unsigned\": \"true\", \"scale_factor\": 0.5", "765" },
    { "<f4", "5.5", "\"_Unsigned\": \"true\"", "33" },
};

START_TEST(packed_values)
{
    char text[1000];

    make_store();
    snprintf(text, sizeof text, "{" OLD ", \"dtype\": \"%s\", \"fill_value\": %s}",
             packed[_i].dtype, packed[_i].value);
    write_bytes("z.zarr/.zarray", text, strlen(text));
    snprintf(text, sizeof text, "{%s}", packed[_i].attributes);
    write_bytes("z.zarr/.zattrs", text, strlen(text));
    snprintf(text, sizeof text, "%s %s {%s}", packed[_i].dtype, packed[_i].value,
             packed[_i].attributes);
    says(sum, "z.zarr", text, packed[_i].sum);
}
END_TEST

static void set_up(void)
{
    begin("stores");
}

int main(void)
{
    Suite   *suite  = suite_create("command_stores");
    TCase   *tc     = tcase_create("command_stores");
    SRunner *runner = srunner_create(suite);

    tcase_add_unchecked_fixture(tc, set_up, end);
    tcase_add_loop_test(tc, stores_by_metadata, 0, COUNT(stores));
    tcase_add_loop_test(tc, missing_values, 0, COUNT(missing));
    tcase_add_test(tc, shuffled_chunk);
    tcase_add_loop_test(tc, packed_values, 0, COUNT(packed));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#else
int main(void)
{
    puts("no JSON in this build");
    return 77;
}
#endif
