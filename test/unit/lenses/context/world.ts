/** A store with the lens, asked by path. */
import { it as base } from 'vitest'
import type { JsonObject } from '../../../../src/base/canonical.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import type { EngineOptions } from '../../../../src/engine/options.ts'
import type { Envelope } from '../../../../src/lenses/context/envelope.ts'
import { Context } from '../../../../src/lenses/context/operations.ts'
import type { LensHost } from '../../../../src/lenses/lens.ts'
import { LOCAL_OWNER, type Viewer } from '../../../../src/model/viewer.ts'
import { openTestEngine } from '../../../support/engines.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'

export interface ContextWorld extends AsyncDisposable {
  readonly engine: Engine
  readonly host: LensHost
  call(path: string, params?: unknown, viewer?: Viewer): Promise<Envelope>
  /** The result of a call that must succeed. */
  do(path: string, params?: unknown, viewer?: Viewer): Promise<JsonObject>
  /** Concepts by name, all of one type; their ids count from 1. */
  concepts(...names: readonly string[]): Promise<void>
  /** `[source, target]`, or with relation and weight. */
  edges(...edges: readonly (readonly [number, number, string?, number?])[]): Promise<void>
  query(params: unknown): Promise<Answer>
}

export interface Answer {
  readonly concepts: readonly { readonly id: number; readonly relevance: string; readonly score?: number }[]
  readonly files: readonly JsonObject[]
  readonly graph: { readonly nodes: readonly number[]; readonly edges: readonly JsonObject[] }
}

export interface WorldOptions extends EngineOptions {
  readonly empty?: boolean
}

/** Both parts are there unless `empty`. */
export async function openWorld({ empty = false, ...options }: WorldOptions = {}): Promise<ContextWorld> {
  const engine = await openTestEngine(options)
  const host = engine.host('context')
  const call = (path: string, params: unknown = null, viewer: Viewer = LOCAL_OWNER) =>
    new Context(host, viewer).call(path, params)
  const callOk = async (path: string, params?: unknown, viewer?: Viewer): Promise<JsonObject> => {
    const { result, errors } = await call(path, params, viewer)
    if (result === null) throw new Error(`${path}: ${JSON.stringify(errors)}`)
    return result
  }
  if (!empty) {
    await callOk('/body/init')
    await callOk('/mind/init')
  }
  return {
    engine,
    host,
    call,
    do: callOk,
    concepts: async (...names) => {
      await callOk('/mind/concepts/create-many', { concepts: names.map(name => ({ name, type: 'Entity' })) })
    },
    edges: async (...edges) => {
      const drafts = edges.map(([source, target, relation = 'DEPENDS_ON', weight = 1]) => ({
        ...{ source, target, relation, weight },
      }))
      await callOk('/mind/edges/create-many', { edges: drafts })
    },
    query: async params => (await callOk('/context/query', params)) as unknown as Answer,
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

export function idsOf({ concepts }: Answer): readonly number[] {
  return concepts.map(({ id }) => id)
}

/** Tests that take `world` have one of their own, without an embedder; those that take `embedded`, one with the toy embedder. */
export const it = base.extend<{ world: ContextWorld; embedded: ContextWorld }>({
  // biome-ignore lint/correctness/noEmptyPattern: the pattern says which other fixtures it needs.
  world: async ({}, use) => {
    await using world = await openWorld()
    await use(world)
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  embedded: async ({}, use) => {
    await using world = await openWorld({ embedder: openToyEmbedder() })
    await use(world)
  },
})
