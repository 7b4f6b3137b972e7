/** Which detector an engine uses: the built-in one, or what a trusted plug-in brought. */
import { invalidArgument } from '../../../model/errors.ts'
import type { LensHost } from '../../lens.ts'
import type { ContradictionDetector } from './detector.ts'
import { HEURISTIC } from './heuristic.ts'

/** What a plug-in exports one as. */
const EXPORT = 'contradictionDetector'

const INSTALLED = new WeakMap<LensHost, ContradictionDetector>()

export function detectorOf(host: LensHost): ContradictionDetector {
  return INSTALLED.get(host) ?? HEURISTIC
}

/** For a host that stands in for another one. */
export function lendDetector(from: LensHost, to: LensHost): void {
  INSTALLED.set(to, detectorOf(from))
}

/** False: the plug-in brings none. Throws `invalid_argument` for what is no detector. */
export function installDetector(host: LensHost, exported: Readonly<Record<string, unknown>>): boolean {
  const given = exported[EXPORT]
  if (given === undefined) return false
  if (!isDetector(given)) throw invalidArgument(EXPORT, given, 'an object with name, note and detect(a, b)')
  INSTALLED.set(host, given)
  return true
}

function isDetector(given: unknown): given is ContradictionDetector {
  if (typeof given !== 'object' || given === null) return false
  const { name, note, detect } = given as Partial<Record<keyof ContradictionDetector, unknown>>
  return typeof name === 'string' && typeof note === 'string' && typeof detect === 'function'
}
