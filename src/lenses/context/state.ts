/** What the parts of the lens share in one engine. */
import type { LensHost } from '../lens.ts'
import { Files } from './body/files.ts'
import { Concepts } from './concepts.ts'
import { type ContextSettings, checkSettings } from './settings.ts'

export interface ContextState {
  readonly concepts: Concepts
  readonly files: Files
  readonly settings: ContextSettings
}

const STATES = new WeakMap<LensHost, ContextState>()

/** Made on first use, one an engine. */
export function stateOf(host: LensHost): ContextState {
  const known = STATES.get(host)
  if (known !== undefined) return known
  const made: ContextState = {
    concepts: new Concepts(host.store),
    files: new Files(host.store),
    settings: (host.settings as ContextSettings | undefined) ?? checkSettings(undefined),
  }
  STATES.set(host, made)
  return made
}
