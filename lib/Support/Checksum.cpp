// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// XXH64 as Yann Collet published it (xxHash, specification 0.1.1): four lanes
// of 64 bits over stripes of 32 bytes, which are merged; then the rest, eight
// bytes, four and one at a time; then the bits are mixed. Weights have
// gigabytes, so it has to run about as fast as memory; a flipped bit anywhere
// changes half of the digits. The library of the runtime has it too, so it
// takes nothing but the standard library.

#include "cutback/Support/Checksum.h"

#include <cstdio>
#include <cstring>

using namespace cutback;

static constexpr uint64_t kPrimes[] = {0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu,
                                       0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u,
                                       0x27D4EB2F165667C5u};

static uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

/// Little-endian, as all machines are that a step is compiled for.
template <typename Word> static uint64_t load(const char *at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

static uint64_t round(uint64_t lane, uint64_t input) {
  return rotate(lane + input * kPrimes[1], 31) * kPrimes[0];
}

static uint64_t merge(uint64_t hash, uint64_t lane) {
  return (hash ^ round(0, lane)) * kPrimes[0] + kPrimes[3];
}

/// All stripes of 32 bytes; moves `at` behind them.
static uint64_t hashStripes(const char *&at, const char *end) {
  uint64_t lanes[4] = {kPrimes[0] + kPrimes[1], kPrimes[1], 0, -kPrimes[0]};
  for (; end - at >= 32; at += 32)
    for (int lane = 0; lane < 4; ++lane)
      lanes[lane] = round(lanes[lane], load<uint64_t>(at + 8 * lane));
  uint64_t hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) +
                  rotate(lanes[2], 12) + rotate(lanes[3], 18);
  for (uint64_t lane : lanes)
    hash = merge(hash, lane);
  return hash;
}

uint64_t cutback::hashBytes(std::string_view bytes) {
  const char *at = bytes.data(), *end = at + bytes.size();
  uint64_t hash = bytes.size() >= 32 ? hashStripes(at, end) : kPrimes[4];
  hash += bytes.size();
  for (; end - at >= 8; at += 8)
    hash = rotate(hash ^ round(0, load<uint64_t>(at)), 27) * kPrimes[0] +
           kPrimes[3];
  for (; end - at >= 4; at += 4)
    hash = rotate(hash ^ load<uint32_t>(at) * kPrimes[0], 23) * kPrimes[1] +
           kPrimes[2];
  for (; at != end; ++at)
    hash = rotate(hash ^ static_cast<unsigned char>(*at) * kPrimes[4], 11) *
           kPrimes[0];
  hash = (hash ^ hash >> 33) * kPrimes[1];
  hash = (hash ^ hash >> 29) * kPrimes[2];
  return hash ^ hash >> 32;
}

std::string cutback::checksumOf(std::string_view bytes) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hashBytes(bytes)));
  return text;
}
