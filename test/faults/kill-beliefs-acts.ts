/** An endless history of writes of the lens `beliefs`: the same for a child that is killed over and over, and for one that is not. */
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { currentVersion, pastVersion } from '../../src/lenses/beliefs/record/version.ts'
import { BELIEFS, TRUST, VERSIONS } from '../../src/lenses/beliefs/tables.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { callOperation, openBeliefsEngine } from '../support/beliefs-engine.ts'
import { seededUniform } from '../support/seeded.ts'

const START = Date.parse('2026-03-01T12:00:00Z')
const STEP_MS = 90_000
const HOLDERS = ['ann', 'bob', 'cyd']
const KINDS = 7

/** `file` null: in memory. */
export async function openHistory(file: string | null): Promise<History> {
  const store = file === null ? openMemoryStore() : openSqliteStore({ file })
  const seed = { value: 0, uniform: seededUniform(0) }
  const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * seed.uniform()))
  const clock = new SettableClock(START)
  const engine = await openBeliefsEngine({ store, clock, random })
  const moment = (act: number) => {
    clock.set(START + act * STEP_MS)
    // Ids and keys are those of the act, whoever does it.
    seed.uniform = seededUniform(act)
  }
  return new History(engine, store, moment)
}

export class History implements AsyncDisposable {
  readonly #engine: Engine
  readonly #store: Store
  readonly #moment: (act: number) => void

  constructor(engine: Engine, store: Store, moment: (act: number) => void) {
    this.#engine = engine
    this.#store = store
    this.#moment = moment
  }

  async take(act: number): Promise<void> {
    this.#moment(act)
    const round = act - (act % KINDS)
    const by = HOLDERS[(round / KINDS) % HOLDERS.length] as string
    const [operation, input] = deed(act % KINDS, round, by)
    // Every other one is embedded before it is acknowledged.
    const wait = operation.startsWith('beliefs') && operation !== 'beliefs.delete' ? { wait: act % 2 === 0 } : {}
    await callOperation(this.#engine, operation, by, { ...input, ...wait })
  }

  /** Everything that is kept of beliefs and trust, by name; what is made of it later (vectors) left out. */
  dump(): ReadonlyMap<string, string> {
    const store = this.#store
    return store.read(reader => {
      const rows = reader.table(BELIEFS).scan()
      const entries = new Map(reader.entries(rows.map(row => row['entry'] as number)).map(one => [one.key, one]))
      const current = rows.map(row => {
        const entry = entries.get(row['entry'] as number)
        if (entry === undefined) return ['belief', `row without an entry: ${JSON.stringify(row)}`] as const
        return [`${entry.audience.holder} ${entry.id}`, JSON.stringify(currentVersion(entry, row))] as const
      })
      const past = reader.table(VERSIONS).scan({}, { columns: PAST })
      const edges = reader.table(TRUST).scan()
      return new Map([
        ...current,
        ...past.map(row => [`past ${row['holder']} ${row['id']}`, JSON.stringify(row)] as const),
        ...edges.map(row => [`edge ${row['owner']} ${row['target']}`, JSON.stringify(row)] as const),
      ])
    })
  }

  /** What is wrong with how versions hang together, whatever was to be written. */
  brokenLinks(): readonly string[] {
    const store = this.#store
    return store.read(reader => {
      const rows = reader.table(BELIEFS).scan()
      const held = new Map(reader.entries(rows.map(row => row['entry'] as number)).map(one => [one.key, one]))
      const current = rows.flatMap(row => {
        const entry = held.get(row['entry'] as number)
        return entry === undefined ? [] : [currentVersion(entry, row)]
      })
      const all = [...current, ...reader.table(VERSIONS).scan({}, { columns: PAST }).map(pastVersion)]
      const named = new Map(all.map(one => [`${one.holder} ${one.id}`, one]))
      const wrong = all.filter(({ holder, supersedes, supersededBy, id, version, deletedAt, chain }) => {
        const before = supersedes === null ? undefined : named.get(`${holder} ${supersedes}`)
        const after = supersededBy === null ? undefined : named.get(`${holder} ${supersededBy}`)
        const isBegun = version === 1 ? supersedes === null && chain === id : before?.supersededBy === id
        const isEnd = supersededBy === null && (deletedAt !== null || current.some(one => one.id === id))
        return !isBegun || !(isEnd || after?.supersedes === id)
      })
      return [
        ...wrong.map(one => `half a link: ${JSON.stringify(one)}`),
        ...(rows.length === current.length ? [] : ['a row without its entry']),
      ]
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine.close()
  }
}

const PAST = VERSIONS.columns.map(({ name }) => name).filter(name => name !== 'embedding' && name !== 'model')

function deed(kind: number, round: number, by: string): readonly [string, Readonly<Record<string, unknown>>] {
  const other = HOLDERS[(HOLDERS.indexOf(by) + 1) % HOLDERS.length] as string
  const draft = (id: string) => ({ id, content: `It rains on day ${id}.`, visibility: 'public', domains: ['weather'] })
  switch (kind) {
    case 0:
    case 1:
      return ['beliefs.put', { beliefs: [0, 1, 2].map(at => draft(`b${round + kind}.${at}`)) }]
    case 2:
      return ['beliefs.supersede', { belief_id: `b${round}.0`, id: `s${round}`, content: `It snowed on ${round}.` }]
    case 3:
      return ['trust.set', { target: other, trust_level: (round % 10) / 10 }]
    case 4:
      return ['beliefs.delete', { belief_id: `b${round + 1}.1` }]
    case 5:
      return ['beliefs.supersede', { belief_id: `s${round}`, id: `t${round}`, visibility: 'private' }]
    default:
      return round % 2 === 0 ? ['trust.remove', { target: other }] : ['beliefs.delete', { belief_id: `t${round}` }]
  }
}
