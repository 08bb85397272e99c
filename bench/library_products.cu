// SPDX-License-Identifier: Apache-2.0
// bench/library_products.cu — cuBLASLt's kernels for the three products of a layer (4096,
// bfloat16): its first eight choices each, and what its epilogues (bias, GELU, their derivatives,
// sums of columns) cost, in microseconds.
//
//   nvcc -O2 -arch=sm_90a bench/library_products.cu -lcublasLt -o products && ./products
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <algorithm>
#include <cstdio>
#include <vector>
#define C(x)                                  \
  do {                                        \
    auto s_ = (x);                            \
    if (s_ != 0) {                            \
      printf("FAIL %s -> %d\n", #x, (int)s_); \
      return -1;                              \
    }                                         \
  } while (0)
__global__ void fill(__nv_bfloat16* p, size_t n, unsigned seed) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned h = (unsigned)i * 2654435761u + seed;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    p[i] = __float2bfloat16(((h & 0xffff) / 65536.0f - 0.5f));
  }
}
float timeit(cublasLtHandle_t lt, cublasLtMatmulDesc_t d, void* A, cublasLtMatrixLayout_t la,
             void* B, cublasLtMatrixLayout_t lb, void* D, cublasLtMatrixLayout_t ld,
             cublasLtMatmulAlgo_t* algo, void* ws, size_t wsb) {
  float one = 1, zero = 0;
  cudaEvent_t e0, e1;
  cudaEventCreate(&e0);
  cudaEventCreate(&e1);
  for (int i = 0; i < 3; ++i)
    C(cublasLtMatmul(lt, d, &one, A, la, B, lb, &zero, D, ld, D, ld, algo, ws, wsb, 0));
  std::vector<float> t;
  for (int r = 0; r < 5; ++r) {
    cudaEventRecord(e0);
    for (int i = 0; i < 10; ++i)
      cublasLtMatmul(lt, d, &one, A, la, B, lb, &zero, D, ld, D, ld, algo, ws, wsb, 0);
    cudaEventRecord(e1);
    cudaEventSynchronize(e1);
    float ms;
    cudaEventElapsedTime(&ms, e0, e1);
    t.push_back(ms / 10);
  }
  std::sort(t.begin(), t.end());
  return t[2] * 1000;
}
int main() {
  const int n = 4096;
  const size_t N = (size_t)n * n;
  const size_t wsb = 64 << 20;
  __nv_bfloat16 *A, *B, *D, *aux, *bias;
  void* ws;
  cudaMalloc(&A, N * 2);
  cudaMalloc(&B, N * 2);
  cudaMalloc(&D, N * 2);
  cudaMalloc(&aux, N * 2);
  cudaMalloc(&bias, n * 4);
  cudaMalloc(&ws, wsb);
  fill<<<N / 256, 256>>>(A, N, 1);
  fill<<<N / 256, 256>>>(B, N, 77);
  fill<<<N / 256, 256>>>(aux, N, 5);
  fill<<<n / 256, 256>>>(bias, n, 9);
  cublasLtHandle_t lt;
  C(cublasLtCreate(&lt));
  printf("cublasLt %zu\n", cublasLtGetVersion());
  struct E {
    const char* name;
    cublasLtEpilogue_t e;
    int aux, bias;
  } es[] = {{"plain", CUBLASLT_EPILOGUE_DEFAULT, 0, 0},
            {"bias", CUBLASLT_EPILOGUE_BIAS, 0, 1},
            {"gelu_aux_bias", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 1, 1},
            {"relu_bias", CUBLASLT_EPILOGUE_RELU_BIAS, 0, 1},
            {"dgelu", CUBLASLT_EPILOGUE_DGELU, 1, 0},
            {"dgelu_bgrad", CUBLASLT_EPILOGUE_DGELU_BGRAD, 1, 1},
            {"bgradA", CUBLASLT_EPILOGUE_BGRADA, 0, 1},
            {"bgradB", CUBLASLT_EPILOGUE_BGRADB, 0, 1}};
  for (auto& e : es)
    for (int layout = 0; layout < 3; ++layout) {  // 0: TN (forward), 1: NN (dx), 2: NT (dW)
      cublasLtMatmulDesc_t d;
      C(cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F));
      cublasOperation_t ta = layout == 0 ? CUBLAS_OP_T : CUBLAS_OP_N,
                        tb = layout == 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
      cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
      cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
      cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &e.e, sizeof e.e);
      void* bp = bias;
      void* ap = aux;
      int64_t lda = n;
      if (e.bias)
        cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bp, sizeof bp);
      if (e.aux) {
        cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &ap,
                                       sizeof ap);
        cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &lda, sizeof lda);
      }
      cublasLtMatrixLayout_t l;
      C(cublasLtMatrixLayoutCreate(&l, CUDA_R_16BF, n, n, n));
      cublasLtMatmulPreference_t p;
      cublasLtMatmulPreferenceCreate(&p);
      cublasLtMatmulPreferenceSetAttribute(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &wsb,
                                           sizeof wsb);
      cublasLtMatmulHeuristicResult_t found[8];
      int count = 0;
      cublasStatus_t s = cublasLtMatmulAlgoGetHeuristic(lt, d, l, l, l, l, p, 8, found, &count);
      printf("%-14s %s:", e.name, layout == 0 ? "TN" : layout == 1 ? "NN" : "NT");
      if (s != 0 || count == 0) {
        printf(" none (%d)\n", (int)s);
        continue;
      }
      for (int i = 0; i < count && i < (e.aux || e.bias ? 3 : 8); ++i)
        printf(" %.0f", timeit(lt, d, A, l, B, l, D, l, &found[i].algo, ws, wsb));
      printf(" us (ws %zu)\n", found[0].workspaceSize);
      fflush(stdout);
    }
  printf("last %s\n", cudaGetErrorString(cudaGetLastError()));
}
