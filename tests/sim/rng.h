/*  rng.h - random numbers that a seed repeats

    xorshift64*. A plain struct; set up with rng_seed.
*/
#ifndef SIM_RNG_H_INCLUDED
#define SIM_RNG_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} rng_t;

//  Neighbouring seeds give unlike numbers (splitmix64)
static inline void
rng_seed (rng_t *self, uint64_t seed)
{
    uint64_t z = seed + UINT64_C (0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
    z ^= z >> 31;
    self->state = z ? z : 1;
}

static inline uint64_t
rng_next (rng_t *self)
{
    self->state ^= self->state >> 12;
    self->state ^= self->state << 25;
    self->state ^= self->state >> 27;
    return self->state * UINT64_C (2685821657736338717);
}

//  Below limit; 0 when limit is 0
static inline uint64_t
rng_below (rng_t *self, uint64_t limit)
{
    return limit ? (rng_next (self) >> 11) % limit : 0;
}

static inline bool
rng_chance (rng_t *self, unsigned per_mille)
{
    return rng_below (self, 1000) < per_mille;
}

//  One of the values
#define RNG_PICK(rng, type, ...)                                               \
    (((const type[]){__VA_ARGS__})[rng_below (                                 \
        (rng), sizeof ((const type[]){__VA_ARGS__}) / sizeof (type))])

#endif
