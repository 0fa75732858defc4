"""Design spaces of schedules under TVM's names (`tvm.meta_schedule`): rules, postprocessors and what applies them."""
