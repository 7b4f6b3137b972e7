/** Imports the lines that `export.ts` writes: all or nothing, every line checked, errors reported with the line number. */
import { z } from 'zod'
import type { Instant } from '../base/clock.ts'
import type { Steps, Turns } from '../base/turns.ts'
import type { Lens, LensImport } from '../lenses/lens.ts'
import type { EntryDraft, EntryKey } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import { jsonObjectInput, parseInput } from '../model/parse-input.ts'
import { audience } from '../model/partition.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import type { Store, StoreWriter } from '../store/store.ts'

const entryLine = z.strictObject({
  type: z.literal('entry'),
  entry: z.strictObject({
    id: z.string().min(1),
    collection: z.string(),
    kind: z.string(),
    title: z.string(),
    content: z.string(),
    tags: z.array(z.string()),
    metadata: jsonObjectInput,
    audience: z.strictObject({
      kind: z.enum(['public', 'private', 'shared']),
      holder: z.string(),
      federations: z.array(z.string()).optional(),
      masked: z.boolean().optional(),
    }),
    origin: z.string().nullable(),
    createdAt: z.int(),
    updatedAt: z.int(),
    validFrom: z.int().nullable(),
    validUntil: z.int().nullable(),
    knownAt: z.int(),
    chunks: z.array(
      z.strictObject({
        start: z.int().min(0),
        end: z.int().min(0),
        startLine: z.int().min(1),
        endLine: z.int().min(1),
        headings: z.array(z.string()),
        lead: z.string().min(1).optional(),
        sections: z.array(z.strictObject({ at: z.int().min(0), headings: z.array(z.string()) })).optional(),
      }),
    ),
  }),
})
const accessLine = z.strictObject({
  type: z.literal('access'),
  viewer: z.string().min(1),
  holder: z.string(),
  id: z.string(),
  state: z.strictObject({ lastAccessed: z.int(), count: z.int().min(0), strength: z.number().min(0) }),
})
const cell = z.union([z.string(), z.number(), z.null(), z.strictObject({ base64: z.base64() })])
const rowLine = z.strictObject({
  type: z.literal('row'),
  table: z.string(),
  /** The entry that a row belongs to, by holder and id, because its numeric key differs from store to store. */
  entry: z.strictObject({ holder: z.string(), id: z.string() }).optional(),
  row: z.record(z.string(), cell),
})
const headLine = z.strictObject({ type: z.literal('querent'), version: z.literal(1) })
const anyLine = z.discriminatedUnion('type', [headLine, entryLine, accessLine, rowLine])
type EntryLine = z.output<typeof entryLine>
type RowLine = z.output<typeof rowLine>
type EntryName = { readonly holder: string; readonly id: string }

export interface ImportParts {
  readonly tables: readonly TableDeclaration[]
  /** All lenses that have tables in the store, because a lens may have to convert its imported rows. */
  readonly lenses: readonly Lens[]
  readonly now: Instant
  random(bytes: number): Uint8Array
}

export interface Imported {
  readonly entries: number
  readonly rows: number
  /** Warnings about imported data that has no effect in this engine, with advice on what to do. */
  readonly warnings: readonly string[]
}

/**
 * Reads and checks all export lines, then writes them in one transaction, pausing between steps so that other work can run. An existing
 * entry with the holder and id of an imported one is replaced.
 */
export async function importLines(
  store: Store,
  lines: AsyncIterable<unknown>,
  { tables, lenses, now, random }: ImportParts,
  turns: Turns,
): Promise<Imported> {
  const parsed: z.output<typeof anyLine>[] = []
  for await (const line of lines) {
    parsed.push(parseInput(anyLine, line, `line ${parsed.length + 1}`))
    await turns.pauseIfDue()
  }
  const counts = { entries: 0, rows: 0, warnings: [] as readonly string[] }
  const write = function* (writer: StoreWriter): Steps<void> {
    const imports = lenses.flatMap(({ transfer }) => transfer?.beginImport?.(writer, { now, random }) ?? [])
    const known = new KnownEntries()
    for (const [i, line] of parsed.entries()) {
      yield* atLine(i + 1, function* (): Steps<void> {
        if (line.type === 'entry') {
          known.add(line.entry.audience.holder, line.entry.id, yield* putEntry(writer, line))
          counts.entries++
        } else if (line.type === 'access') {
          writer.setAccess({ id: line.viewer }, known.must(line), line.state)
        } else if (line.type === 'row') {
          if (putRow(writer, tables, line, known, imports)) counts.rows++
        }
      })
      yield
    }
    counts.warnings = imports.flatMap(each => each.end())
  }
  await store.writeInSteps(now, write, turns)
  return counts
}

/** Runs the import of one line, and adds the line number to the message of a `usage` error that the store throws for it. */
function* atLine(number: number, body: () => Steps<void>): Steps<void> {
  try {
    yield* body()
  } catch (error) {
    if (!(error instanceof QuerentError) || error.kind !== 'usage') throw error
    throw error.retold(`line ${number}: ${error.message}`, error.details, error)
  }
}

/** Store keys of the entries imported so far, by holder and id, so that later lines can refer to these entries. */
class KnownEntries {
  readonly #keys = new Map<string, EntryKey>()

  add(holder: string, id: string, key: EntryKey): void {
    this.#keys.set(`${holder}\0${id}`, key)
  }

  must({ holder, id }: EntryName): EntryKey {
    const key = this.#keys.get(`${holder}\0${id}`)
    if (key === undefined) throw invalidArgument('id', id, 'an entry on an earlier line')
    return key
  }
}

function* putEntry(writer: StoreWriter, { entry }: EntryLine): Steps<EntryKey> {
  const { chunks, audience: of, ...rest } = entry
  const draft: EntryDraft = { ...rest, audience: audience(of.kind, of.holder, of.federations ?? [], of.masked) }
  return (yield* writer.putInSteps(draft, chunks)).key
}

/**
 * Imports a table row. Returns false if the row was skipped, because it belongs to a change log of the exporting store, which exports of
 * older versions contain.
 */
function putRow(
  writer: StoreWriter,
  tables: readonly TableDeclaration[],
  line: RowLine,
  known: KnownEntries,
  imports: readonly LensImport[],
): boolean {
  const table = tables.find(candidate => candidate.name === line.table)
  if (table === undefined) throw invalidArgument('table', line.table, 'a table of a lens of this engine')
  if (table.mechanical === true) return false
  const cells = Object.entries(line.row).map(([name, value]): [string, Cell] => [
    name,
    value !== null && typeof value === 'object' ? Buffer.from(value.base64, 'base64') : value,
  ])
  const row = imports.reduce<Row>((given, each) => each.row(table.name, given), Object.fromEntries(cells))
  const entry = line.entry && known.must(line.entry)
  writer.table(table).put(entry === undefined ? row : { ...row, entry })
  // The entry itself is unchanged, but a lens's table has a new row for the entry. A change is added to the change feed for that, because
  // indexes that follow the feed must learn of the new row.
  if (entry !== undefined && table.aspect !== undefined) writer.announce(entry)
  return true
}
