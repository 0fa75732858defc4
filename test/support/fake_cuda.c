/* A CUDA driver for machines without a GPU: it keeps memory of its own, counts what it is told, and runs kernels that
   were compiled for this processor, one thread of a block after the other, from one barrier to the next.

   Addresses on the device are not the host's: whoever takes one for the other faults, or is told. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum { INVALID = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, FAILED = 719 };
enum { KERNELS = 256, BLOCKS = 4096, STACK = 64 * 1024, LIMIT = 1 << 26 };

#define FAR ((uint64_t)1 << 62)

typedef void (*kernel_t)(void **);
typedef struct { char name[128]; kernel_t run; char arguments[64]; } kernel;
typedef struct { uint64_t at; size_t size; } memory;

static kernel kernels[KERNELS];
static memory held[BLOCKS];
static int kernel_count, shuffled;
static char told[1 << 16];

static void tell(const char *what) {
  if (strlen(told) + strlen(what) + 2 < sizeof told) strcat(strcat(told, what), "\n");
}

/* Of each argument the first letter of its type: a `ptr` to memory of the device, or an `i64`. */
void fake_register(const char *name, kernel_t run, const char *arguments) {
  int place = 0;
  while (place < kernel_count && strcmp(kernels[place].name, name)) place++;
  if (place == kernel_count) kernel_count++;
  snprintf(kernels[place].name, sizeof kernels[place].name, "%s", name);
  kernels[place].run = run;
  snprintf(kernels[place].arguments, sizeof kernels[place].arguments, "%s", arguments);
}

void fake_shuffle(int order) { shuffled = order; }
const char *fake_told(void) { return told; }
void fake_forget(void) { told[0] = 0; }

size_t fake_held(void) {
  size_t count = 0;
  for (int n = 0; n < BLOCKS; n++) count += held[n].at != 0;
  return count;
}

static char *inside(uint64_t address, size_t size) {
  for (int n = 0; n < BLOCKS; n++)
    if (held[n].at && address >= held[n].at && address + size <= held[n].at + held[n].size)
      return (char *)(address - FAR);
  return 0;
}

int cuInit(unsigned flags) { return flags; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)(intptr_t)(device + 1); return 0; }
int cuCtxSetCurrent(void *context) { return context ? 0 : INVALID; }
int cuCtxSynchronize(void) { tell("synchronize"); return 0; }

int cuGetErrorString(int status, const char **text) {
  *text = status == FAILED ? "some threads wait for others that have ended" : status == NOT_FOUND ? "named symbol not found" : "invalid argument";
  return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
  if (size > LIMIT) return OUT_OF_MEMORY;
  for (int n = 0; n < BLOCKS; n++)
    if (!held[n].at) {
      char *start = aligned_alloc(256, (size + 255) / 256 * 256);
      memset(start, 0x5a, size);
      *address = held[n].at = (uint64_t)start + FAR;
      held[n].size = size;
      tell("allocate");
      return 0;
    }
  return OUT_OF_MEMORY;
}

int cuMemFree_v2(uint64_t address) {
  for (int n = 0; n < BLOCKS; n++)
    if (held[n].at == address) {
      free((void *)(address - FAR));
      held[n].at = 0;
      return 0;
    }
  return INVALID;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  char *there = inside(to, size);
  if (!there) return INVALID;
  memcpy(there, from, size);
  tell("copy in");
  return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  char *there = inside(from, size);
  if (!there) return INVALID;
  memcpy(to, there, size);
  tell("copy out");
  return 0;
}

int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t size) {
  char *there = inside(to, size);
  if (!there) return INVALID;
  memset(there, value, size);
  return 0;
}

int cuModuleLoadData(void **module, const void *text) {
  if (!strstr(text, ".entry")) return INVALID;
  *module = (void *)text;
  tell("load");
  return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  if (!module) return INVALID;
  for (int n = 0; n < kernel_count; n++)
    if (!strcmp(kernels[n].name, name)) {
      *function = (void *)(intptr_t)(n + 1);
      return 0;
    }
  return NOT_FOUND;
}

/* Threads of a block take turns. */

static unsigned tid[3], ctaid[3];
static ucontext_t home, *threads;
static int current, waiting;
static kernel_t running;
static void **given;

unsigned fake_tid_x(void) { return tid[0]; }
unsigned fake_tid_y(void) { return tid[1]; }
unsigned fake_tid_z(void) { return tid[2]; }
unsigned fake_ctaid_x(void) { return ctaid[0]; }
unsigned fake_ctaid_y(void) { return ctaid[1]; }
unsigned fake_ctaid_z(void) { return ctaid[2]; }

void fake_barrier(void) {
  waiting = 1;
  swapcontext(&threads[current], &home);
}

static void start(void) { running(given); }

static int run_block(unsigned x, unsigned y, unsigned z) {
  const int count = (int)(x * y * z);
  volatile int alive = count, failed = 0;
  char *stacks = malloc((size_t)count * STACK), *ended = calloc((size_t)count, 1);
  threads = calloc((size_t)count, sizeof *threads);
  for (int n = 0; n < count; n++) {
    getcontext(&threads[n]);
    threads[n].uc_stack.ss_sp = stacks + (size_t)n * STACK;
    threads[n].uc_stack.ss_size = STACK;
    threads[n].uc_link = &home;
    makecontext(&threads[n], start, 0);
  }
  while (alive && !failed) {
    int waits = 0;
    for (int n = 0; n < count; n++) {
      current = shuffled ? count - 1 - n : n;
      if (ended[current]) continue;
      tid[0] = (unsigned)current % x, tid[1] = (unsigned)current / x % y, tid[2] = (unsigned)current / (x * y);
      waiting = 0;
      swapcontext(&home, &threads[current]);
      if (waiting) waits++; else ended[current] = 1, alive--;
    }
    failed = waits && waits != count;
  }
  free(stacks), free(ended), free(threads);
  return failed ? FAILED : 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned bytes, void *stream, void **arguments, void **extra) {
  kernel *found = &kernels[(intptr_t)function - 1];
  static void *pointers[64];
  char line[256];
  if (bytes || stream || extra || bx * by * bz > 1024 || bx * by * bz == 0 || gx * gy * gz == 0) return INVALID;
  for (int n = 0; found->arguments[n]; n++) {
    uint64_t value = *(uint64_t *)arguments[n];
    pointers[n] = found->arguments[n] == 'p' ? inside(value, 1) : (void *)value;
    if (found->arguments[n] == 'p' && !pointers[n]) return INVALID;
  }
  snprintf(line, sizeof line, "launch %s (%u, %u, %u) (%u, %u, %u)", found->name, gx, gy, gz, bx, by, bz);
  tell(line);
  running = found->run;
  given = pointers;
  for (ctaid[2] = 0; ctaid[2] < gz; ctaid[2]++)
    for (ctaid[1] = 0; ctaid[1] < gy; ctaid[1]++)
      for (ctaid[0] = 0; ctaid[0] < gx; ctaid[0]++) {
        int status = run_block(bx, by, bz);
        if (status) return status;
      }
  return 0;
}

int cuEventCreate(void **event, unsigned flags) { *event = malloc(sizeof(struct timespec)); return *event ? (int)flags : INVALID; }
int cuEventRecord(void *event, void *stream) { return stream ? INVALID : clock_gettime(CLOCK_MONOTONIC, event); }
int cuEventSynchronize(void *event) { return event ? 0 : INVALID; }
int cuEventDestroy_v2(void *event) { free(event); return 0; }

int cuEventElapsedTime(float *milliseconds, void *first, void *second) {
  struct timespec *a = first, *b = second;
  *milliseconds = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) / 1e6);
  return 0;
}
