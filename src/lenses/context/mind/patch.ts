/**
 * What a patch about one file asks for, held against what there is (CX-057): which concepts and links it adds, which of them
 * are there already, and what an earlier patch about the same file said that this one no longer says.
 */
import type { EntryKey } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Call } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { type ErrorMap, errorAt, joined, Refusal } from '../envelope.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'
import { type Look, mustOwn } from './look.ts'
import { type ConceptAt, NOTE } from './rows.ts'

/** As a model writes it. */
export interface Patch {
  readonly url: string
  readonly concepts: readonly NamedConcept[]
  readonly edges: readonly NamedEdge[]
}

export interface NamedConcept {
  readonly name: string
  readonly type: string
}

export interface NamedEdge {
  readonly source: string
  readonly target: string
  readonly relation: string
  readonly weight: number
}

export interface PlannedConcept extends NamedConcept {
  /** Null: it is to be created. */
  readonly known: ConceptAt | null
}

export interface PlannedEdge {
  readonly source: PlannedConcept
  readonly target: PlannedConcept
  readonly relation: string
  readonly weight: number
  /** Of the link that is there already. */
  readonly id: number | null
  readonly isSame: boolean
}

export interface PatchPlan {
  /** Those of the patch, each once. */
  readonly concepts: readonly PlannedConcept[]
  readonly edges: readonly PlannedEdge[]
  /** Links that only the earlier patch wanted. */
  readonly staleEdges: readonly { readonly id: number; readonly entry: EntryKey }[]
  /** Concepts that only the earlier patch placed in the file; `isOrphan`: nothing else holds them. */
  readonly stale: readonly { readonly concept: Concept; readonly isOrphan: boolean }[]
}

/** Throws `Refusal` for names that lead nowhere or to several concepts. */
export function planPatch(call: Call, reader: StoreReader, seen: Look, patch: Patch): PatchPlan {
  const there = conceptsOf(reader, seen, patch.url)
  const concepts = plannedConcepts(patch.concepts, there)
  const edges = plannedEdges(call, reader, seen, patch, finderOf(seen, concepts, there))
  return {
    concepts,
    edges,
    staleEdges: staleEdges(call, reader, seen, patch.url, edges),
    stale: staleConcepts(call, reader, seen, patch.url, there, concepts),
  }
}

/** Those the viewer sees, by id. */
function conceptsOf(reader: StoreReader, { concepts }: Look, url: string): readonly Concept[] {
  const rows = reader.table(PROVENANCE).scan({ url }, { columns: ['entry', 'url'] })
  return rows.flatMap(row => concepts.byEntry(row['entry'] as EntryKey) ?? []).sort((a, b) => a.id - b.id)
}

function plannedConcepts(named: readonly NamedConcept[], there: readonly Concept[]): readonly PlannedConcept[] {
  const known = new Map(there.toReversed().map(concept => [keyOf(concept), concept]))
  const planned = new Map<string, PlannedConcept>()
  for (const { name, type } of named) {
    const key = keyOf({ name, type })
    planned.set(key, { name, type, known: known.get(key) ?? null })
  }
  return [...planned.values()]
}

function keyOf({ name, type }: NamedConcept): string {
  return JSON.stringify([type, name])
}

type Finder = (name: string) => readonly PlannedConcept[]

/** What a name means: the patch's own first, then what the file holds, then everything. */
function finderOf({ concepts }: Look, planned: readonly PlannedConcept[], there: readonly Concept[]): Finder {
  const asPlanned = (known: Concept): PlannedConcept => ({ name: known.name, type: known.type, known })
  return name => {
    const own = planned.filter(concept => concept.name === name)
    if (own.length > 0) return own
    const near = there.filter(concept => concept.name === name)
    if (near.length > 0) return near.map(asPlanned)
    return concepts.all.filter(concept => concept.name === name).map(asPlanned)
  }
}

function plannedEdges(
  call: Call,
  reader: StoreReader,
  seen: Look,
  { url, edges }: Patch,
  find: Finder,
): readonly PlannedEdge[] {
  const errors: ErrorMap[] = []
  const planned = new Map<string, Omit<PlannedEdge, 'id' | 'isSame'>>()
  for (const [at, { source: from, target: to, relation, weight }] of edges.entries()) {
    const place = ['edges', String(at)]
    const source = collecting(errors, () => sourceAt(call, seen, find(from), [...place, 'source_name']))
    const target = collecting(errors, () => theOne(find(to), [...place, 'target_name']))
    if (source === null || target === null) continue
    const key = JSON.stringify([source.known?.id, keyOf(source), target.known?.id, keyOf(target), relation])
    if (!planned.has(key)) planned.set(key, { source, target, relation, weight })
  }
  if (errors.length > 0) throw new Refusal(joined(errors))
  const rows = rowsByTriple(reader, [...planned.values()])
  return [...planned.values()].map(edge => {
    const row = rows.get(tripleOf(edge.source.known?.id, edge.target.known?.id, edge.relation))
    // The weight of what the indexer or a call has linked is theirs.
    const isSame = row !== undefined && (row['origin'] !== url || row['weight'] === edge.weight)
    return { ...edge, id: row === undefined ? null : (row['id'] as number), isSame }
  })
}

function collecting<T>(errors: ErrorMap[], body: () => T): T | null {
  try {
    return body()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    errors.push(error.errors)
    return null
  }
}

function sourceAt(call: Call, seen: Look, found: readonly PlannedConcept[], place: readonly string[]): PlannedConcept {
  const source = theOne(found, place)
  if (source.known !== null) mustOwn(call, seen, source.known.id, place)
  return source
}

function theOne(found: readonly PlannedConcept[], place: readonly string[]): PlannedConcept {
  const [first, second] = found
  if (first === undefined) throw new Refusal(errorAt(place, 'not_found', 'concept not found'))
  if (second === undefined) return first
  const types = found.map(({ type, known }) => (known === null ? type : `${known.id} (${type})`)).join(', ')
  throw new Refusal(errorAt(place, 'ambiguous', `${found.length} concepts have this name: ${types}`))
}

/** Links there are from the known sources. */
function rowsByTriple(
  reader: StoreReader,
  edges: readonly { readonly source: PlannedConcept }[],
): ReadonlyMap<string, Row> {
  const entries = [...new Set(edges.flatMap(({ source }) => source.known?.entry ?? []))]
  const rows = entries.length === 0 ? [] : reader.table(EDGES).scan({}, { entries })
  return new Map(
    rows.map(row => [tripleOf(row['source'] as number, row['target'] as number, row['relation'] as string), row]),
  )
}

function tripleOf(source: number | undefined, target: number | undefined, relation: string): string {
  return JSON.stringify([source ?? null, target ?? null, relation])
}

/** Links that patches about this file have made, of concepts that the viewer may change. */
function staleEdges(
  call: Call,
  reader: StoreReader,
  seen: Look,
  url: string,
  wanted: readonly PlannedEdge[],
): PatchPlan['staleEdges'] {
  const kept = new Set(wanted.map(({ id }) => id))
  return reader
    .table(EDGES)
    .scan({ origin: url }, { columns: ['id', 'entry', 'source'] })
    .filter(row => !kept.has(row['id'] as number) && mayChange(call, seen, row['source'] as number))
    .map(row => ({ id: row['id'] as number, entry: row['entry'] as EntryKey }))
}

/** Those that patches about this file have made. */
function staleConcepts(
  call: Call,
  reader: StoreReader,
  seen: Look,
  url: string,
  there: readonly Concept[],
  wanted: readonly PlannedConcept[],
): PatchPlan['stale'] {
  const kept = new Set(wanted.map(({ known }) => known?.entry))
  const candidates = there.filter(({ id, entry }) => !kept.has(entry) && mayChange(call, seen, id))
  return candidates.flatMap(concept => {
    const row = reader.table(CONCEPTS).get({ entry: concept.entry })
    if (row?.['symbol'] !== null || row['url'] !== url) return []
    const isHeld = concept.type === NOTE || reader.table(PROVENANCE).count({ entry: concept.entry }) > 1
    return [{ concept, isOrphan: !isHeld }]
  })
}

function mayChange(call: Call, seen: Look, id: number): boolean {
  return seen.concepts.byId(id) !== undefined && collecting([], () => mustOwn(call, seen, id)) !== null
}
