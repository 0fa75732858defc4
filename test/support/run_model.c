/* A program around an exported model: it reads the inputs, one after the other, from its standard input, and writes the
   outputs to its standard output. */

#include "libmodel.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, THREADS = 2 };

static void *memory(size_t bytes) { return aligned_alloc(64, (bytes / 64 + 1) * 64); }

int main(void) {
  const weft_model *model = model_model();
  const void *inputs[MOST];
  void *outputs[MOST];
  for (size_t n = 0; n < model->num_inputs; n++) {
    void *place = memory(model->inputs[n].bytes);
    if (fread(place, 1, model->inputs[n].bytes, stdin) != model->inputs[n].bytes) return 2;
    inputs[n] = place;
  }
  for (size_t n = 0; n < model->num_outputs; n++) outputs[n] = memory(model->outputs[n].bytes);
  if (model->run(inputs, outputs, model->allocate(), THREADS) != 0) return 3;
  for (size_t n = 0; n < model->num_outputs; n++) fwrite(outputs[n], 1, model->outputs[n].bytes, stdout);
  return 0;
}
