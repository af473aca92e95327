/* Lane by lane what gcc's vector extensions have no word for, in plain C: for any processor.
 * Included once for each type. */
static inline V F(max)(V a, V b)
{
    for (int k = 0; k < LANES; k++)
        a[k] = b[k] > a[k] ? b[k] : a[k];
    return a;
}

static inline V F(min)(V a, V b)
{
    for (int k = 0; k < LANES; k++)
        a[k] = b[k] < a[k] ? b[k] : a[k];
    return a;
}

static inline W F(if_greater)(V a, V b, W yes, W no)
{
    for (int k = 0; k < LANES; k++)
        no[k] = a[k] > b[k] ? yes[k] : no[k];
    return no;
}

static inline int F(count_beyond)(V v, V limit)
{
    int n = 0;

    for (int k = 0; k < LANES; k++)
        n += v[k] > limit[k] || -v[k] > limit[k];
    return n;
}

static inline void F(stream)(REAL *p, V v)
{
    *(V *)p = v;
}

static inline double F(total)(V v)
{
    double s = 0;

    for (int k = 0; k < LANES; k++)
        s += v[k];
    return s;
}

static inline V F(running)(V v)
{
    for (int k = 1; k < LANES; k++)
        v[k] += v[k - 1];
    return v;
}

static inline V F(last)(V v)
{
    return (V){ 0 } + v[LANES - 1];
}

static inline V F(round)(V v)
{
    for (int k = 0; k < LANES; k++)
        v[k] = (REAL)rint(v[k]);
    return v;
}

static inline V F(scale)(V p, V n)
{
    for (int k = 0; k < LANES; k++)
        p[k] = (REAL)ldexp(p[k], (int)n[k]);
    return p;
}

static inline void F(transpose)(V *r)
{
    for (int i = 0; i < LANES; i++)
        for (int k = 0; k < i; k++) {
            REAL t  = r[i][k];
            r[i][k] = r[k][i];
            r[k][i] = t;
        }
}
