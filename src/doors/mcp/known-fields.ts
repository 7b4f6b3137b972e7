/** Refuses fields that an operation does not have, where the operation itself ignores them. */
import { QuerentError } from '../../model/errors.ts'
import { nearNames } from '../../ops/near-names.ts'
import { isObject } from './answer/paths.ts'

/** Throws `unknown_field`, naming the field, those spelled like it, and all there are. */
export function refuseUnknown(args: unknown, known: readonly string[]): void {
  if (!isObject(args)) return
  const field = Object.keys(args).find(name => !known.includes(name))
  if (field === undefined) return
  const near = nearNames(field, known)
  const advice = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${known.join(', ') || 'none'}`
  throw new QuerentError('unknown_field', `${field}: there is no such field; ${advice}`, { field, near, known })
}
