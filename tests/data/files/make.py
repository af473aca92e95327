"""Makes the files beside it, which tests/command/test_command_files.c reads: python3 make.py, with NumPy, h5py and
netCDF4."""
import io
import zipfile

import h5py
import netCDF4
import numpy as np
from h5py import h5d, h5p, h5s, h5t


def put(file, name, stored, memory, values):
    """A dataset of a type that NumPy has not; the library converts what it is given."""
    data = np.asarray(values)
    space = h5s.create_simple(data.shape)
    how = h5p.create(h5p.DATASET_CREATE)
    how.set_obj_track_times(False)
    h5d.create(file.id, name.encode(), stored, space, how).write(h5s.ALL, h5s.ALL, data, memory)


def float_type(size, order, precision, offset, fields, bias):
    t = h5t.IEEE_F64LE.copy() if size > 4 else h5t.IEEE_F32LE.copy()
    t.set_fields(*fields)
    t.set_offset(offset)
    t.set_precision(precision)
    t.set_size(size)
    t.set_ebias(bias)
    t.set_order(order)
    return t


def integer_type(base, precision, offset):
    t = base.copy()
    t.set_precision(precision)
    t.set_offset(offset)
    return t


def types():
    f = h5py.File("types.h5", "w", libver=("earliest", "v110"))
    one_two = np.array([1.5, -2.0, np.inf, 6e-8])
    f["half_le"] = one_two.astype("<f2")
    f["half_be"] = one_two.astype(">f2")
    f.create_dataset("half_chunks", data=np.arange(40).astype(">f2"), chunks=(7,), shuffle=True, compression=4)
    # bits: sign, exponent at, exponent bits, mantissa at, mantissa bits
    f32 = np.array([1.5, -2.25, 2.0**-126, 2.0**-130, np.inf, np.nan], dtype="<f4")
    for name, order in ("brain_le", h5t.ORDER_LE), ("brain_be", h5t.ORDER_BE):
        put(f, name, float_type(2, order, 16, 0, (15, 7, 8, 0, 7), 127), h5t.IEEE_F32LE, f32)
    put(f, "three_bytes", float_type(3, h5t.ORDER_LE, 24, 0, (23, 16, 7, 0, 16), 63), h5t.IEEE_F64LE,
        np.array([1.5, -2.25, 2.0**-62, 2.0**-66, 1 + 2.0**-16, np.inf, np.nan]))
    put(f, "shifted", float_type(4, h5t.ORDER_BE, 24, 4, (27, 20, 7, 4, 16), 63), h5t.IEEE_F64LE,
        np.array([1.5, -2.25, 2.0**-62, 1 + 2.0**-16]))
    # the size of f32 and the exponent of f64
    put(f, "wide_exponent", float_type(4, h5t.ORDER_LE, 32, 0, (31, 20, 11, 0, 20), 1023), h5t.IEEE_F64LE,
        np.array([1.5, -1e300, 2.0**-1022]))
    # the layout of f32 but for the bias
    put(f, "other_bias", float_type(4, h5t.ORDER_LE, 32, 0, (31, 23, 8, 0, 23), 128), h5t.IEEE_F64LE,
        np.array([1.5, -2.25, 2.0**-127]))
    f["long_double"] = np.array([1, 2], dtype=np.longdouble)
    put(f, "twelve_bits", integer_type(h5t.STD_U16LE, 12, 2), h5t.STD_U16LE, np.array([0, 1, 4095], dtype="<u2"))
    put(f, "nine_signed", integer_type(h5t.STD_I16BE, 9, 5), h5t.STD_I32LE, np.array([-256, -1, 255], dtype="<i4"))
    big = h5t.STD_I64LE.copy()
    big.set_size(16)
    big.set_precision(100)
    put(f, "hundred_bits", big, h5t.STD_I64LE, np.array([1, 2], dtype="<i8"))
    three = h5t.STD_U32BE.copy()
    three.set_precision(24)
    three.set_size(3)
    put(f, "three_byte_ints", three, h5t.STD_U32LE, np.array([0, 70000, 2**24 - 1], dtype="<u4"))
    f["flags"] = np.array([True, False, True])
    f.create_dataset("switch", data=np.array([0, 5, 5], dtype="u1"),
                     dtype=h5py.enum_dtype({"OFF": 0, "ON": 5}, basetype="u1"))
    f.create_dataset("colour", data=np.array([-1, 70000, 70000]).astype(">i4"),
                     dtype=h5py.enum_dtype({"RED": -1, "BLUE": 70000}, basetype=">i4"))
    z = np.array([1 + 2j, 3 - 4j])
    f["c64"] = z.astype("<c8")
    f["c64_be"] = z.astype(">c8")
    f["c128"] = z
    f.create_dataset("c128_chunks", data=np.arange(40) * (1 - 2j), chunks=(7,), shuffle=True, compression=4)
    f.create_dataset("c128_shuffled", data=np.arange(40) * (1 - 2j), chunks=(8,), shuffle=True)
    swapped = np.zeros(2, dtype={"names": ["i", "r"], "formats": ["<f8", "<f8"], "offsets": [0, 8], "itemsize": 24})
    swapped["r"], swapped["i"] = z.real, z.imag
    f["imaginary_first"] = swapped
    matlab = np.zeros(2, dtype=[("real", "<f8"), ("imag", "<f8")])
    matlab["real"], matlab["imag"] = z.real, z.imag
    f["matlab"] = matlab
    f["pairs_of_ints"] = np.zeros(2, dtype=[("r", "<i4"), ("i", "<i4")])
    f["records"] = np.zeros(2, dtype=[("a", "<i4"), ("b", "<f8")])
    f["texts"] = np.array([b"ab", b"cd"])
    f["lists"] = np.array([np.arange(2), np.arange(3)], dtype=object).astype(h5py.vlen_dtype("<i4"))
    f.create_dataset("references", data=[f["c64"].ref], dtype=h5py.ref_dtype)
    put(f, "bits", h5t.STD_B8LE, h5t.STD_B8LE, np.array([1, 2], dtype="u1"))
    f.create_dataset("arrays", shape=(2,), dtype=np.dtype(("<i4", (3,))))
    f.close()


def user_blocks():
    for name, block, begin in ("matlab.mat", 512, b"MATLAB 7.3 MAT-file"), ("block_4096.h5", 4096, b""):
        f = h5py.File(name, "w", userblock_size=block, libver=("earliest", "v110"))
        f["a"] = np.arange(3.0)
        f.create_dataset("chunks", data=np.arange(40), chunks=(7,), compression=4)
        f.create_dataset("runs", data=np.arange(40), chunks=(8,))
        f.close()
        with open(name, "r+b") as file:
            file.write(begin)


def groups():
    f = h5py.File("groups.h5", "w", libver=("earliest", "v110"))
    f["a/v"] = np.array([1.0, 2.0])
    f["b/v"] = np.array([3.0, 4.0])
    f["a/one"] = np.array([5.0])
    f["c/one"] = f["a/one"]  # the same dataset
    f["b/again"] = f["a"]  # the same group
    f["a/up"] = f["/"]  # a cycle
    f["soft"] = h5py.SoftLink("/a")
    f["soft_one"] = h5py.SoftLink("/a/one")
    f["nowhere"] = h5py.SoftLink("/nothing")
    f["outside"] = h5py.ExternalLink("no_such_file.h5", "/v")
    f["null"] = h5py.Empty("f4")
    f["/".join("d%d" % k for k in range(40)) + "/deep"] = np.array([6.0])
    f["broken"] = np.array([7.0])
    f["broken_attribute"] = np.array([8.0])
    f["broken_attribute"].attrs["units"] = np.bytes_("unusual")
    f["root"] = np.array([9.0])
    header = h5py.h5o.get_info(f["broken"].id).addr
    f.close()
    with open("groups.h5", "r+b") as file:
        file.seek(header)
        file.write(b"\xff" * 16)
        file.seek(0)
        text = file.read()
        file.seek(text.rindex(b"units\0", 0, text.index(b"unusual")) - 8)
        file.write(b"\xff")  # the version of the attribute's message


def members():
    for name, method in ("stored.npz", zipfile.ZIP_STORED), ("deflated.npz", zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(name, "w", method) as archive:
            for member, array in (("indices", np.arange(3)), ("format", np.array(b"csr")),
                                  ("lost", np.arange(40)), ("a/v", np.arange(2.0)), ("b/v", np.arange(2.0)),
                                  ("objects", np.array([None])), ("data", np.arange(2000.0))):
                bytes_ = io.BytesIO()
                np.lib.format.write_array(bytes_, array)
                archive.writestr(zipfile.ZipInfo(member + ".npy"), bytes_.getvalue(), method)
            archive.writestr(zipfile.ZipInfo("README.txt"), "Not an array.", method)
            offset = archive.getinfo("lost.npy").header_offset
        with open(name, "r+b") as file:
            file.seek(offset)
            file.write(b"lost")
            file.seek(0)
            at = file.read().rindex(b"PK\1\2")  # README.txt, which is said to be encrypted
            file.seek(at + 8)
            file.write(b"\1")


def packing():
    """Written with netCDF4, but for attributes whose type that would make the variable's own."""
    f = netCDF4.Dataset("packing.nc", "w")
    f.createDimension("x", 5)
    f.set_auto_mask(False)

    def variable(name, kind, values, fill=None, **attributes):
        v = f.createVariable(name, kind, "x", fill_value=fill)
        v.set_auto_maskandscale(False)
        v[: len(values)] = np.array(values, dtype=kind)
        for key, value in attributes.items():
            v.setncattr(key, value)

    big = 2**63
    variable("range64", "i8", [3 - big, 4 - big, big - 2, big - 1, 0], valid_range=np.array([4 - big, big - 2]))
    variable("range_u64", "u8", [0, 1, 2 * big - 4, 2 * big - 3, 2 * big - 1],
             valid_range=np.array([1, 2 * big - 3], dtype="u8"))
    variable("missing64", "i8", [2**53 + 2, 2**53 + 3, 2**53 + 4, 2**53 + 5, 0], fill=2**53 + 3,
             missing_value=np.array([2**53 + 5, 1, 2, 4, 5]))
    variable("turned32", "i4", [-1, -2, 5, 0, 1], fill=-1, _Unsigned="true")
    variable("turned64", "i8", [-1, -2, 5, 0, 1], fill=-1, _Unsigned="true")
    variable("turned_back", "u1", [255, 1, 2, 254, 127], fill=255, _Unsigned="false")
    steps = dict(scale_factor=np.float32(0.01), add_offset=np.float32(20))
    for name in "of_floats", "of_doubles", "of_packed", "of_ints":
        variable(name, "i2", [-1000, -1001, 0, 2000, 2001], **steps)
    variable("falling", "i2", [-1000, -1001, 0, 2000, 2001], scale_factor=np.float32(-0.01), add_offset=np.float32(20))
    for name, kind in (("i2", "i2"), ("i4", "i4"), ("i8", "i8"), ("u2", "u2"), ("u4", "u4"), ("u8", "u8"),
                       ("f4", "f4"), ("f8", "f8"), ("i1", "i1"), ("u1", "u1")):
        variable("part_" + name, kind, [1, 2])
    variable("whole", "i8", [2**53 + 1, 2, 3, 4, 5])
    variable("part_packed", "i2", [0, 100], **steps)
    f.createVariable("no_fill", "f4", "x", fill_value=False)[:] = netCDF4.default_fillvals["f4"]
    f.close()
    f = h5py.File("packing.nc", "r+")
    for name, kind, low, high in (("of_floats", "f4", 10, 40), ("of_doubles", "f8", 10, 40), ("of_packed", "i2", -1000, 2000),
                                  ("of_ints", "i4", -1000, 2000), ("falling", "f4", 0, 30)):
        f[name].attrs.create("valid_min", np.array([low], dtype=kind))
        f[name].attrs.create("valid_max", np.array([high], dtype=kind))
    f.close()


def netcdf_types():
    f = netCDF4.Dataset("user_types.nc", "w")
    f.createDimension("x", 2)
    sky = f.createEnumType("u2", "sky", {"clear": 0, "cloudy": 7})
    f.createVariable("clouds", sky, "x", fill_value=False)[:] = [7, 0]
    for name, part in ("c128", "f8"), ("c64", "f4"):
        pair = np.dtype([("r", part), ("i", part)])
        z = f.createVariable(name, f.createCompoundType(pair, "complex_" + name), "x")
        z[:] = np.array([(1, 2), (3, -4)], dtype=pair)
    point = np.dtype([("lat", "f4"), ("lon", "f4")])
    f.createVariable("points", f.createCompoundType(point, "point"), "x")[:] = np.zeros(2, dtype=point)
    f.createVariable("texts", str, "x")[:] = np.array(["a", "b"], dtype=object)
    f.createVariable("letters", "S1", "x")[:] = np.array([b"a", b"b"])
    lists = f.createVariable("lists", f.createVLType("i4", "row"), "x")
    lists[0] = np.arange(2, dtype="i4")
    f.close()


def records():
    days = np.array(["2000-01-01", "2000-01-02", "2000-03-01T12:30", "2000-03-02"], dtype="M8[s]")
    part = np.dtype([("a", ">i2"), ("b", "f8", (2, 3))])
    kind = np.dtype([("time", "M8[s]"), ("x", "f4"), ("name", "U5"), ("part", part, (2,)), ("c", ">c8"), ("flag", "?")])
    r = np.zeros(4, kind)
    r["time"], r["x"], r["c"], r["flag"] = days, [1, 2, 3, np.nan], [1 + 2j] * 4, [1, 0, 1, 1]
    r["part"]["a"], r["part"]["b"] = np.arange(8).reshape(4, 2), np.arange(48).reshape(4, 2, 2, 3)
    np.save("records.npy", r)
    np.savez("records.npz", r=r, days=days)
    np.savez_compressed("records_deflated.npz", r=r, days=days)
    aligned = np.zeros((2, 3), np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True))
    aligned["b"] = np.arange(6).reshape(2, 3)
    aligned["c"] = -aligned["b"]
    np.save("records_fortran.npy", np.asfortranarray(aligned))
    np.save("records_objects.npy", np.zeros(3, [("a", "f4"), ("o", "O")]))
    np.save("dates_missing.npy", np.array(["2000-01-01", "NaT", "1969-12-31T23:59:59.123456789"], dtype="M8[ns]"))
    np.save("dates_whole.npy", np.array(["2000-01-01", "1969-12-31T23:59:59.123456789"], dtype="M8[ns]"))
    np.save("dates_months.npy", np.array(["1969-12", "2000-02", "NaT"], dtype=">M8[M]"))
    np.save("dates_years.npy", np.array(["1969", "2000", "-0001"], dtype="M8[Y]"))
    np.save("dates_25s.npy", np.array([1, -5], dtype="M8[25s]"))
    np.save("durations.npy", np.array([1, 5], dtype="m8[D]"))


def zarr_stores():
    """Stores as xarray and zarr-python write them, with each codec, order and kind of keys."""
    import numcodecs
    import xarray as xr
    import zarr
    from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

    days = np.arange("2000-01-01", "2000-01-08", dtype="M8[D]").astype("M8[ns]")
    i = np.arange(7 * 5 * 6).reshape(7, 5, 6)
    lat = ("lat", np.linspace(-20, 20, 5), {"units": "degrees_north"})
    data = {"tas": (("time", "lat", "lon"), np.where(i % 11 == 4, np.nan, 15 + i * 0.1), {"units": "K"}),
            "wind": (("time", "lat", "lon"), np.where(i % 7 == 3, np.nan, i).astype("f4")),
            "count": (("lat", "lon"), i[0])}
    ds = xr.Dataset(data, coords={"time": days, "lat": lat, "lon": ("lon", np.arange(6) * 60.0)})
    packed = {"tas": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 20.0, "_FillValue": -999, "chunks": (2, 3, 4)}}
    for version in 2, 3:
        ds.to_zarr(f"xarray_{version}.zarr", mode="w", zarr_format=version, encoding=packed, consolidated=version == 2)
    x = np.arange(35, dtype="f8").reshape(5, 7)
    group = zarr.open_group("codecs_2.zarr", mode="w", zarr_format=2)

    def put(group, name, data, **how):
        a = group.create_array(name, shape=data.shape, dtype=how.pop("dtype", data.dtype), chunks=(3, 4), **how)
        a[...] = data

    put(group, "plain", x, compressors=None)
    put(group, "zlib", x, compressors=numcodecs.Zlib(3))
    put(group, "gzip", x, compressors=numcodecs.GZip(3))
    put(group, "zstd", x, compressors=numcodecs.Zstd(3))
    put(group, "blosc", x, compressors=numcodecs.Blosc("zstd", 3))
    put(group, "lz4", x, compressors=numcodecs.LZ4())
    put(group, "shuffled", x, compressors=numcodecs.Zlib(3), filters=[numcodecs.Shuffle(8)])
    put(group, "delta", x, compressors=None, filters=[numcodecs.Delta("f8")])
    put(group, "fortran", x, compressors=numcodecs.Zlib(3), order="F")
    put(group, "big", x, compressors=numcodecs.Zlib(3), dtype=">f8")
    put(group, "flags", x % 2 == 1, compressors=None)
    put(group, "pairs", x + 2j * x, compressors=numcodecs.Zlib(3))
    put(group, "inner/slashes", x, compressors=None, chunk_key_encoding={"name": "v2", "separator": "/"})
    holes = group.create_array("holes", shape=(5, 7), chunks=(3, 4), dtype="i4", fill_value=7)
    holes[3:, :4] = 1
    group.create_array("texts", shape=(2,), chunks=(2,), dtype="U3")
    group.create_array("number", shape=(), dtype="f8")[...] = 2.5
    group = zarr.open_group("codecs_3.zarr", mode="w", zarr_format=3)
    put(group, "plain", x, compressors=None)
    put(group, "gzip", x, compressors=GzipCodec())
    put(group, "zstd", x, compressors=ZstdCodec())
    put(group, "blosc", x, compressors=BloscCodec(cname="lz4"))
    put(group, "checked", x, compressors=[ZstdCodec(), Crc32cCodec()])
    put(group, "transposed", x, compressors=ZstdCodec(), filters=TransposeCodec(order=(1, 0)))
    put(group, "big", x, compressors=None, serializer=BytesCodec(endian="big"))
    put(group, "pairs", x + 2j * x, compressors=None)
    put(group, "dots", x, compressors=None, chunk_key_encoding={"name": "v2", "separator": "."})
    put(group, "inner/shards", x, compressors=ZstdCodec(), shards=(6, 4))
    holes = group.create_array("holes", shape=(5, 7), chunks=(3, 4), shards=(6, 4), dtype="f4", fill_value=np.inf)
    holes[3:, 4:] = 1
    group.create_array("texts", shape=(2,), chunks=(2,), dtype=str)
    group.create_array("number", shape=(), dtype="f8")[...] = 2.5


if __name__ == "__main__":
    zarr_stores()
    records()
    types()
    netcdf_types()
    user_blocks()
    groups()
    members()
    packing()
