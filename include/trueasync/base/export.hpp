#pragma once

/// @file trueasync/base/export.hpp
/// Visibility and code placement macros; the only macros most headers need.

#define TA_API __attribute__((visibility("default")))

/// Everything a fast path falls back to: out of line and out of the way.
#define TA_COLD __attribute__((noinline, cold))

#define TA_LIKELY(x) __builtin_expect(static_cast<bool>(x), true)
#define TA_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), false)

#if defined(__SANITIZE_ADDRESS__)
#define TA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TA_TSAN 1
#endif
#endif

/// The fast paths: a call would cost more than the work. Under a sanitizer it does not, and compiling takes half as long.
#if defined(TA_ASAN) || defined(TA_TSAN)
#define TA_INLINE inline
#else
#define TA_INLINE inline __attribute__((always_inline))
#endif
