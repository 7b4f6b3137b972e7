/** Writes with the answer after each, and saving what became of them. */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../../src/engine/engine.ts'
import { saveSnapshot } from '../../../src/index/snapshot.ts'
import { seededUniform } from '../../../test/support/seeded.ts'
import { FOUNDER, MEMBER } from '../people.ts'
import { ProseTexts } from '../prose-data.ts'
import { quick } from '../quick.ts'
import { timed, timedAsync } from '../report.ts'
import { type Figure, figureOf } from './figures.ts'
import { INDEXES, openAt, shortName } from './opened.ts'
import { entryOf, questions } from './store.ts'

const CHANGES = quick ? 5 : 20
/** Enough that a snapshot is worth writing. */
const MANY_CHANGES = 600

export async function change(home: string): Promise<readonly Figure[]> {
  await using engine = await openAt(home)
  const texts = new ProseTexts(77)
  const { chunks } = await engine.status()
  return [...(await changes(engine, chunks, texts)), ...(await savings(engine, chunks, texts, home))]
}

async function changes(engine: Engine, chunks: number, texts: ProseTexts): Promise<readonly Figure[]> {
  const uniform = seededUniform(3)
  const holderOf = (id: string) => engine.host('default').store.find(id, everyPartition(engine))
  const some = () => Math.floor(uniform() * chunks)
  const question = { text: questions(3)[0] as string }
  const filtered = { ...question, filter: { metadata: { bucket: { lt: 500 } } } }
  await engine.query(question, { viewer: MEMBER })
  await engine.query(filtered, { viewer: MEMBER })
  const times = {
    update: [] as number[],
    after: [] as number[],
    filtered: [] as number[],
    remove: [] as number[],
    gone: [] as number[],
  }
  for (let at = 0; at < CHANGES; at++) {
    const [key] = holderOf(`entry-${some()}`)
    const entry = engine.host('default').store.entry(key ?? 1)
    if (entry === undefined) continue
    const own = { viewer: { id: entry.audience.holder } }
    const visibility = entry.audience.kind
    const federations = entry.audience.kind === 'shared' ? { federations: entry.audience.federations } : {}
    const draft = { ...entryOf(at, texts), id: entry.id, collection: entry.collection, visibility, ...federations }
    times.update.push(await timedAsync(() => engine.put({ entries: [draft], wait: true }, own)))
    times.after.push(await timedAsync(() => engine.query(question, { viewer: MEMBER })))
    times.filtered.push(await timedAsync(() => engine.query(filtered, { viewer: MEMBER })))
    times.remove.push(await timedAsync(() => engine.delete({ ids: [entry.id] }, own)))
    times.gone.push(await timedAsync(() => engine.query(question, { viewer: MEMBER })))
  }
  return [
    figureOf('update an entry, vector included', times.update),
    figureOf('question after an update', times.after),
    figureOf('question with a filter that keeps 50 %, after an update', times.filtered),
    figureOf('delete an entry', times.remove),
    figureOf('question after a deletion', times.gone),
  ]
}

async function savings(engine: Engine, chunks: number, texts: ProseTexts, home: string): Promise<readonly Figure[]> {
  const entries = Array.from({ length: MANY_CHANGES }, (_, at) => ({
    ...entryOf(at, texts),
    id: `new-${at}`,
    visibility: 'public' as const,
  }))
  await engine.put({ entries, wait: true }, { viewer: FOUNDER })
  const host = engine.host('default')
  const figures: Figure[] = []
  for (const name of INDEXES) {
    const index = host.index(name)
    const short = shortName(name)
    const path = join(home, `${short}.trial`)
    const value = timed(() => saveSnapshot(path, index, host.store))
    figures.push(
      { name: `save a snapshot of ${short}, with changes: nothing is answered meanwhile`, unit: 'ms', value },
      { name: `snapshot of ${short}`, unit: 'bytes a chunk', value: statSync(path).size / chunks },
    )
    rmSync(path)
  }
  return figures
}

function everyPartition(engine: Engine): readonly number[] {
  return engine
    .host('default')
    .store.partitions()
    .map(({ id }) => id)
}
