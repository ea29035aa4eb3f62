// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's RayTracer: 64 spheres, which mirror and let light through, under five lights. The
 * suite's published checksums depend on each line of its scene and shading, so these are the
 * suite's: glass does not bend light, distance does not dim it, an object behind a light casts
 * shadows, too, and light through a sphere continues from the reflected ray's last point.
 */
#include "theses.h"

#define SIDE 4			/* of the cube of spheres */
#define SPHERES (SIDE * SIDE * SIDE)
#define RADIUS 3.0
#define LIGHTS 5
#define DEPTH 6			/* of reflections */
#define SHINE 15.0
#define MIRRORED 0.5		/* of the light, and as much comes through */
#define FAINT 1e-3		/* light below this is not followed */
#define NEAR 1e-6

struct vector {
	double x, y, z;
};

struct ray {
	struct vector from, to;	/* `to` is of length 1 */
};

struct hit {
	const struct sphere *sphere;
	double distance;
};

static struct sphere {
	struct vector centre;
	double blue;
} spheres[SPHERES];

static const struct vector lights[LIGHTS] = {
	{ 100, 100, -50 }, { -100, 100, -50 }, { 100, -100, -50 }, { -100, -100, -50 },
	{ 200, 200, 0 },
};

static struct {
	struct vector from, ahead, up, left;
} view;

struct bench_raytracer bench_raytracer;

/* Each pixel row's sum of colours, and the published total. */
static uint64_t *rows, *expected;

static double dot(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a + factor * b */
static struct vector plus(struct vector a, double factor, struct vector b)
{
	return (struct vector){ a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z };
}

static struct vector scaled(struct vector a, double factor)
{
	return (struct vector){ a.x * factor, a.y * factor, a.z * factor };
}

static struct vector normal(struct vector a)
{
	return scaled(a, 1 / sqrt(dot(a, a)));
}

static struct vector cross(struct vector a, struct vector b)
{
	return (struct vector){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
				a.x * b.y - a.y * b.x };
}

/* The distance along the ray; 0: it does not meet the sphere. */
static double distance(const struct sphere *sphere, const struct ray *ray)
{
	struct vector v = plus(sphere->centre, -1, ray->from);
	double b = dot(v, ray->to);
	double square = b * b - dot(v, v) + RADIUS * RADIUS, half, t;

	if (square < 0)
		return 0;
	half = sqrt(square);
	t = b - half < NEAR ? b + half : b - half;
	return t < NEAR ? 0 : t;
}

static bool meets(const struct ray *ray, struct hit *hit)
{
	*hit = (struct hit){ NULL, 1e9 };
	for (unsigned int i = 0; i < SPHERES; i++) {
		double t = distance(&spheres[i], ray);

		if (t != 0 && t < hit->distance)
			*hit = (struct hit){ &spheres[i], t };
	}
	return hit->sphere;
}

static struct vector mirrored(struct vector to, struct vector surface)
{
	return normal(plus(scaled(to, 1 / fabs(dot(to, surface))), 2, surface));
}

/* A light's part of a point's colour. */
static void light_up(struct vector light, const struct ray *seen, struct vector surface,
		     double blue, struct vector *colour)
{
	struct ray shadow = { seen->from, plus(light, -1, seen->from) };
	struct hit hit;
	double shine;

	if (dot(surface, shadow.to) < 0)
		return;
	shadow.to = normal(shadow.to);
	if (meets(&shadow, &hit))
		return;
	colour->z += dot(surface, shadow.to) * blue;
	shine = dot(seen->to, shadow.to);
	if (shine > NEAR)
		*colour = plus(*colour, pow(shine, SHINE), (struct vector){ 1, 1, 1 });
}

/* `met` is the last point that was. */
static struct vector trace(unsigned int level, double weight, const struct ray *ray,
			   struct vector *met)
{
	struct vector colour = { 0, 0, 0 }, surface;
	struct ray reflected, through;
	struct hit hit;

	if (level > DEPTH || !meets(ray, &hit))
		return colour;
	*met = reflected.from = plus(ray->from, hit.distance, ray->to);
	surface = normal(plus(reflected.from, -1, hit.sphere->centre));
	if (dot(ray->to, surface) >= 0)
		surface = scaled(surface, -1);
	reflected.to = mirrored(ray->to, surface);
	for (unsigned int i = 0; i < LIGHTS; i++)
		light_up(lights[i], &reflected, surface, hit.sphere->blue, &colour);
	if (MIRRORED * weight <= FAINT)
		return colour;
	colour = plus(colour, MIRRORED, trace(level + 1, MIRRORED * weight, &reflected, met));
	through = (struct ray){ *met, ray->to };
	return plus(colour, MIRRORED, trace(level + 1, MIRRORED * weight, &through, met));
}

/* 0 to 255. */
static unsigned int shade(double colour)
{
	return colour * 255 > 255 ? 255 : (unsigned int)(colour * 255);
}

/* Other threads' rows may have their sums in the same cache line. */
void raytracer_rows(size_t begin, size_t end)
{
	double n = (double)bench_raytracer.n;

	for (size_t y = begin; y < end; y++) {
		uint64_t sum = 0;

		for (size_t x = 0; x < bench_raytracer.n; x++) {
			double left = 2.0 * (double)x / n - 1, up = 2.0 * (double)y / n - 1;
			struct vector to = plus(scaled(view.left, left), up, view.up), colour;
			struct ray ray = { view.from, normal(plus(to, 1, view.ahead)) };
			struct vector met;

			colour = trace(0, 1, &ray, &met);
			sum += shade(colour.x) + shade(colour.y) + shade(colour.z);
		}
		rows[y] = sum;
	}
}

static void place_spheres(void)
{
	double step = 20.0 / (SIDE - 1);

	for (unsigned int i = 0; i < SPHERES; i++) {
		unsigned int x = i / (SIDE * SIDE), y = i / SIDE % SIDE, z = i % SIDE;

		spheres[i].centre = (struct vector){ step * x - 10, step * y - 10, step * z - 10 };
		spheres[i].blue = (x + y) / (double)(2 * SIDE - 2);
	}
}

/* From (0, 20, -30) at the cube's middle, in an angle of 35 degrees. */
static void place_view(void)
{
	const struct vector up = { 0, 1, 0 };
	double width = tan(35 * 3.14159265 / 180);

	view.from = (struct vector){ 0, 20, -30 };
	view.ahead = normal(scaled(view.from, -1));
	view.left = scaled(normal(cross(up, view.ahead)), width);
	view.up = scaled(normal(plus(up, -dot(up, view.ahead), view.ahead)), -width);
}

/*
 * The checksums that the suite publishes. A few pixels hang on the last bit of a product, and so
 * on the order in which the suite multiplies: ours may differ by 1 in 2000. One light or level of
 * reflections less is ten times as much.
 */
#define TOLERANCE 2000

static const struct {
	size_t n;
	uint64_t sum;
} known[] = { { 150, 2676692 }, { 500, 29827635 } };

static uint64_t known_sum(size_t n)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].n == n)
			return known[i].sum;
	return 0;
}

static int prepare(unsigned int size)
{
	if (bench_raytracer.n != size) {
		bench_raytracer.n = size;
		rows = malloc(size * sizeof(*rows));
		expected = malloc(size * sizeof(*expected));
		if (!rows || !expected)
			return ENOMEM;
		place_spheres();
		place_view();
		raytracer_rows(0, size);
		memcpy(expected, rows, size * sizeof(*rows));
	}
	/* Not 0, which the sum of a black row is. */
	memset(rows, 0xff, size * sizeof(*rows));
	return 0;
}

static bool is_known(uint64_t sum, uint64_t known)
{
	return (sum > known ? sum - known : known - sum) < known / TOLERANCE;
}

/* Unpublished sizes: each row must be what one thread computes. */
static bool check(void)
{
	uint64_t sum = 0, known = known_sum(bench_raytracer.n);

	for (size_t y = 0; y < bench_raytracer.n; y++)
		sum += rows[y];
	return (!known || is_known(sum, known)) &&
	       !memcmp(rows, expected, bench_raytracer.n * sizeof(*rows));
}

const struct bench_kernel bench_kernel_raytracer = {
	.name = "raytracer", .size = 500, .quick_size = 150, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
