/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by all models: a run of the correct source, then a run for each seeded defect, which must
 * fail. Defects are every memory_order of the source, weakened one at a time by one step, and the
 * protocol defects that a model names.
 *
 * usage: MODEL [SCHEDULES]	(100000)
 *
 * A schedule's number is its seed: the same schedule has the same number everywhere.
 */
#ifndef IVL_MODEL_HPP
#define IVL_MODEL_HPP

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "atomics.h"

/* The protocol defect of this run; NULL: none. */
inline const char *ivl_defect;

inline bool ivl_has_defect(const char *name)
{
	return ivl_defect && !strcmp(ivl_defect, name);
}

/* The schedule that fails, and why; 0: none does. */
struct ivl_failure {
	rl::iteration_t schedule;
	std::string why;
};

/*
 * A suite whose defects show only when a thread pauses for long defines SWITCHES: all schedules
 * with up to that many switches between threads are tried.
 */
template <typename suite, typename = void> struct ivl_switches {
	static const int most = 0;
};
template <typename suite> struct ivl_switches<suite, std::void_t<decltype(suite::SWITCHES)>> {
	static const int most = suite::SWITCHES;
};

template <typename suite> ivl_failure ivl_simulate(rl::iteration_t schedules, bool show)
{
	rl::ostringstream output, progress;
	rl::test_params params;

	params.iteration_count = schedules;
	params.output_stream = &output;
	params.progress_stream = &progress;
	params.execution_depth_limit = 20000;
	if (ivl_switches<suite>::most) {
		params.search_type = rl::fair_context_bound_scheduler_type;
		params.context_bound = ivl_switches<suite>::most;
	}
	if (rl::simulate<suite>(params))
		return {};
	if (show)
		std::cerr << output.str() << std::endl;
	return { params.stop_iteration, rl::test_result_str(params.test_result) };
}

template <typename... suites> class ivl_model {
public:
	/*
	 * `unneeded`: weakenings that no schedule of relacy shows, as "function order to", once for
	 * each in that function; the model says why. They run all their schedules, so these are
	 * limited to a short run's number.
	 */
	static int main(int argc, char **argv, std::initializer_list<const char *> defects,
			std::vector<std::string> unneeded = {})
	{
		const rl::iteration_t usual = 100000;
		rl::iteration_t schedules = argc > 1 ? strtoull(argv[1], NULL, 10) : usual;
		rl::map<ivl_site, const char *>::type sites;
		int failed = 0;

		ivl_sites = &sites;
		ivl_failure failure = run(schedules, true);
		ivl_sites = NULL;
		report("no defect", failure);
		failed += failure.schedule != 0;

		for (const char *defect : defects) {
			ivl_defect = defect;
			failure = run(schedules, false);
			report(defect, failure);
			failed += failure.schedule == 0;
		}
		ivl_defect = NULL;

		for (const auto &met : sites) {
			for (rl::memory_order to : weaker(std::get<2>(met.first))) {
				std::string name = std::string(std::get<0>(met.first)) + " " +
						   rl::format(std::get<2>(met.first)) + " " +
						   rl::format(to);

				auto known = std::find(unneeded.begin(), unneeded.end(), name);
				const bool needed = known == unneeded.end();

				ivl_weakened = { met.first, to };
				failure = run(needed ? schedules : std::min(schedules, usual), false);
				report((name + " (" + base(met.second) + ":" +
					std::to_string(std::get<1>(met.first)) + ")").c_str(),
				       failure);
				if (failure.schedule)
					continue;
				if (needed)
					failed++;
				else
					unneeded.erase(known);
			}
		}
		ivl_weakened = {};
		for (const std::string &name : unneeded) {
			printf("%s: listed as unneeded, but it is needed\n", name.c_str());
			failed++;
		}
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;
	}

private:
	static ivl_failure run(rl::iteration_t schedules, bool show)
	{
		ivl_failure failure = {};

		(void)((failure = ivl_simulate<suites>(schedules, show), failure.schedule) || ...);
		return failure;
	}

	static void report(const char *name, const ivl_failure &failure)
	{
		if (failure.schedule)
			printf("%-72s schedule %llu: %s\n", name,
			       (unsigned long long)failure.schedule, failure.why.c_str());
		else
			printf("%-72s no failure\n", name);
		fflush(stdout);
	}

	static const char *base(const char *file)
	{
		const char *slash = strrchr(file, '/');

		return slash ? slash + 1 : file;
	}

	/* One step weaker: what fails so fails when weaker still. */
	static std::vector<rl::memory_order> weaker(rl::memory_order order)
	{
		switch (order) {
		case rl::mo_seq_cst:
			return { rl::mo_acq_rel };
		case rl::mo_acq_rel:
			return { rl::mo_acquire, rl::mo_release };
		case rl::mo_acquire:
		case rl::mo_release:
			return { rl::mo_relaxed };
		default:
			return {};
		}
	}
};

#endif
