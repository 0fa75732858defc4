// RUN: weft-opt %s --verify-diagnostics --split-input-file

schedule.sequence @a_loop_for_a_block {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{takes a block as handle 0, not a !schedule.loop}}
  %j = schedule.get_loops %i -> 1
}

// -----

schedule.sequence @too_few_handles {
  %b = schedule.get_block @b
  // expected-error @+1 {{takes block loop, not 1 handles}}
  schedule.compute_at %b
}

// -----

schedule.sequence @no_handles_for_many {
  // expected-error @+1 {{takes loop+, not 0 handles}}
  schedule.reorder
}

// -----

schedule.sequence @two_inferred_factors {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{at most one factor is left to be inferred}}
  %j, %k = schedule.split %i, [?, ?] -> 2
}

// -----

schedule.sequence @more_loops_than_factors {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{2 factors give as many loops, not 3}}
  %j, %k, %l = schedule.split %i, [?, 2] -> 3
}

// -----

schedule.sequence @a_factor_that_is_no_number {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{factors are integers, handles, maps of the function's sizes, and at most one '?'}}
  %j, %k = schedule.split %i, [?, "two"] -> 2
}

// -----

schedule.sequence @an_unknown_parameter {
  %b = schedule.get_block @b
  // expected-error @+1 {{schedule.cache_write has no parameter 'scop'; did you mean 'scope'}}
  %c = schedule.cache_write %b {index = 0, scop = "local"}
}

// -----

schedule.sequence @a_decision_of_another_length {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{the decision has 3 factors, for 2 results}}
  %j, %k = schedule.sample_perfect_tile %i {max_innermost = 16, decision = [1, 2, 3]} -> 2
}

// -----

schedule.sequence @a_last_factor_of_at_most_none {
  %b = schedule.get_block @b
  %i = schedule.get_loops %b -> 1
  // expected-error @+1 {{max_innermost is at least 1, or -1 for any factor, not 0}}
  %j, %k = schedule.sample_perfect_tile %i {max_innermost = 0} -> 2
}

// -----

schedule.sequence @no_such_candidate {
  // expected-error @+1 {{there is no candidate 2}}
  %n = schedule.sample_categorical {candidates = [1, 2], probs = [0.5, 0.5], decision = 2}
}

// -----

schedule.sequence @neither_read_nor_written {
  %b = schedule.get_block @b
  // expected-error @+1 {{buffer is "read" or "write"}}
  %c = schedule.reindex %b {buffer = "both", index = 0}
}

// -----

schedule.sequence @what_is_no_instruction {
  // expected-error @-1 {{holds instructions of the schedule dialect only, not 'arith.constant'}}
  %c = arith.constant 1 : index
}

// -----

// expected-error @+1 {{stands outside of a schedule.sequence}}
schedule.enter_postproc
