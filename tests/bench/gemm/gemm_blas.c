// gemm_blas.c - GFLOP/s of cblas_sgemm / cblas_dgemm at square and at GPT-typical shapes.
// C[M,N] = A[M,K] * B, all row-major. "NN": B is [K,N]; "NT": B is [N,K], used transposed (a linear layer's
// forward, weights stored [out,in]); "TN": A^T (the weight gradient).
// Build: gcc -O2 gemm_blas.c -lopenblas -o gemm_blas
// Run:   OPENBLAS_NUM_THREADS=1 ./gemm_blas    (and =2); ./gemm_blas M N K nn|nt|tn for one float32 product
// Each shape is called in a loop for about 0.6 s; median and best of the calls are printed (the machine is shared).
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static int cmp(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
extern char *openblas_get_config(void);
extern char *openblas_get_corename(void);
extern int openblas_get_num_threads(void);

static void bench(int dbl, int m, int n, int k, int ta, int tb) {
    size_t es = dbl ? 8 : 4;
    void *a = aligned_alloc(64, ((size_t)m * k * es + 63) & ~63ul), *b = aligned_alloc(64, ((size_t)k * n * es + 63) & ~63ul),
         *c = aligned_alloc(64, ((size_t)m * n * es + 63) & ~63ul);
    for (long i = 0; i < (long)m * k; i++) if (dbl) ((double *)a)[i] = (i % 17) * 0.1 - 0.8; else ((float *)a)[i] = (i % 17) * 0.1f - 0.8f;
    for (long i = 0; i < (long)k * n; i++) if (dbl) ((double *)b)[i] = (i % 13) * 0.1 - 0.6; else ((float *)b)[i] = (i % 13) * 0.1f - 0.6f;
    memset(c, 0, (size_t)m * n * es);
    double *t = malloc(sizeof(double) * 200000);
    int cnt = 0;
    double flop = 2.0 * m * n * k;
    int inner = flop < 4e6 ? (int)(4e6 / flop) : 1;  // tiny shapes: several calls for each clock reading
    double t0 = now();
    while ((now() - t0 < 0.6 || cnt < 12) && cnt < 200000) {
        double s = now();
        for (int q = 0; q < inner; q++) {
            if (dbl) cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1.0, a, ta ? m : k, b, tb ? k : n, 0.0, c, n);
            else cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, a, ta ? m : k, b, tb ? k : n, 0.0f, c, n);
        }
        t[cnt++] = (now() - s) / inner;
    }
    int skip = cnt > 20 ? 2 : 1;
    qsort(t + skip, cnt - skip, sizeof *t, cmp);
    double *u = t + skip; int nn = cnt - skip;
    printf("%s %c%c M=%-5d N=%-5d K=%-5d  median %7.1f  best %7.1f GFLOP/s  (%d samples)\n", dbl ? "f64" : "f32", ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, flop / u[nn / 2] * 1e-9, flop / u[0] * 1e-9, nn);
    fflush(stdout);
    free(a); free(b); free(c); free(t);
}
int main(int argc, char **argv) {
    printf("%s | kernel %s | threads %d\n", openblas_get_config(), openblas_get_corename(), openblas_get_num_threads());
    if (argc == 5) { bench(0, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), argv[4][0] == 't', argv[4][1] == 't'); return 0; }
    int sq[] = {64, 128, 256, 512, 1024, 2048};
    for (int i = 0; i < 6; i++) bench(0, sq[i], sq[i], sq[i], 0, 0);
    int g[][3] = {{1024, 128, 128}, {1024, 512, 128}, {1024, 128, 512}, {1024, 384, 128}, {2048, 256, 1024}};
    for (int i = 0; i < 5; i++) bench(0, g[i][0], g[i][1], g[i][2], 0, 0);
    for (int i = 0; i < 5; i++) bench(0, g[i][0], g[i][1], g[i][2], 0, 1);
    bench(0, 512, 128, 1024, 1, 0);   // weight gradient of 1024 x (128 -> 512)
    bench(0, 128, 65, 1024, 1, 0);
    bench(0, 1024, 65, 128, 0, 1);    // output head, vocabulary 65
    bench(0, 64, 64, 32, 0, 1);       // one attention head's scores, small model
    bench(0, 64, 32, 64, 0, 0);       // ... times values
    bench(1, 512, 512, 512, 0, 0);
    bench(1, 1024, 1024, 1024, 0, 0);
    return 0;
}
