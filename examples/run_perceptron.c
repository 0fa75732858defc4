/* A compiled model without Python: four threads call one library at once, and each call works on two.

     python -c 'import weft; weft.compile("examples/perceptron.mlir").export_library("build/libperceptron.so")'
     cc -std=c11 -pthread -Ibuild examples/run_perceptron.c -Lbuild -lperceptron -Wl,-rpath,build -o build/run_perceptron
     seq 64 | build/run_perceptron

   It reads the input's numbers, prints the output's, and gives 1 where the threads did not agree. */

#include "libperceptron.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLERS = 4, CALLS = 200, THREADS = 2 };

static float input[64], outputs[CALLERS][10];

static int complain(const weft_model *model, int64_t status, const void *workspace) {
  char text[256];
  model->message(status, workspace, text, sizeof text);
  fprintf(stderr, "%s: %s\n", model->name, text);
  return 1;
}

/* Run the model many times; NULL where all went well. */
static void *call(void *output) {
  const weft_model *model = perceptron_model();
  const void *inputs[] = {input};
  void *results[] = {output};
  void *workspace = model->allocate();
  int64_t status = 0;
  for (int i = 0; i < CALLS && status == 0; i++)
    status = model->run(inputs, results, workspace, THREADS);
  if (status != 0)
    complain(model, status, workspace);
  free(workspace);
  return status == 0 ? NULL : output;
}

int main(void) {
  const weft_model *model = perceptron_model();
  if (model->inputs[0].bytes != sizeof input || model->outputs[0].bytes != sizeof outputs[0])
    return complain(model, -2, NULL);
  for (int i = 0; i < 64; i++)
    if (scanf("%f", &input[i]) != 1)
      return 1;
  pthread_t callers[CALLERS];
  int failed = 0;
  for (int i = 0; i < CALLERS; i++)
    if (pthread_create(&callers[i], NULL, call, outputs[i]) != 0)
      return 1;
  for (int i = 0; i < CALLERS; i++) {
    void *failure;
    pthread_join(callers[i], &failure);
    failed |= failure != NULL || memcmp(outputs[i], outputs[0], sizeof outputs[0]) != 0;
  }
  for (int i = 0; i < 10; i++)
    printf("%.9g\n", outputs[0][i]);
  return failed;
}
