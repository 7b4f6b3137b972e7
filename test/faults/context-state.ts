/** What the lens `context` keeps in a store and answers from it, in a form that does not depend on numbers or on order. */
import type { Json } from '../../src/base/canonical.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import {
  CARDS,
  CONCEPTS,
  EDGES,
  EXTRACTIONS,
  FILES,
  PROVENANCE,
  READ_ERRORS,
  STATE,
} from '../../src/lenses/context/tables.ts'
import type { LensHost } from '../../src/lenses/lens.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import type { Row } from '../../src/model/table.ts'

/** One line a row, sorted, but for the time of a file: written again with the same bytes it is not read again. Entries and concepts by what they are instead of their numbers. */
export function rowsOf({ store }: LensHost): readonly string[] {
  const files = new Map(
    store
      .table(FILES)
      .scan()
      .map(row => [row['entry'], row['url'] as string]),
  )
  const concepts = store.table(CONCEPTS).scan()
  const label = new Map(
    concepts.map(row => [row['id'], `${row['type']} ${row['symbol'] ?? row['name']} in ${row['url']}`]),
  )
  const line = (kind: string, row: object) =>
    `${kind} ${JSON.stringify(row, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))}`
  const textOf = (row: Row) => {
    const entry = store.entry(row['entry'] as EntryKey)
    return { title: entry?.title, content: entry?.content, origin: entry?.origin, kind: entry?.kind }
  }
  const ofFile = ({ entry, ...row }: Row) => ({ file: files.get(entry ?? null) ?? 'none', ...row })
  return [
    ...concepts.map(row => {
      const { entry: _, id: __, ...rest } = row
      return line('concept', { ...rest, ...textOf(row) })
    }),
    ...store
      .table(EDGES)
      .scan()
      .map(({ id: _, entry: __, source, target, ...row }) =>
        line('edge', { source: label.get(source ?? null), target: label.get(target ?? null), ...row }),
      ),
    ...store
      .table(PROVENANCE)
      .scan()
      .map(row => line('provenance', { of: label.get(row['concept'] ?? null), url: row['url'] })),
    ...store
      .table(FILES)
      .scan()
      .map(row => line('file', { ...row, entry: 0, mtime: 0, ...textOf(row) })),
    ...store
      .table(EXTRACTIONS)
      .scan()
      .map(row => line('extraction', ofFile(row))),
    ...store
      .table(CARDS)
      .scan()
      .map(row => line('card', ofFile(row))),
    ...store
      .table(READ_ERRORS)
      .scan()
      .map(row => line('read errors', ofFile(row))),
    ...store
      .table(STATE)
      .scan({ name: 'index_unfinished' })
      .map(row => line('state', row)),
  ].sort()
}

const QUESTIONS: readonly (readonly [string, Readonly<Record<string, Json>>])[] = [
  ...[1, 2, 7, 12].map(at => ['/context/definition', { name: `made${at}` }] as const),
  ...[1, 5, 10, 15].map(at => ['/context/references', { name: `made${at}`, limit: 1000 }] as const),
  ...[2, 3, 9].map(at => ['/context/callers', { name: `made${at}`, depth: 3, limit: 1000 }] as const),
  ...[1, 6, 11].map(at => ['/context/query', { query: `made${at}`, depth: 0, limit: 50 }] as const),
  ['/context/query', { query: 'C1of14.go', mode: 'exact', depth: 1, limit: 50 }],
  ['/body/fts/search', { query: 'way', limit: 1000 }],
  ['/body/fts/search', { query: 'Notes', limit: 1000 }],
  ['/graph/summary', {}],
]

/** The answers to 20 questions, as sorted parts: order may go by numbers where all else is equal. */
export async function answersOf(host: LensHost): Promise<readonly string[]> {
  const context = new Context(host)
  const all = await Promise.all(
    QUESTIONS.map(async ([path, params], at) => {
      const { result, errors } = await context.call(path, params)
      return partsOf(result ?? errors).map(part => `answer ${at} (${path}): ${part}`)
    }),
  )
  return all.flat().sort()
}

/** Each leaf with its names on the way, without the numbers of concepts and links. */
function partsOf(value: unknown, at = ''): readonly string[] {
  // Numbers of concepts differ from store to store; how many there are does not.
  if (Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'number')) {
    return [`${at}[]: ${value.length} numbers`]
  }
  if (Array.isArray(value)) return value.flatMap(item => partsOf(item, `${at}[]`))
  if (typeof value === 'object' && value !== null) {
    const named = Object.entries(value).filter(
      ([name]) => !/^(?:id|ids|nodes|source|target|concept_id|of|via|score)$/.test(name),
    )
    return named.flatMap(([name, inner]) => partsOf(inner, `${at}.${name}`))
  }
  if (typeof value === 'string' && value.includes('\n'))
    return value
      .split('\n')
      .sort()
      .map(line => `${at}: ${line}`)
  return [`${at}: ${String(value)}`]
}
