/** Where a colour lies in the scene: a to the right, L up, b towards the eye. */

/** Units of CIELAB to one of the scene. */
const UNIT = 100

export function placeOf([l, a, b]: readonly [number, number, number]): readonly [number, number, number] {
  return [a / UNIT, (l - 50) / UNIT, b / UNIT]
}
