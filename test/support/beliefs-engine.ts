/** Engines with the lens `beliefs` alone, for tests: toy vectors, a clock that stands still, nothing in the background. */
import { BUILT_IN_LENSES } from '../../src/engine/builtins.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngineOf } from '../../src/engine/open.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { beliefsLens } from '../../src/lenses/beliefs/beliefs-lens.ts'
import { checkSettings } from '../../src/lenses/beliefs/settings.ts'
import { openToyEmbedder, TOY_KEY } from '../../src/testing/toy-embedder.ts'
import { THRESHOLDS } from './beliefs-plain-measures.ts'

export function openBeliefsEngine(options: EngineOptions): Promise<Engine> {
  const settings = checkSettings({ thresholds: { [TOY_KEY]: THRESHOLDS } })
  const lenses = BUILT_IN_LENSES.map(lens =>
    lens.name === 'beliefs' ? { ...lens, load: () => ({ ...beliefsLens, settings: () => settings }) } : lens,
  )
  return openEngineOf(lenses, {
    ...{ embedder: openToyEmbedder(), background: false, onlyLenses: ['beliefs'] },
    ...options,
  })
}

export type Json = Record<string, unknown>

/** The lens's answer; rejects with its error. Writes are done when this returns, what else there is when it resolves. */
export async function callOperation(engine: Engine, name: string, by: string, input: unknown): Promise<Json> {
  const found = engine.lensOperations.find(({ operation }) => operation.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  const context = { viewer: { id: by }, signal: new AbortController().signal }
  return (await found.operation.run(engine.host(found.lens), input as never, context)) as Json
}
