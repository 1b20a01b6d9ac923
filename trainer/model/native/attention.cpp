// Attention along the padded rows of an AttentionPlan: RoPE, and what lies between the products.

#include "numbers.hpp"

#include <algorithm>
#include <vector>

namespace {

// One head, turned by RoPE (arXiv 2104.09864) on its halves; backwards where turn is -1, not at all where it is 0.
template <class From, class To>
inline void rotated(const From* in, const float* cosine, const float* sine, float turn, Index size, To* out) {
    if (turn == 0.0f) {
#pragma omp simd
        for (Index i = 0; i < size; ++i) out[i] = narrow<To>(wide(in[i]));
        return;
    }
    const Index half = size / 2;
#pragma omp simd
    for (Index i = 0; i < half; ++i) {
        const float first = wide(in[i]), second = wide(in[half + i]), across = turn * sine[i];
        out[i] = narrow<To>(first * cosine[i] - second * across);
        out[half + i] = narrow<To>(second * cosine[i] + first * across);
    }
}

// Tokens [.., heads, size], each stride after the one before it, as padded rows [pieces, heads, length, size]: where
// index [pieces, length] is below 0, zeros.
template <class T>
void to_rows(const T* tokens, Index stride, const Index* index, Index pieces, Index heads, Index length, Index size,
             const float* cosine, const float* sine, float turn, T* rows) {
#pragma omp parallel for schedule(static)
    for (Index place = 0; place < pieces * length; ++place) {
        const Index piece = place / length, within = place % length, token = index[place];
        const Index angle = token * (size / 2);
        for (Index head = 0; head < heads; ++head) {
            T* out = rows + ((piece * heads + head) * length + within) * size;
            if (token < 0) {
                for (Index i = 0; i < size; ++i) out[i] = 0;
            } else {
                rotated(tokens + token * stride + head * size, cosine + angle, sine + angle, turn, size, out);
            }
        }
    }
}

// The reverse: of each token the sum over its places, slots[starts[token]] to slots[starts[token + 1]], each a piece
// times length and where in it.
template <class T>
void from_rows(const T* rows, const Index* starts, const Index* slots, Index count, Index heads, Index length,
               Index size, const float* cosine, const float* sine, float turn, T* tokens) {
#pragma omp parallel
    {
        std::vector<float> sum(static_cast<std::size_t>(size));
        // Those that all rows begin with have far more places than the others.
#pragma omp for schedule(dynamic, 8)
        for (Index token = 0; token < count; ++token) {
            const Index angle = token * (size / 2);
            for (Index head = 0; head < heads; ++head) {
                for (float& each : sum) each = 0.0f;
                for (Index slot = starts[token]; slot < starts[token + 1]; ++slot) {
                    const Index piece = slots[slot] / length, within = slots[slot] % length;
                    const T* in = rows + ((piece * heads + head) * length + within) * size;
                    float* total = sum.data();
#pragma omp simd
                    for (Index i = 0; i < size; ++i) total[i] += wide(in[i]);
                }
                T* out = tokens + (token * heads + head) * size;
                rotated(sum.data(), cosine + angle, sine + angle, turn, size, out);
            }
        }
    }
}

// The keys that a query looks at, and those that the processor takes with them: blocks, so that nothing is left over.
struct Looks {
    static constexpr Index block = 16;
    Index first, last, from, to;

    Looks(Index begin, Index end, Index keys)
        : first(begin), last(end), from(begin / block * block), to(std::min(keys, (end + block - 1) / block * block)) {
        if (first >= last) from = to = 0; // padding
    }

    // How much it looks at each of the keys from `from` to `to`; not at all at all others.
    template <class T> void weigh(const T* scores, float scale, float* weights) const {
        float highest = -INFINITY, total = 0.0f;
#pragma omp simd reduction(max : highest)
        for (Index k = from; k < to; ++k) {
            const float score = k >= first && k < last ? wide(scores[k]) * scale : -INFINITY;
            weights[k] = score;
            highest = score > highest ? score : highest;
        }
#pragma omp simd reduction(+ : total)
        for (Index k = from; k < to; ++k) {
            const float weight = k >= first && k < last ? exponential(weights[k] - highest) : 0.0f;
            weights[k] = weight;
            total += weight;
        }
        const float share = 1.0f / total;
#pragma omp simd
        for (Index k = from; k < to; ++k) weights[k] *= share;
    }

    template <class T> void clear(T* row, Index keys) const {
        std::fill(row, row + from, T{0});
        std::fill(row + to, row + keys, T{0});
    }
};

// Scores [pieces, heads, length, keys] become weights, of the query at [piece, place] those from begins to ends.
template <class T>
void attend(T* scores, const Index* begins, const Index* ends, float scale, Index pieces, Index heads, Index length,
            Index keys) {
#pragma omp parallel
    {
        std::vector<float> weights(static_cast<std::size_t>(keys));
        float* found = weights.data();
#pragma omp for schedule(static)
        for (Index row = 0; row < pieces * heads * length; ++row) {
            const Index query = row / (heads * length) * length + row % length;
            const Looks looks(begins[query], ends[query], keys);
            T* out = scores + row * keys;
            looks.weigh(out, scale, found);
#pragma omp simd
            for (Index k = looks.from; k < looks.to; ++k) out[k] = narrow<T>(found[k]);
            looks.clear(out, keys);
        }
    }
}

// Scores become weights, and the gradient for the weights that for the scores.
template <class T>
void attend_back(T* scores, T* grad, const Index* begins, const Index* ends, float scale, Index pieces, Index heads,
                 Index length, Index keys) {
#pragma omp parallel
    {
        std::vector<float> weights(static_cast<std::size_t>(keys));
        float* found = weights.data();
#pragma omp for schedule(static)
        for (Index row = 0; row < pieces * heads * length; ++row) {
            const Index query = row / (heads * length) * length + row % length;
            const Looks looks(begins[query], ends[query], keys);
            T* out = scores + row * keys;
            T* flows = grad + row * keys;
            looks.weigh(out, scale, found);
            float along = 0.0f;
#pragma omp simd reduction(+ : along)
            for (Index k = looks.from; k < looks.to; ++k) along += found[k] * wide(flows[k]);
#pragma omp simd
            for (Index k = looks.from; k < looks.to; ++k) {
                out[k] = narrow<T>(found[k]);
                flows[k] = narrow<T>(found[k] * (wide(flows[k]) - along) * scale);
            }
            looks.clear(out, keys);
            looks.clear(flows, keys);
        }
    }
}

} // namespace

extern "C" {
OFFERED(to_rows)
OFFERED(from_rows)
OFFERED(attend)
OFFERED(attend_back)
}
