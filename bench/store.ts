/** The store alone, over 100,000 entries of five chunks: writing, touching, filtering, listing, opening. */
import { statSync } from 'node:fs'
import type { EntryDraft } from '../src/model/entry.ts'
import type { Filter } from '../src/model/filter.ts'
import { audience, OWNER } from '../src/model/partition.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import { draftOf } from '../test/support/entries.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'store'

const ENTRIES = quick ? 5_000 : 100_000
const BATCH = 100
const viewer = { id: OWNER }

function draft(at: number): EntryDraft {
  const paragraphs = Array.from({ length: 5 }, (_, part) => `Paragraph ${part} of entry ${at}. `.repeat(24))
  return draftOf({
    id: `entry-${at}`,
    collection: at % 2 ? 'notes' : 'code',
    title: `Entry ${at}`,
    content: paragraphs.join('\n'),
    tags: [`tag-${at % 50}`, 'common', `t${at % 7}`],
    metadata: { size: at % 1000, author: `author ${at % 20}`, flag: at % 3 === 0, deep: { level: at % 5 } },
    audience: audience(at % 4 ? 'private' : 'public', at % 10 ? OWNER : 'ann'),
    createdAt: at,
    updatedAt: ENTRIES - at,
  })
}

function chunks(content: string) {
  let start = 0
  return content.split('\n').map((line, at) => {
    const chunk = { start, end: start + line.length, startLine: at + 1, endLine: at + 1, headings: [] }
    start = chunk.end + 1
    return chunk
  })
}

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  return measure(folder.file('store.db'))
}

function measure(file: string): readonly Row[] {
  const rows: Row[] = []
  const p50 = (name: string, runs: number, act: (run: number) => unknown): void => {
    const cpuBefore = process.cpuUsage()
    const times = Array.from({ length: runs }, (_, run) => timed(() => act(run)))
    const { user, system } = process.cpuUsage(cpuBefore)
    const cpu = (user + system) / 1000 / runs
    rows.push({
      name,
      unit: 'ms',
      value: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      note: `${cpu.toPrecision(3)} ms of processor time a run`,
    })
  }
  let store = openSqliteStore({ file })
  let next = 0
  p50(`put ${BATCH} entries of 5 chunks in one transaction`, ENTRIES / BATCH, () =>
    store.write(1, writer => {
      for (let at = 0; at < BATCH; at++, next++) {
        const given = draft(next)
        writer.put(given, chunks(given.content))
      }
    }),
  )
  rows.push({ name: 'file', unit: 'MB', value: Math.round(statSync(file).size / 1e6) })
  const all = store.partitions().map(partition => partition.id)
  const accessScope = { viewer, partitions: all }

  const keys = store.scanEntries(0, ENTRIES)
  const ten = (run: number) =>
    Array.from({ length: 10 }, (_, at) => keys[(run * 7919 + at * 104_729) % ENTRIES] as number)
  p50('touch 10 entries in one transaction, first time', 2000, run =>
    store.write(1, writer => writer.touch(viewer, ten(run), run, 1)),
  )
  p50('touch 10 entries in one transaction, again', 2000, run =>
    store.write(1, writer => writer.touch(viewer, ten(run), run, 1)),
  )
  p50('entries() of 10', 500, run => store.entries(ten(run)))
  p50('identities() of 100', 500, run => store.identities(keys.slice(run * 100, run * 100 + 100)))
  p50('access() of 10', 500, run => store.access(viewer, ten(run)))
  p50('chunks() of 60', 500, run => store.chunks(keys.slice(run * 60, run * 60 + 60)))
  p50('validities() of 100', 500, run => store.validities(keys.slice(run * 100, run * 100 + 100)))
  p50('version()', 5000, () => store.version())
  p50('partitions()', 500, () => store.partitions())

  const filters: readonly (readonly [string, Filter])[] = [
    ['collection, 50 %', { op: 'eq', field: 'collection', value: 'notes' }],
    ['updated, 50 %', { op: 'lt', field: 'updated', value: ENTRIES / 2 }],
    ['tag, 2 %', { op: 'eq', field: 'tag', value: 'tag-7' }],
    ['tag, 100 %', { op: 'eq', field: 'tag', value: 'common' }],
    ['metadata number, 50 %', { op: 'lt', field: 'metadata.size', value: 500 }],
    ['metadata text, 5 %', { op: 'eq', field: 'metadata.author', value: 'author 3' }],
    ['title contains, 10 %', { op: 'contains', field: 'title', text: 'Y 9' }],
    ['not collection, 50 %', { op: 'not', of: { op: 'eq', field: 'collection', value: 'notes' } }],
    [
      'tag 2 % and updated 50 %',
      {
        op: 'and',
        of: [
          { op: 'eq', field: 'tag', value: 'tag-7' },
          { op: 'lt', field: 'updated', value: ENTRIES / 2 },
        ],
      },
    ],
  ]
  for (const [name, filter] of filters) {
    const share = ((store.matching(accessScope, filter).size / ENTRIES) * 100).toFixed(1)
    p50(`matching(): ${name} (${share} %)`, 15, () => store.matching(accessScope, filter))
  }
  for (const order of ['created', 'updated', 'accessed', 'id'] as const) {
    p50(`list() of 10 by ${order}`, 15, () =>
      store.list({ accessScope: accessScope, filter: null, order, limit: 10, after: null }),
    )
  }
  p50('count() of all', 15, () => store.count(accessScope, null))
  p50('facet() of tags', 15, () => store.facet(accessScope, 'tag', 20))
  p50('countChunks()', 10, () => store.countChunks(all))
  p50('chunksWithoutVector(), none yet', 50, () => store.chunksWithoutVector('m', 32))

  const vector = new Float32Array(384).fill(0.05)
  const chunkKeys = Array.from({ length: ENTRIES }, (_, at) => at + 1)
  p50('put 32 vectors in one transaction', ENTRIES / 32, run =>
    store.write(1, writer =>
      writer.putVectors(
        'm',
        chunkKeys.slice(run * 32, run * 32 + 32).map(chunk => ({ chunk, vector })),
      ),
    ),
  )
  p50('vectors() of 60', 500, run =>
    store.vectors(
      'm',
      ten(run).flatMap(key => [key, key + 1, key + 2, key + 3, key + 4, key + 5]),
    ),
  )
  p50('chunksWithoutVector(), a fifth done', 20, () => store.chunksWithoutVector('m', 32))
  p50('countVectors()', 10, () => store.countVectors('m', all))
  p50('scanVectors() of 10,000', 10, run => store.scanVectors('m', run * 9000, 10_000))
  p50('delete an entry', 500, run => store.write(1, writer => writer.delete(keys[run] as number)))
  p50('put again, unchanged', 500, run =>
    store.write(1, writer => writer.put(draft(run + 600), chunks(draft(run + 600).content))),
  )
  store.close()
  p50('open, ask one entry, close', 20, () => {
    store = openSqliteStore({ file })
    store.entry(keys[5000] as number)
    store.close()
  })
  return rows
}
