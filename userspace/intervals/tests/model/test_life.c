// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Conway's game of life on tiles: a tile's next generation waits only for the previous generation of
 * its neighbours. There is no barrier.
 */
#include "test_model.h"

#define GENERATIONS 20
#define LARGEST 60

struct life {
	int rows, columns, tile;
	/* Generation g is in board[g % 2]; around it is a rim of dead cells. */
	unsigned char board[2][LARGEST + 2][LARGEST + 2];
};

struct tile {
	struct life *life;
	int generation, row, column;	/* the first; counted from 1 */
};

static void next_generation(struct life *life, int generation, int row, int column)
{
	unsigned char (*old)[LARGEST + 2] = life->board[generation % 2];
	int neighbours = -old[row][column];

	for (int r = row - 1; r <= row + 1; r++)
		for (int c = column - 1; c <= column + 1; c++)
			neighbours += old[r][c];
	life->board[(generation + 1) % 2][row][column] =
		neighbours == 3 || (neighbours == 2 && old[row][column]);
}

OK_BODY(run_tile, struct tile *t)
{
	for (int r = t->row; r < t->row + t->life->tile && r <= t->life->rows; r++)
		for (int c = t->column; c < t->column + t->life->tile && c <= t->life->columns; c++)
			next_generation(t->life, t->generation, r, c);
}

static struct tile tiles[GENERATIONS][LARGEST][LARGEST];
static ivl_interval *intervals[GENERATIONS][LARGEST][LARGEST];

/* Wait for the previous generation of the neighbouring tiles. */
static void wait_for_neighbours(int generation, int row, int column, int rows, int columns)
{
	for (int r = row - 1; r <= row + 1; r++)
		for (int c = column - 1; c <= column + 1; c++)
			if (r >= 0 && r < rows && c >= 0 && c < columns)
				before(intervals[generation - 1][r][c],
				       intervals[generation][row][column]);
}

OK_BODY(play, struct life *life)
{
	const int rows = (life->rows + life->tile - 1) / life->tile;
	const int columns = (life->columns + life->tile - 1) / life->tile;

	for (int g = 0; g < GENERATIONS; g++) {
		for (int r = 0; r < rows; r++) {
			for (int c = 0; c < columns; c++) {
				tiles[g][r][c] = (struct tile){
					life, g, r * life->tile + 1, c * life->tile + 1,
				};
				intervals[g][r][c] = make(self, NULL, run_tile, &tiles[g][r][c]);
				if (g)
					wait_for_neighbours(g, r, c, rows, columns);
			}
		}
	}
	for (int g = 0; g < GENERATIONS; g++)
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < columns; c++)
				ivl_release(intervals[g][r][c]);
}

static void check_game(int rows, int columns, int tile)
{
	static struct life life, reference;
	unsigned int random = (unsigned int)(rows * 100 + columns);

	memset(&life, 0, sizeof(life));
	life.rows = rows;
	life.columns = columns;
	life.tile = tile;
	for (int r = 1; r <= rows; r++) {
		for (int c = 1; c <= columns; c++) {
			random = random * 1103515245 + 12345;
			life.board[0][r][c] = random >> 30 & 1;
		}
	}
	reference = life;
	for (int g = 0; g < GENERATIONS; g++)
		for (int r = 1; r <= rows; r++)
			for (int c = 1; c <= columns; c++)
				next_generation(&reference, g, r, c);
	assert_int_equal(run_body(play, &life), 0);
	assert_memory_equal(life.board, reference.board, sizeof(life.board));
}

TEST(plays_life)
{
	check_game(1, 1, 1);
	check_game(3, 5, 1);
	check_game(7, 7, 2);
	check_game(20, 13, 4);
	check_game(30, 30, 30);
	for (int i = 0; i < 5; i++) {
		check_game(LARGEST, LARGEST, 10);
		check_game(40, LARGEST, 3);
	}
}

TEST_MAIN(model_start, model_stop)
