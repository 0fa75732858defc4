"""The types of devices, by name and by number."""

from __future__ import annotations

DEVICE_TYPES: dict[str, int] = {
    "cpu": 1,
    "cuda": 2,
    "cuda_host": 3,
    "opencl": 4,
    "vulkan": 7,
    "metal": 8,
    "vpi": 9,
    "rocm": 10,
    "rocm_host": 11,
    "ext_dev": 12,
    "webgpu": 15,
    "hexagon": 16,
    "aocl": 32,
    "sdaccel": 33,
}
"""The device types, and the numbers that TVM's options use: DLPack's, and from 32 on its own."""
