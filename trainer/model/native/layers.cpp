// The norms and the gated unit of a layer, each in one pass over the memory.

#include "numbers.hpp"

namespace {

// An activation and its slope at x.
struct Opened {
    float value, slope;
};

template <bool gelu> inline Opened opened(float x) {
    if constexpr (gelu) { // by tanh (arXiv 1606.08415)
        constexpr float stretch = 0.7978845608028654f, cubic = 0.044715f;
        const float turned = 1.0f - 2.0f / (exponential(2.0f * stretch * (x + cubic * x * x * x)) + 1.0f);
        const float inner = stretch * (1.0f + 3.0f * cubic * x * x);
        return {0.5f * x * (1.0f + turned), 0.5f * (1.0f + turned) + 0.5f * x * (1.0f - turned * turned) * inner};
    } else {
        const float open = 1.0f / (1.0f + exponential(-x));
        return {x * open, open * (1.0f + x * (1.0f - open))};
    }
}

// sum = x + added (where there is something to add), unit = sum / rms(sum), normed = unit * gain (arXiv 1910.07467).
template <class T>
void norm(const float* x, const T* added, const float* gain, float epsilon, Index tokens, Index width, float* sum,
          T* normed, T* unit, float* inverse) {
#pragma omp parallel for schedule(static)
    for (Index token = 0; token < tokens; ++token) {
        const float* in = x + token * width;
        float squares = 0.0f;
        if (added) {
            const T* more = added + token * width;
            float* out = sum + token * width;
#pragma omp simd reduction(+ : squares)
            for (Index i = 0; i < width; ++i) {
                out[i] = in[i] + wide(more[i]);
                squares += out[i] * out[i];
            }
            in = out;
        } else {
#pragma omp simd reduction(+ : squares)
            for (Index i = 0; i < width; ++i) squares += in[i] * in[i];
        }
        const float shrink = 1.0f / std::sqrt(squares / static_cast<float>(width) + epsilon);
        T* out = normed + token * width;
        T* bare = unit + token * width;
#pragma omp simd
        for (Index i = 0; i < width; ++i) {
            const float one = in[i] * shrink;
            bare[i] = narrow<T>(one);
            out[i] = narrow<T>(one * gain[i]);
        }
        inverse[token] = shrink;
    }
}

// The gradient for what was normed, and carried, what flows past the norm; also in T.
template <class T>
void norm_back(const T* grad, const T* unit, const float* gain, const float* inverse, const float* carried,
               Index tokens, Index width, float* out, T* narrowed) {
#pragma omp parallel for schedule(static)
    for (Index token = 0; token < tokens; ++token) {
        const Index start = token * width;
        float along = 0.0f;
#pragma omp simd reduction(+ : along)
        for (Index i = 0; i < width; ++i) along += wide(grad[start + i]) * gain[i] * wide(unit[start + i]);
        along /= static_cast<float>(width);
#pragma omp simd
        for (Index i = 0; i < width; ++i) {
            const float scaled = wide(grad[start + i]) * gain[i];
            const float total = (scaled - wide(unit[start + i]) * along) * inverse[token] + carried[start + i];
            out[start + i] = total;
            narrowed[start + i] = narrow<T>(total);
        }
    }
}

// unit = activation(gate) * up of gate_up [tokens, 2 inner] (arXiv 2002.05202).
template <class T, bool gelu> void gate_of(const T* gate_up, Index tokens, Index inner, T* unit) {
#pragma omp parallel for schedule(static)
    for (Index token = 0; token < tokens; ++token) {
        const T* gates = gate_up + token * 2 * inner;
        T* out = unit + token * inner;
#pragma omp simd
        for (Index i = 0; i < inner; ++i)
            out[i] = narrow<T>(opened<gelu>(wide(gates[i])).value * wide(gates[inner + i]));
    }
}

template <class T> void gate(const T* gate_up, Index gelu, Index tokens, Index inner, T* unit) {
    (gelu ? gate_of<T, true> : gate_of<T, false>)(gate_up, tokens, inner, unit);
}

// The unit again, and the gradient for gate_up from that for the unit.
template <class T, bool gelu>
void gate_back_of(const T* gate_up, const T* grad, Index tokens, Index inner, T* unit, T* out) {
#pragma omp parallel for schedule(static)
    for (Index token = 0; token < tokens; ++token) {
        const T* gates = gate_up + token * 2 * inner;
        const T* through = grad + token * inner;
        T* units = unit + token * inner;
        T* to_gates = out + token * 2 * inner;
#pragma omp simd
        for (Index i = 0; i < inner; ++i) {
            const Opened open = opened<gelu>(wide(gates[i]));
            const float up = wide(gates[inner + i]), flows = wide(through[i]);
            units[i] = narrow<T>(open.value * up);
            to_gates[i] = narrow<T>(flows * up * open.slope);
            to_gates[inner + i] = narrow<T>(flows * open.value);
        }
    }
}

template <class T>
void gate_back(const T* gate_up, const T* grad, Index gelu, Index tokens, Index inner, T* unit, T* out) {
    (gelu ? gate_back_of<T, true> : gate_back_of<T, false>)(gate_up, grad, tokens, inner, unit, out);
}

} // namespace

extern "C" {
OFFERED(norm)
OFFERED(norm_back)
OFFERED(gate)
OFFERED(gate_back)
}
