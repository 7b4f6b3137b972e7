/**
 * What beliefs that a requester may not see cost its queries (BQ-195): the same 3,000 visible ones beside 3,000 hidden ones, and beside
 * ten times as many, of the same holders and written among them. Asked in turn in one run, so that the machine
 * is the same to both: again and again, after hidden beliefs were written, and after visible ones were.
 */
import { SettableClock } from '../src/base/clock.ts'
import { openEngine } from '../src/engine/open.ts'
import { runQuery } from '../src/lenses/beliefs/paging/reading.ts'
import { parseRequest } from '../src/lenses/beliefs/schema/faults.ts'
import { queryInput, toQuery } from '../src/lenses/beliefs/schema/query.ts'
import { stateOf } from '../src/lenses/beliefs/state.ts'
import { callOperation, makeCatalog } from '../src/ops/catalog.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { openToyEmbedder } from '../test/support/toy-embedder.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timedAsync } from './lib/report.ts'

export const name = 'hidden-load'

const VISIBLE = quick ? 500 : 3_000
const TIMES = 10
const ROUNDS = quick ? 40 : 600
const WARM_UP = quick ? 10 : 100
const MAX_APART = 0.05
const NOW = Date.UTC(2026, 0, 1)
/** What is visible is the same in both, and so are the answers. All of one length, and most of few words: the toy embedder's vectors are sums of words. */
const WORDS = ['rain', 'snow', 'wind', 'hill', 'sea', 'fox', 'crow', 'oak', 'moss', 'road']
const REQUESTER = 'requester'
const HOLDERS = 20

type Ask = (round: number) => Promise<unknown>

interface World {
  close(): Promise<void>
  readonly ask: Ask
  /** Writes one belief that the requester sees, or one that it does not. */
  write(round: number, visible: boolean): Promise<unknown>
}

export async function run(): Promise<readonly Row[]> {
  const few = await world(VISIBLE)
  const many = await world(VISIBLE * TIMES)
  try {
    const ways: readonly (readonly [string, (world: World, round: number) => Promise<unknown>])[] = [
      ['nothing written between', async () => undefined],
      ['a hidden belief written before each', ({ write }, round) => write(round, false)],
      ['a visible belief written before each', ({ write }, round) => write(round, true)],
    ]
    const rows: Row[] = []
    for (const [title, before] of ways) rows.push(await compared(title, few, many, before))
    return rows
  } finally {
    await few.close()
    await many.close()
  }
}

async function compared(
  title: string,
  few: World,
  many: World,
  before: (world: World, round: number) => Promise<unknown>,
): Promise<Row> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    // Now the one first, now the other.
    const order = round % 2 === 0 ? [0, 1] : [1, 0]
    for (const at of order) {
      const asked = at === 0 ? few : many
      await before(asked, round)
      const time = await timedAsync(() => asked.ask(round))
      if (round >= WARM_UP) times[at as 0 | 1].push(time)
    }
  }
  const [one, other] = times.map(each => percentile(each, 0.5)) as [number, number]
  const apart = other / one - 1
  return {
    name: `ten times more hidden beliefs, ${title}`,
    unit: '% of the median',
    value: apart * 100,
    goal: `less than ${MAX_APART * 100} % apart`,
    ok: Math.abs(apart) < MAX_APART,
    note: `medians ${one.toFixed(3)} and ${other.toFixed(3)} ms`,
  }
}

async function world(hidden: number): Promise<World> {
  const uniform = seededUniform(1)
  const random = (length: number) => Uint8Array.from({ length }, () => Math.floor(256 * uniform()))
  const clock = new SettableClock(NOW)
  const folder = tempFolder()
  const engine = await openEngine({ home: folder.path, embedder: openToyEmbedder(), clock, random, background: false })
  const catalog = makeCatalog(engine)
  const call = (operation: string, id: string, input: object) =>
    callOperation(catalog, engine, operation, input, { viewer: { id }, signal: new AbortController().signal })
  for (let at = 0; at < HOLDERS; at++) await call('agents.create', 'owner', { id: `holder-${at}` })
  await call('agents.create', 'owner', { id: REQUESTER })
  // Mixed, as they are where many write: a hidden one may stand beside any visible one.
  let [seen, unseen] = [0, 0]
  for (let shown = 0; shown < VISIBLE; shown += BATCH) {
    await call('beliefs.put', `holder-${seen % HOLDERS}`, { wait: true, beliefs: drafts(BATCH, seen++, 'public') })
    for (let left = (hidden / VISIBLE) * BATCH; left > 0; left -= BATCH) {
      await call('beliefs.put', `holder-${unseen % HOLDERS}`, {
        wait: true,
        beliefs: drafts(BATCH, unseen++, 'private'),
      })
    }
  }
  const state = stateOf(engine.host('beliefs'))
  return {
    close: async () => {
      await engine.close()
      folder[Symbol.dispose]()
    },
    ask: round => {
      const query = {
        semantic: `${wordAt(round)} ${wordAt(round * 3 + 1)}`,
        context: { query_domains: [`science/d${round}`] },
        options: { scope: { local: true, network: true } },
      }
      const checked = toQuery(parseRequest(queryInput, query), { id: REQUESTER, trustGraph: null })
      return runQuery(state, checked, { requester: REQUESTER, signal: new AbortController().signal })
    },
    write: (round, visible) =>
      call('beliefs.put', `holder-${round % HOLDERS}`, {
        ...{ wait: true, visibility: visible ? 'public' : 'private' },
        content: `${wordAt(round)} ${visible} ${seen + round}`,
      }),
  }
}

const BATCH = 250

function drafts(count: number, from: number, visibility: string): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    content: `${wordAt(at)} ${wordAt(at * 7 + from)} ${wordAt(at * 3)} ${from}.${at}`,
    ...{ visibility, confidence: { source_reliability: (at % 10) / 10 }, domains: ['science/biology'] },
  }))
}

function wordAt(at: number): string {
  return WORDS[at % WORDS.length] as string
}
