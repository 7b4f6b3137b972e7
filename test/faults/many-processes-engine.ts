/** The engine that several processes open on one home, and the questions by which they are held against each other. */
import type { Embedder } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import type { Lens } from '../../src/lenses/lens.ts'
import type { TableDeclaration } from '../../src/model/table.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

export const LANDMARKS = 12
export const AGENTS = ['ann', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal']
/** Sets of hashtags that keep the rules of zones. */
export const HASHTAGS = [
  ['#databases', '#sqlite', '#index', '#transaction', '#query', '#schema', '#backup', '#stable'],
  ['#web', '#http', '#cors', '#cookies', '#session', '#browser', '#html', '#css', '#current'],
]

/** Lines that the job of the lens `relay` writes: in a turn of one process nobody else may write. */
export const RELAY: TableDeclaration = {
  name: 'relay_lines',
  columns: [
    { name: 'seq', type: 'integer' },
    { name: 'turn', type: 'text' },
  ],
  key: ['seq'],
}
const LINES = 12
const PAUSE_MS = 60
const EMBEDDING_MS = 3

export type Clock = { frozen: number | null }

/** `name` tells the turns of this process's job from others'. */
export function openShared(clock: Clock, name: string, options: EngineOptions): Promise<Engine> {
  return openEngine({
    embedder: slowly(openToyEmbedder()),
    lenses: [relay(name)],
    clock: { now: () => clock.frozen ?? Date.now() },
    ...options,
  })
}

/** What an engine answers to everything, as long as nothing is written and its clock stands. */
export async function answersOf(engine: Engine): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {}
  const ask = { any: true, touch: false, limit: 20, timeout_ms: 120_000 } as const
  for (const text of ['quick fox', 'automobile garden', 'landmark']) {
    for (const mode of ['hybrid', 'words', 'meaning'] as const) {
      const { items } = await engine.query({ text, mode, explain: true, ...ask }, { viewer: { id: 'ann' } })
      answers[`${mode} ${text}`] = items
    }
    answers[`collections ${text}`] = (await engine.query({ text, lens: 'collections', ...ask })).items
    const beliefs = { semantic: text, options: { limit: 20, timeout_ms: 30_000 } }
    answers[`beliefs ${text}`] = (await callOperation(engine, 'beliefs.query', 'bob', beliefs))['beliefs']
  }
  for (const hashtags of HASHTAGS) {
    const question = { hashtags, k: 20, update_access: false, include_rotten: true }
    answers[`chroma ${hashtags[0]}`] = (await callOperation(engine, 'chroma.query', 'owner', question))['results']
  }
  return answers
}

/** So that a batch takes a while, and processes die holding its lease. */
function slowly(inner: Embedder): Embedder {
  return {
    ...inner,
    embed: async (texts, kind, signal) => {
      if (kind === 'passage') await sleep(texts.length * EMBEDDING_MS)
      return inner.embed(texts, kind, signal)
    },
  }
}

function relay(name: string): Lens {
  let runs = 0
  return {
    name: 'relay',
    summary: 'Hands a line of work on from process to process',
    tables: [RELAY],
    jobs: [
      {
        name: 'relay.lines',
        everyMs: 300,
        run: async ({ store }, now, signal, _report, mustHold) => {
          const turn = `${name}.${++runs}`
          for (let line = 0; line < LINES && !signal.aborted; line++) {
            store.write(now, writer => {
              mustHold(writer)
              const table = writer.table(RELAY)
              table.put({ seq: table.count() + 1, turn })
            })
            await sleep(PAUSE_MS)
          }
        },
      },
    ],
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
