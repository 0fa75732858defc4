"""Steps of a trace (`tvm.tir.schedule.instruction`)."""

from ...transforms.tir.scheduling.instruction import Instruction as Instruction
from ...transforms.tir.scheduling.instruction import InstructionKind as InstructionKind
