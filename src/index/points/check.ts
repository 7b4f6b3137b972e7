/** What may be asked of a point index. */
import { invalidArgument } from '../../model/errors.ts'
import type { PointSearch } from '../contract.ts'

export function checkPointSearch({ point, k, maxDistance }: PointSearch): void {
  for (const coordinate of point) {
    if (!Number.isFinite(coordinate)) throw invalidArgument('point', coordinate, 'three finite numbers')
  }
  if (!(k === Number.POSITIVE_INFINITY || (Number.isInteger(k) && k >= 0))) {
    throw invalidArgument('k', k, 'a whole number, 0 or more, or infinity')
  }
  if (maxDistance !== undefined && !(maxDistance >= 0)) throw invalidArgument('maxDistance', maxDistance, '0 or more')
}
