/* dice.c - chance, reproducible from a seed. */
#include "sweep.h"
#include <math.h>

/* splitmix64 */
uint64_t sweep_random(dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15U;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

int sweep_roll(dice *d, int n)
{
    return (int)(sweep_random(d) % (uint64_t)n);
}

double sweep_between(dice *d, double lo, double hi)
{
    return lo + (hi - lo) * (double)(sweep_random(d) >> 11) * 0x1p-53;
}

bool sweep_chance(dice *d, double share)
{
    return sweep_between(d, 0, 1) < share;
}

int64_t sweep_log_between(dice *d, double lo, double hi)
{
    return (int64_t)exp(sweep_between(d, log(lo), log(hi + 1)));
}

int sweep_weighted(dice *d, const int *weights, int n)
{
    int sum = 0, at, k = 0;

    for (int i = 0; i < n; i++)
        sum += weights[i];
    for (at = sweep_roll(d, sum); at >= weights[k]; k++)
        at -= weights[k];
    return k;
}
