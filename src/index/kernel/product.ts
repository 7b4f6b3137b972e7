import { width } from './layout'

/** The integer product of int8 components at `p` and i16 ones at `q`. The i16 side keeps the sum within an i32. */
// @ts-ignore: decorator
@inline
export function product(p: usize, q: usize): i32 {
  let a = i32x4.splat(0)
  let b = i32x4.splat(0)
  const end = p + width
  for (; p < end; p += 64, q += 128) {
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load_ext<i8>(p), v128.load(q)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 8), v128.load(q, 16)))
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 16), v128.load(q, 32)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 24), v128.load(q, 48)))
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 32), v128.load(q, 64)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 40), v128.load(q, 80)))
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 48), v128.load(q, 96)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load_ext<i8>(p, 56), v128.load(q, 112)))
  }
  a = i32x4.add(a, b)
  return i32x4.extract_lane(a, 0) + i32x4.extract_lane(a, 1) + i32x4.extract_lane(a, 2) + i32x4.extract_lane(a, 3)
}
