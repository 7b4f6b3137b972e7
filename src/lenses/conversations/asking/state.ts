/** What the lens keeps in one engine between questions. */
import type { LensHost } from '../../lens.ts'
import { Transcripts } from './transcripts.ts'

const STATES = new WeakMap<LensHost, Transcripts>()

export function transcriptsOf(host: LensHost): Transcripts {
  const known = STATES.get(host) ?? new Transcripts(host.store)
  STATES.set(host, known)
  return known
}
