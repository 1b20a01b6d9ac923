// What the compiled code between the decoder's products has in common; called by trainer/model/compiled.py.
//
// Tensors are dense, in row-major order, unless a stride is given; sizes and strides count elements. T is the format
// of the products: float, or bfloat16 as its 16 bits. What is summed is float, of each row in one order whatever the
// number of threads, so the same numbers come out to the bit each time.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

using Index = std::int64_t;
using Bfloat16 = std::uint16_t;

inline float wide(float value) { return value; }
inline float wide(Bfloat16 value) { return std::bit_cast<float>(std::uint32_t{value} << 16); }

template <class T> T narrow(float value);
template <> inline float narrow<float>(float value) { return value; }
// To the nearest, of two equally near ones to the even; what is no number stays none.
template <> inline Bfloat16 narrow<Bfloat16>(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return static_cast<Bfloat16>(value != value ? 0x7fc0u : rounded);
}

// e^x within 2e-7 of itself, as the Cephes library has it: what the compiler can do sixteen at a time.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    const float turns = std::floor(x * 1.44269504088896341f + 0.5f);
    const float rest = x - turns * 0.693359375f + turns * 2.12194440e-4f;
    float sum = 1.9875691500e-4f;
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    return sum * std::bit_cast<float>((static_cast<std::int32_t>(turns) + 127) << 23);
}

// What Python calls, by its name and that of T.
#define OFFERED(kernel)                                                                                              \
    const void* kernel##_float32 = reinterpret_cast<const void*>(&kernel<float>);                                    \
    const void* kernel##_bfloat16 = reinterpret_cast<const void*>(&kernel<Bfloat16>);
