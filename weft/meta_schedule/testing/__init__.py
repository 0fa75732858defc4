"""What tests of design spaces need (`tvm.meta_schedule.testing`)."""

from . import dummy_object as dummy_object
from . import space_generation as space_generation
from . import te_workload as te_workload
