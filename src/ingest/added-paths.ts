/**
 * Stores the options (collection, tags, visibility and others) with which files and folders were added. A file gets the options of the
 * nearest added path: the file itself, its folder, or a folder further up.
 */
import { dirname } from 'node:path'
import type { Instant } from '../base/clock.ts'
import { type Audience, audience } from '../model/partition.ts'
import type { Row } from '../model/table.ts'
import { ADDED_PATHS, SEEN_FILES } from '../store/core-tables.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import { addedPaths, isWithin, knownRows, ownFile, seenFiles } from './known-files.ts'
import type { Place } from './place.ts'

/** Options of a request to add paths. An absent option keeps the value that was given when the path was added before. */
export interface GivenOptions {
  readonly lens?: string | undefined
  readonly collection?: string | undefined
  readonly kind?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly audience?: Audience | undefined
  /** For files of records, such as JSON Lines: for a field of an entry, the name of the record's field. */
  readonly map?: Readonly<Record<string, string>> | undefined
}

/** Options that apply to the files at or below a path. Null: no value was ever given for the option. */
export interface PathOptions {
  readonly lens: string | null
  readonly collection: string | null
  readonly kind: string | null
  /** Tags for entries made from files at the path. Null: it is unknown which were given, so existing entries keep their tags. */
  readonly tags: readonly string[] | null
  readonly audience: Audience | null
  readonly map: Readonly<Record<string, string>> | null
}

const NEVER_ADDED: PathOptions = { lens: null, collection: null, kind: null, tags: [], audience: null, map: null }
const UNKNOWN: PathOptions = { ...NEVER_ADDED, tags: null }

type ByPath = ReadonlyMap<string, PathOptions>

/**
 * Stores the options given for an added path; they also replace those of added paths below that path. Returns a function that gives the
 * options of any file at or below the path. `known`: absolute paths of those files that already have entries in the store.
 */
export async function rememberOptions(
  store: Store,
  place: Place,
  given: GivenOptions,
  { holder, now, known }: { readonly holder: string; readonly now: Instant; readonly known: Iterable<string> },
): Promise<(path: string) => PathOptions> {
  const paths = [...known]
  const planIn = (reader: StoreReader) => planOptions(optionsByPath(reader, holder), place, given, paths)
  let { after, changed } = planIn(store)
  if (changed.length > 0) {
    await store.writeWhenFree(now, writer => {
      // The changes are computed a second time, inside the transaction, because another run may have written options since the first time.
      ;({ after, changed } = planIn(writer))
      const table = writer.table(ADDED_PATHS)
      for (const path of changed) {
        const root = path === place.absolute ? place.root : (table.get({ holder, path })?.['root'] as string)
        table.put({ holder, path, root, ...cellsOf(after.get(path) as PathOptions) })
      }
    })
  }
  return path => nearest(after, path) ?? (after.get(place.absolute) as PathOptions)
}

/** The options of all added paths after the change, and the paths whose options differ from before. */
function planOptions(
  before: ByPath,
  place: Place,
  given: GivenOptions,
  known: readonly string[],
): { readonly after: ByPath; readonly changed: readonly string[] } {
  const isUnknown = known.some(path => nearest(before, path) === undefined)
  const around = nearest(before, place.absolute) ?? (isUnknown ? UNKNOWN : NEVER_ADDED)
  const below = [...before].filter(([path]) => path !== place.absolute && isWithin(path, place.absolute))
  const after = new Map([...before, ...below.map(([path, options]) => [path, merged(options, given)] as const)])
  after.set(place.absolute, merged(around, given))
  const changed = [place.absolute, ...below.map(([path]) => path)].filter(
    path => JSON.stringify(after.get(path)) !== JSON.stringify(before.get(path)),
  )
  return { after, changed }
}

function optionsByPath(reader: StoreReader, holder: string): ByPath {
  const rows = reader.table(ADDED_PATHS).scan({ holder })
  return new Map(rows.map(row => [row['path'] as string, optionsOf(row, holder)]))
}

function nearest(options: ByPath, path: string): PathOptions | undefined {
  for (let at = path; ; at = dirname(at)) {
    const found = options.get(at)
    if (found !== undefined || dirname(at) === at) return found
  }
}

function merged(options: PathOptions, given: GivenOptions): PathOptions {
  return {
    lens: given.lens ?? options.lens,
    collection: given.collection ?? options.collection,
    kind: given.kind ?? options.kind,
    tags: given.tags ?? options.tags,
    audience: given.audience ?? options.audience,
    map: given.map ?? options.map,
  }
}

function cellsOf({ audience: of, tags, map, ...texts }: PathOptions): Row {
  return {
    ...texts,
    tags: tags && JSON.stringify(tags),
    visibility: of?.kind ?? null,
    federations: of?.kind === 'shared' ? JSON.stringify(of.federations) : null,
    map: map && JSON.stringify(map),
  }
}

function optionsOf(row: Row, holder: string): PathOptions {
  const text = (name: string) => row[name] as string | null
  const json = (name: string) => JSON.parse(text(name) ?? 'null')
  const kind = text('visibility') as Audience['kind'] | null
  return {
    lens: text('lens'),
    collection: text('collection'),
    kind: text('kind'),
    tags: json('tags'),
    audience: kind === null ? null : audience(kind, holder, json('federations') ?? []),
    map: json('map'),
  }
}

/**
 * Removes a path from the added paths: entries made from its files are deleted, unless another added path contains the files too. Returns
 * the number of deleted entries.
 */
export async function forgetPaths(
  store: Store,
  paths: readonly string[],
  holder: string,
  now: Instant,
): Promise<number> {
  if (paths.length === 0) return 0
  return store.writeWhenFree(now, writer => {
    const others = addedPaths(writer, holder).filter(({ path }) => !paths.includes(path))
    let deleted = 0
    for (const forgotten of paths) {
      const isLeft = (path: string) => isWithin(path, forgotten) && !others.some(other => isWithin(path, other.path))
      deleted += deleteEntriesOf(writer, forgotten, isLeft, holder)
      for (const path of seenFiles(writer, holder).keys()) {
        if (isLeft(path)) writer.table(SEEN_FILES).delete({ holder, path })
      }
    }
    // The rows of the added paths are deleted last, because the entries to delete are found by means of these rows.
    for (const path of paths) writer.table(ADDED_PATHS).delete({ holder, path })
    return deleted
  })
}

function deleteEntriesOf(
  writer: StoreWriter,
  place: string,
  isLeft: (path: string) => boolean,
  holder: string,
): number {
  let deleted = 0
  for (const [path, rows] of knownRows(writer, place)) {
    if (!isLeft(path)) continue
    for (const { key } of ownFile(writer, rows, holder)?.entries.values() ?? []) if (writer.delete(key)) deleted++
  }
  return deleted
}
