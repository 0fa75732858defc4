"""What plan-devices does: which devices there are, where every value has to be, where it is, and what that makes of the
module. `planned_devices` tells other passes."""
