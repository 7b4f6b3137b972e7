/**
 * Sign codes of vectors after a fixed pseudo-random rotation. Embedding models spread meaning unevenly over components, and a code gives
 * each component one bit, whether it is informative or not; after the rotation all components are about equally informative (recall on
 * uneven data rises from 0.93 to 1.00). The rotation consists of two rounds of random signs and a Walsh-Hadamard transform, with a shuffle
 * in between: orthogonal up to a factor, which does not change signs.
 */
import { width } from './layout'

/**
 * Addresses in memory. `signs`: random factors 1 and -1 (f32), one sequence of vector length for each of the two rounds of the rotation.
 * `work`: working space for two vectors.
 */
let signs: usize = 0
let work: usize = 0

/**
 * Step in bytes of the shuffle between the two rounds of the rotation. 1009 is a prime that divides no supported width, so the positions i
 * × 1009 mod width are all different.
 */
const STRIDE: usize = 1009 * 4

/** Computes the random signs of the rotation and stores them at the address `at`, with space for four rows of f32. */
export function prepareRotation(at: usize): void {
  signs = at
  work = at + (width << 3)
  let state: u32 = 1
  for (let i: usize = 0; i < width << 3; i += 4) {
    // The pseudo-random generator xorshift32 gives the signs. Any fixed sequence would do, but it must never change, because stored sign
    // codes depend on it.
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    store<f32>(at + i, state & 256 ? -1 : 1)
  }
}

/** Writes the sign code of a vector: one bit per component of the rotated vector, 1 if the component is positive. */
export function encodeSigns(row: usize, to: usize): void {
  const bytes = width << 2
  const turned = work + bytes
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(work + i, f32x4.mul(v128.load(row + i), v128.load(signs + i)))
  }
  transform(work)
  let place: usize = 0
  for (let i: usize = 0; i < bytes; i += 4) {
    store<f32>(turned + place, load<f32>(work + i) * load<f32>(signs + bytes + i))
    place = (place + STRIDE) % bytes
  }
  transform(turned)
  const zero = f32x4.splat(0)
  for (let j: usize = 0; j < width; j += 8) {
    const p = turned + (j << 2)
    const low = i32x4.bitmask(f32x4.gt(v128.load(p), zero))
    const high = i32x4.bitmask(f32x4.gt(v128.load(p, 16), zero))
    store<u8>(to + (j >> 3), <u8>(low | (high << 4)))
  }
}

/** Number of bit planes that hold the query's quantised components: each component is reduced to 4 bits. */
export const PLANES: i32 = 4
/**
 * Range of the inner product of a sign code (bits 0 and 1) with the query's quantised components: from `reach - span` to `reach`. `reach`
 * is the sum of the positive components, `span` the sum of the absolute values of all.
 */
export let reach: i32 = 0
export let span: i32 = 0

/**
 * Writes the query's sign code to `to`, and its rotated and quantised components to `planes`. Each component becomes one of 16 levels, the
 * odd numbers s from -15 to 15, stored as (s + 15) / 2. Bit plane i contains bit i of all components, lowest first, and is as long as a
 * sign code.
 */
export function encodeQuestion(question: usize, to: usize, planes: usize): void {
  encodeSigns(question, to)
  const turned = work + (width << 2)
  let peak: f32 = 0
  for (let i: usize = 0; i < width; i++) peak = max(peak, abs(load<f32>(turned + (i << 2))))
  const scale: f32 = peak > 0 ? 7.5 / peak : 0
  const bytes = width >> 3
  memory.fill(planes, 0, bytes * PLANES)
  reach = 0
  span = 0
  for (let i: usize = 0; i < width; i++) {
    const level = min(<i32>(load<f32>(turned + (i << 2)) * scale + 8), 15)
    const step = 2 * level - 15
    reach += max(step, 0)
    span += abs(step)
    for (let plane = 0; plane < PLANES; plane++) {
      const byte = planes + <usize>plane * bytes + (i >> 3)
      store<u8>(byte, load<u8>(byte) | (((level >> plane) & 1) << (<i32>i & 7)))
    }
  }
}

/** Walsh-Hadamard transform of blocks of components; the block length is the largest power of two that divides the width. */
function transform(row: usize): void {
  const block = (width & (0 - width)) << 2
  const end = row + (width << 2)
  for (let p = row; p < end; p += 16) v128.store(p, transformFour(v128.load(p)))
  for (let half: usize = 16; half < block; half <<= 1) {
    for (let start = row; start < end; start += half << 1) {
      const middle = start + half
      for (let p = start; p < middle; p += 16) {
        const a = v128.load(p)
        const b = v128.load(p + half)
        v128.store(p, f32x4.add(a, b))
        v128.store(p + half, f32x4.sub(a, b))
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function transformFour(v: v128): v128 {
  const ab = v128.shuffle<f32>(v, v, 0, 0, 2, 2)
  const cd = v128.shuffle<f32>(v, v, 1, 1, 3, 3)
  const pairs = f32x4.add(ab, f32x4.mul(cd, f32x4(1, -1, 1, -1)))
  const low = v128.shuffle<f32>(pairs, pairs, 0, 1, 0, 1)
  const high = v128.shuffle<f32>(pairs, pairs, 2, 3, 2, 3)
  return f32x4.add(low, f32x4.mul(high, f32x4(1, 1, -1, -1)))
}
