// The head: logits of a slab of the vocabulary, and their softmax, of which no more than a slab is ever there.

#include "numbers.hpp"

#ifdef __AVX512BF16__
#include <algorithm>
#include <immintrin.h>
#include <vector>
#endif

namespace {

// One slab of the vocabulary in the online softmax (arXiv 1805.02867): highest and total [rows] are carried on, shrunk
// is by how much what was carried before is to be multiplied, spread what the slab's tokens weigh. With a cap, logits
// are bent to stay below it, and what they weigh is times how much they move with what they were.
template <class T>
void spread(float* logits, float cap, Index rows, Index columns, float* highest, float* total, float* shrunk, T* out) {
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < rows; ++row) {
        float* in = logits + row * columns;
        T* weighed = out + row * columns;
        float top = highest[row], sum = 0.0f;
#pragma omp simd reduction(max : top)
        for (Index i = 0; i < columns; ++i) top = in[i] > top ? in[i] : top;
        shrunk[row] = exponential(highest[row] - top);
        const float bend = cap != 0.0f ? 1.0f / cap : 0.0f;
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < columns; ++i) {
            const float one = exponential(in[i] - top), bent = in[i] * bend;
            sum += one;
            weighed[i] = narrow<T>(one * (1.0f - bent * bent));
        }
        highest[row] = top;
        total[row] = total[row] * shrunk[row] + sum;
    }
}

// drawn = drawn * shrunk + product, [rows, width].
template <class T>
void draw(float* drawn, const float* shrunk, const T* product, Index rows, Index width) {
#pragma omp parallel for schedule(static)
    for (Index row = 0; row < rows; ++row) {
        float* out = drawn + row * width;
        const T* in = product + row * width;
#pragma omp simd
        for (Index i = 0; i < width; ++i) out[i] = out[i] * shrunk[row] + wide(in[i]);
    }
}

#ifdef __AVX512BF16__
// A product that takes bfloat16 and gives float: PyTorch's rounds what it gives, and a logit's eight bits are too few.
// The sums of TALL rows by COLUMNS tokens are in registers all the time.
constexpr int TALL = 8, LANES = 16, VECTORS = 3;
constexpr Index COLUMNS = VECTORS * LANES;

// panel: two numbers of each of COLUMNS tokens, then the next two of each.
template <int rows>
void tile(const Bfloat16* hidden, const Bfloat16* panel, Index width, Index columns, float* out, Index stride) {
    __m512 sums[rows][VECTORS];
    for (auto& row : sums)
        for (auto& sum : row) sum = _mm512_setzero_ps();
    for (Index k = 0; k < width; k += 2, panel += 2 * COLUMNS) {
        __m512bh heads[VECTORS];
        for (int v = 0; v < VECTORS; ++v) heads[v] = (__m512bh)_mm512_loadu_si512(panel + 2 * v * LANES);
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row) {
            std::int32_t pair;
            __builtin_memcpy(&pair, hidden + row * width + k, sizeof pair);
            const auto both = (__m512bh)_mm512_set1_epi32(pair);
            for (int v = 0; v < VECTORS; ++v) sums[row][v] = _mm512_dpbf16_ps(sums[row][v], both, heads[v]);
        }
    }
    for (int row = 0; row < rows; ++row)
        for (int v = 0; v < VECTORS; ++v) {
            const auto left = std::clamp<Index>(columns - v * LANES, 0, LANES);
            const auto mask = static_cast<__mmask16>((1u << left) - 1u);
            _mm512_mask_storeu_ps(out + row * stride + v * LANES, mask, sums[row][v]);
        }
}

template <int rows>
void up_to(Index left, const Bfloat16* hidden, const Bfloat16* panel, Index width, Index columns, float* out,
           Index stride) {
    if (left >= rows) return tile<rows>(hidden, panel, width, columns, out, stride);
    if constexpr (rows > 1) up_to<rows - 1>(left, hidden, panel, width, columns, out, stride);
}

// out [rows, tokens] = hidden [rows, width] slab [tokens, width]^T, the slab rounded to bfloat16; width is even.
void logits(const Bfloat16* hidden, const float* slab, Index rows, Index tokens, Index width, float* out) {
#pragma omp parallel
    {
        std::vector<Bfloat16> panel(static_cast<std::size_t>(COLUMNS * width));
#pragma omp for schedule(static)
        for (Index first = 0; first < tokens; first += COLUMNS) {
            const Index columns = std::min(COLUMNS, tokens - first);
            for (Index token = 0; token < columns; ++token) {
                const float* head = slab + (first + token) * width;
                Bfloat16* to = panel.data() + 2 * token;
                for (Index k = 0; k < width; k += 2, to += 2 * COLUMNS) {
                    to[0] = narrow<Bfloat16>(head[k]);
                    to[1] = narrow<Bfloat16>(head[k + 1]);
                }
            }
            for (Index row = 0; row < rows; row += TALL)
                up_to<TALL>(rows - row, hidden + row * width, panel.data(), width, columns,
                            out + row * tokens + first, tokens);
        }
    }
}
#endif

} // namespace

extern "C" {
OFFERED(spread)
OFFERED(draw)
#ifdef __AVX512BF16__
const void* logits_bfloat16 = reinterpret_cast<const void*>(&logits);
#endif
}
