/**
 * Encodes vectors (f32) into the three parts in which they are stored: a sign code of one bit per component, int8 components, and a scale
 * (component ≈ scale × int8).
 */
import { codeOf, int8Of, scaleOf, width } from './layout'
import { encodeSigns } from './rotate'

/** Tolerance around 1 for the squared length of a vector that is to be encoded. */
const TOLERANCE: f32 = 2e-3

/**
 * Largest ‖vector - scale × int8 components‖ / scale of all vectors encoded so far; the rounding error of each vector has at most this
 * length times the vector's scale.
 */
let residual: f64 = 0

/** Largest squared length of all vectors encoded so far. */
let square: f32 = 1

export function maxResidual(): f64 {
  return residual
}

export function maxSquare(): f64 {
  return square
}

export function setMaxima(rest: f64, length: f64): void {
  residual = rest
  square = <f32>length
}

/**
 * Encodes `n` vectors of `width` floats at the address `from` into the listed slots. Returns the number of the first vector that cannot be
 * encoded because it is not of unit length, or -1 if all were encoded.
 */
export function encode(from: usize, slots: usize, n: i32): i32 {
  for (let i = 0; i < n; i++) {
    const row = from + <usize>i * (width << 2)
    const slot = load<u32>(slots + (<usize>i << 2))
    const length = squareOf(row)
    if (!(abs(length - 1) <= TOLERANCE)) return i
    const largest = largestOf(row)
    if (length > square) square = length
    const scale = largest / 127
    store<f32>(scaleOf(slot), scale)
    quantise(row, int8Of(slot), scale, 127 / largest)
    encodeSigns(row, codeOf(slot))
  }
  return -1
}

function largestOf(row: usize): f32 {
  let m = f32x4.splat(0)
  for (let j: usize = 0; j < width << 2; j += 16) m = f32x4.max(m, f32x4.abs(v128.load(row + j)))
  return max(
    max(f32x4.extract_lane(m, 0), f32x4.extract_lane(m, 1)),
    max(f32x4.extract_lane(m, 2), f32x4.extract_lane(m, 3)),
  )
}

function squareOf(row: usize): f32 {
  let sum = f32x4.splat(0)
  for (let j: usize = 0; j < width << 2; j += 16) sum = f32x4.add(sum, f32x4.mul(v128.load(row + j), v128.load(row + j)))
  return sumOf(sum)
}

function quantise(row: usize, to: usize, scale: f32, inverse: f32): void {
  const s = f32x4.splat(scale)
  const inv = f32x4.splat(inverse)
  let error = f32x4.splat(0)
  for (let j: usize = 0; j < width; j += 16) {
    const p = row + (j << 2)
    const a = f32x4.nearest(f32x4.mul(v128.load(p), inv))
    const b = f32x4.nearest(f32x4.mul(v128.load(p, 16), inv))
    const c = f32x4.nearest(f32x4.mul(v128.load(p, 32), inv))
    const d = f32x4.nearest(f32x4.mul(v128.load(p, 48), inv))
    const ab = i16x8.narrow_i32x4_s(i32x4.trunc_sat_f32x4_s(a), i32x4.trunc_sat_f32x4_s(b))
    const cd = i16x8.narrow_i32x4_s(i32x4.trunc_sat_f32x4_s(c), i32x4.trunc_sat_f32x4_s(d))
    v128.store(to + j, i8x16.narrow_i16x8_s(ab, cd))
    error = f32x4.add(error, squaredRest(v128.load(p), a, s))
    error = f32x4.add(error, squaredRest(v128.load(p, 16), b, s))
    error = f32x4.add(error, squaredRest(v128.load(p, 32), c, s))
    error = f32x4.add(error, squaredRest(v128.load(p, 48), d, s))
  }
  // Adds an allowance for rounding in this computation: 1e-4 of the computed error, and 4e-7 (2^-24 of each component, twice).
  const rest = (sqrt(<f64>sumOf(error)) * 1.0001 + 4e-7) / <f64>scale
  if (rest > residual) residual = rest
}

// @ts-ignore: decorator
@inline
function squaredRest(x: v128, rounded: v128, scale: v128): v128 {
  const rest = f32x4.sub(x, f32x4.mul(rounded, scale))
  return f32x4.mul(rest, rest)
}

// @ts-ignore: decorator
@inline
function sumOf(v: v128): f32 {
  return f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
}
