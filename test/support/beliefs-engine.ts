/** Engines with the lens `beliefs` alone, for tests: toy vectors, a fixed clock, nothing in the background. */

import type { Engine } from '../../src/engine/engine.ts'
import { openEngineOf } from '../../src/engine/open.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { beliefsLens } from '../../src/lenses/beliefs/beliefs-lens.ts'
import { checkSettings } from '../../src/lenses/beliefs/beliefs-settings.ts'
import { BUILT_IN_LENSES } from '../../src/lenses/registry.ts'
import { type Catalog, callOperation as callAny, makeCatalog } from '../../src/ops/catalog.ts'
import { THRESHOLDS } from './beliefs-plain-measures.ts'
import { openToyEmbedder, TOY_KEY } from './toy-embedder.ts'

/** `given`: settings of the lens. */
export function openBeliefsEngine(options: EngineOptions, given: Json = {}): Promise<Engine> {
  const settings = checkSettings({ thresholds: { [TOY_KEY]: THRESHOLDS }, ...given })
  const lenses = BUILT_IN_LENSES.map(lens =>
    lens.name === 'beliefs' ? { ...lens, load: () => ({ ...beliefsLens, settings: () => settings }) } : lens,
  )
  return openEngineOf(lenses, {
    ...{ embedder: openToyEmbedder(), background: false, onlyLenses: ['beliefs'] },
    ...options,
  })
}

export type Json = Record<string, unknown>

/** The answer of an operation, the lens's or the engine's; rejects with its error. Writes are done when this returns. */
export async function callOperation(
  engine: Engine,
  name: string,
  by: string,
  input: unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<Json> {
  const catalog = CATALOGS.get(engine) ?? makeCatalog(engine)
  CATALOGS.set(engine, catalog)
  const context = { viewer: { id: by }, signal }
  return (await callAny(catalog, engine, name, input, context)) as Json
}

const CATALOGS = new WeakMap<Engine, Catalog>()
