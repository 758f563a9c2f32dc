// llmc_step.c - milliseconds of a training step of llm.c's train_gpt2.c at the small GPT's sizes (4 layers, 4 heads, width 128,
// context 64, batch 16, 65 characters), on random weights and tokens.
// Build: gcc -Ofast -march=native -fopenmp -DTESTING -I LLMC llmc_step.c -lm     (LLMC: a checkout of github.com/karpathy/llm.c)
// Run:   OMP_NUM_THREADS=1 ./llmc_step WORKFILE [STEPS]
#include "train_gpt2.c"

static int byTime(const void* a, const void* b) { double x = *(const double*)a, y = *(const double*)b; return (x > y) - (x < y); }

int main(int argc, char** argv) {
  enum { Layers = 4, Heads = 4, Width = 128, Context = 64, Batch = 16, Letters = 65 };
  int steps = argc > 2 ? atoi(argv[2]) : 60, header[256] = {20240326, 3, Context, Letters, Layers, Heads, Width, Letters};
  size_t sizes[NUM_PARAMETER_TENSORS], count = 0;
  GPT2 model;
  model.config = (GPT2Config){.max_seq_len = Context, .vocab_size = Letters, .padded_vocab_size = Letters, .num_layers = Layers, .num_heads = Heads, .channels = Width};
  fill_in_parameter_sizes(sizes, model.config);
  for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) count += sizes[i];
  FILE* f = fopen(argv[1], "wb");
  fwrite(header, sizeof(int), 256, f);
  for (size_t i = 0; i < count; i++) { float x = ((i * 7919) % 2003 / 2003.0f - 0.5f) * 0.07f; fwrite(&x, 4, 1, f); }
  fclose(f);
  gpt2_build_from_checkpoint(&model, argv[1]);
  int inputs[Batch * Context], targets[Batch * Context];
  double* times = malloc(sizeof(double) * steps);
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < Batch * Context; i++) { inputs[i] = (s * 31 + i * 17) % Letters; targets[i] = (s * 31 + (i + 1) * 17) % Letters; }
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    gpt2_forward(&model, inputs, targets, Batch, Context);
    gpt2_zero_grad(&model);
    gpt2_backward(&model);
    gpt2_update(&model, 1e-3f, 0.9f, 0.95f, 1e-8f, 0.1f, s + 1);
    clock_gettime(CLOCK_MONOTONIC, &b);
    times[s] = (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) * 1e-6;
  }
  qsort(times, steps, sizeof *times, byTime);
  printf("loss %f\nms/step median %.3f best %.3f\n", model.mean_loss, times[steps / 2], times[0]);
  return 0;
}
