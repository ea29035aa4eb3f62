/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order in which Hilbert's curve visits the children of a tree's cell, so that
 * what follows one another along the tree is close together in space: a zone of equal
 * work is then one compact region.
 *
 * J. P. Singh, C. Holt et al., "Load Balancing and Data Locality in Adaptive
 * Hierarchical N-body Methods" (J. Parallel Distrib. Comput. 27, 1995), number the
 * children so. The algebra is that of C. Hamilton, "Compact Hilbert Indices" (Dalhousie
 * University CS-2006-07, 2006).
 */
#ifndef NBODY_HILBERT_H
#define NBODY_HILBERT_H

/* How the curve lies in a cell; all zero in the root. */
struct hilbert {
	unsigned int entry, direction;
};

/*
 * The child that the curve visits as number `step` (0 .. 2^dimensions - 1) in a cell
 * where it lies as `curve` says, and in *inside how it lies in that child. Bit k of a
 * child's number: the upper half along axis k.
 */
unsigned int hilbert_child(unsigned int dimensions, struct hilbert curve, unsigned int step,
			   struct hilbert *inside);

#endif
