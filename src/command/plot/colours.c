/* colours.c - colour maps. The sequential map interpolates colours of viridis (van der Walt and
 * Smith, 2015, CC0). The diverging map is that of Moreland (2009, "Diverging Color Maps for
 * Scientific Visualization"): straight lines in Msh, which is polar CIELAB, from both ends to
 * white in the middle. */
#include "plot/colours.h"
#include <math.h>

/* Interpolates linearly between two colours. */
static cmd_colour interpolate(cmd_colour a, cmd_colour b, double t)
{
    return (cmd_colour){ a.red + t * (b.red - a.red), a.green + t * (b.green - a.green),
                         a.blue + t * (b.blue - a.blue) };
}

/* Returns the colour of t in the sequential map, between the two nearest of its stops. */
static cmd_colour sequential(double t)
{
    static const unsigned char stop[][3] = { { 68, 1, 84 },    { 71, 45, 123 },  { 59, 82, 139 },
                                             { 44, 114, 142 }, { 33, 145, 140 }, { 40, 174, 128 },
                                             { 94, 201, 98 },  { 173, 220, 48 }, { 253, 231, 37 } };
    enum { LAST = sizeof stop / sizeof *stop - 1 };
    const int  k = t >= 1 ? LAST - 1 : (int)(t * LAST);
    cmd_colour c[2];

    for (int j = 0; j < 2; j++)
        c[j] =
            (cmd_colour){ stop[k + j][0] / 255.0, stop[k + j][1] / 255.0, stop[k + j][2] / 255.0 };
    return interpolate(c[0], c[1], t * LAST - k);
}

/* Converts linear light to sRGB by the curve of its standard, clamped to [0, 1]. */
static double from_linear(double x)
{
    x = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Inverts the nonlinear function of CIELAB. */
static double from_lab(double t)
{
    return t > 6.0 / 29 ? t * t * t : 3 * 36.0 / 841 * (t - 4.0 / 29);
}

/* Converts a colour from Msh (magnitude, saturation, hue angle) to CIELAB, then XYZ, then sRGB. */
static cmd_colour from_msh(double m, double s, double h)
{
    const double l = m * cos(s), a = m * sin(s) * cos(h), b = m * sin(s) * sin(h);
    const double y = (l + 16) / 116, X = 0.9505 * from_lab(y + a / 500), Y = from_lab(y),
                 Z = 1.089 * from_lab(y - b / 200);

    return (cmd_colour){ from_linear(3.2406 * X - 1.5372 * Y - 0.4986 * Z),
                         from_linear(-0.9689 * X + 1.8758 * Y + 0.0415 * Z),
                         from_linear(0.0557 * X - 0.2040 * Y + 1.0570 * Z) };
}

/* Returns the colour of t in the diverging map: `far` is the distance from the middle, 0 to 1. */
static cmd_colour diverging(double t)
{
    /* M, s and h of blue and red; `beside`: the hue of white on each side, so hues stay */
    static const double end[2][3] = { { 80, 1.08, -1.1 }, { 80, 1.08, 0.5 } };
    static const double middle = 96, beside[2] = { -1.912, 1.312 };
    const int           side = t > 0.5;
    const double        far  = fabs(2 * t - 1);

    return from_msh(middle + far * (end[side][0] - middle), far * end[side][1],
                    beside[side] + far * (end[side][2] - beside[side]));
}

/* Returns the colour of t, clamped to [0, 1], in one of the two maps. */
cmd_colour cmd_colour_of(double t, bool is_diverging)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return is_diverging ? diverging(t) : sequential(t);
}

/* Returns the colour of line k; colours repeat after seven lines. */
cmd_colour cmd_line_colour(int k)
{
    static const unsigned char colour[][3] = { { 0, 114, 178 },   { 213, 94, 0 },   { 0, 158, 115 },
                                               { 204, 121, 167 }, { 86, 180, 233 }, { 230, 159, 0 },
                                               { 0, 0, 0 } };
    const unsigned char       *c           = colour[k % (int)(sizeof colour / sizeof *colour)];

    return (cmd_colour){ c[0] / 255.0, c[1] / 255.0, c[2] / 255.0 };
}
