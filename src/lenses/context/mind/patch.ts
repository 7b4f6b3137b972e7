/**
 * `/context/extract` (CX-057): applies what a model has read out of one file. A patch stands for all that patches say of that file: what the last
 * one said and this one does not is taken back; what the indexer and other calls wrote is left alone.
 */
import { z } from 'zod'
import type { EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { type Call, embedNow, handler, type Look, look, mustOwn, transact } from '../call.ts'
import {
  conceptRef,
  type ErrorMap,
  errorAt,
  fileUrl,
  flag,
  id,
  joined,
  Refusal,
  refusal,
  text,
  total,
  weight,
} from '../envelope.ts'
import type { Concept } from '../state.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'
import { type ConceptAt, deleteConcept, deleteEdge, NOTE, putConcept, putEdge, putProvenance } from './rows.ts'

/** As a model writes it. */
interface Patch {
  readonly url: string
  readonly concepts: readonly NamedConcept[]
  readonly edges: readonly NamedEdge[]
}

interface NamedConcept {
  readonly name: string
  readonly type: string
}

interface NamedEdge {
  readonly source: string
  readonly target: string
  readonly relation: string
  readonly weight: number
}

interface PlannedConcept extends NamedConcept {
  /** Null: it is to be created. */
  readonly known: ConceptAt | null
}

interface PlannedEdge {
  readonly source: PlannedConcept
  readonly target: PlannedConcept
  readonly relation: string
  readonly weight: number
  /** Of the link that is there already. */
  readonly id: number | null
  readonly isSame: boolean
}

interface PatchPlan {
  /** Those of the patch, each once. */
  readonly concepts: readonly PlannedConcept[]
  readonly edges: readonly PlannedEdge[]
  /** Links that only the earlier patch wanted. */
  readonly staleEdges: readonly { readonly id: number; readonly entry: EntryKey }[]
  /** Concepts that only the earlier patch placed in the file; `isOrphan`: nothing else holds them. */
  readonly stale: readonly { readonly concept: Concept; readonly isOrphan: boolean }[]
}

/** Throws `Refusal` for names that lead nowhere or to several concepts. */
function planPatch(call: Call, reader: StoreReader, seen: Look, patch: Patch): PatchPlan {
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

const patchShape = z.lazy(() =>
  z.object({
    file_url: fileUrl,
    concepts: z
      .array(
        z.object({
          name: text.describe('What people call it; the links of this patch name it so'),
          type: text.describe('A word for what it is, such as Class, Function or Idea'),
        }),
      )
      .describe('What the file is about; those it has already are reused'),
    edges: z
      .array(
        z.object({
          source_name: text.describe('Name of the concept it starts at, of this patch, this file or anywhere'),
          target_name: text.describe('Name of the concept it leads to'),
          relation: text.describe('Its kind, a word such as CALLS or PART_OF'),
          weight: weight.transform(value => value ?? 1).describe('How strong it is, 0 or more. Default: 1'),
        }),
      )
      .nullish()
      .transform(value => value ?? [])
      .describe('How concepts hang together. Default: no links'),
    dry_run: flag.describe('Report what would be done, and do nothing. Default: false'),
    explain: flag.describe('Name each concept and link with what becomes of it. Default: false'),
  }),
)

const report = z.lazy(() =>
  z.strictObject({
    file_url: z.string().describe('The file of the patch'),
    concepts_created: total.describe('Concepts that are new'),
    concepts_reused: total.describe('Concepts that the file had'),
    edges_created: total.describe('Links that are new'),
    provenance_created: total.describe('Concepts that now come from the file'),
    concepts_orphaned: total.optional().describe('Concepts of an earlier patch that were deleted; absent: none'),
    edges_updated: total.optional().describe('Links with another weight; absent: none'),
    edges_removed: total.optional().describe('Links of an earlier patch that were deleted; absent: none'),
    provenance_removed: total.optional().describe('Concepts that no longer come from the file; absent: none'),
    concepts: z
      .array(
        z.strictObject({
          ...conceptRef,
          id: id.nullable().describe('Number of the concept; null in a dry run that would create it'),
          effect: z.enum(['created', 'reused', 'deleted', 'unlinked']).describe('What becomes of it'),
        }),
      )
      .optional()
      .describe('With explain: each concept'),
    edges: z
      .array(
        z.strictObject({
          source: id.nullable().describe('Number of the concept it starts at; null in a dry run that would create it'),
          target: id.nullable().describe('Number of the concept it leads to; null as for source'),
          relation: z.string().describe('Its kind'),
          weight: z.number().min(0).describe('How strong it is, 0 or more'),
          effect: z.enum(['created', 'reused', 'updated']).describe('What becomes of it'),
        }),
      )
      .optional()
      .describe('With explain: each link'),
  }),
)
type Report = z.infer<typeof report>

export const EXTRACT_HANDLER = handler({
  path: '/context/extract',
  summary: 'Apply the concepts and links that a model has read out of one file, all of them or none',
  effect: 'write',
  needs: ['body', 'mind'],
  params: () => patchShape.unwrap(),
  result: () => report,
  async run(call, { file_url: url, concepts, edges: named, dry_run: isDry, explain }) {
    const edges = named.map(({ source_name: source, target_name: target, relation, weight }) => {
      return { source, target, relation, weight }
    })
    const patch: Patch = { url, concepts, edges }
    if (isDry) {
      const plan = call.host.store.read(seer => planned(call, seer, patch))
      return { result: reportOf(patch, plan, new Map(), explain) }
    }
    const { plan, made } = await transact(call, writer => {
      const of = planned(call, writer, patch)
      return { plan: of, made: applied(call, writer, patch, of) }
    })
    const created = plan.concepts
      .filter(({ known }) => known === null)
      .flatMap(concept => made.get(concept)?.entry ?? [])
    await embedNow(call, created)
    return { result: reportOf(patch, plan, made, explain) }
  },
})

function planned(call: Call, reader: StoreReader, patch: Patch): PatchPlan {
  const seen = look(call)
  assertRegistered(call, seen, patch.url)
  return planPatch(call, reader, seen, patch)
}

function assertRegistered({ state }: Call, { accessScope }: Look, url: string): void {
  if (state.files.visible(accessScope.partitions).byUrl(url) === undefined) {
    throw refusal('file_url', 'not_found', 'file not found in body')
  }
}

/** Where the concepts of the patch are then. */
function applied(
  { host, viewer }: Call,
  writer: StoreWriter,
  { url }: Patch,
  { concepts, edges, staleEdges, stale }: PatchPlan,
): ReadonlyMap<PlannedConcept, ConceptAt> {
  const placing = { audience: audience('private', viewer.id), now: host.clock.now() }
  const made = new Map<PlannedConcept, ConceptAt>()
  const placed = (concept: PlannedConcept): ConceptAt => {
    const at = made.get(concept) ?? concept.known ?? putConcept(writer, { ...concept, url }, placing)
    made.set(concept, at)
    return at
  }
  for (const concept of concepts) putProvenance(writer, placed(concept), url)
  for (const { source, target, relation, weight, id, isSame } of edges) {
    const edge = { source: placed(source), target: placed(target), relation, weight, origin: url }
    if (!isSame) putEdge(writer, edge, id ?? undefined)
  }
  for (const { id, entry } of staleEdges) deleteEdge(writer, id, entry)
  for (const { concept, isOrphan } of stale) {
    if (isOrphan) deleteConcept(writer, concept)
    else unlink(writer, concept, url)
  }
  return made
}

/** It goes on where else it comes from, or as a note without a file. */
function unlink(writer: StoreWriter, { entry }: ConceptAt, url: string): void {
  writer.table(PROVENANCE).delete({ entry, url })
  const [other] = writer.table(PROVENANCE).scan({ entry })
  const row = writer.table(CONCEPTS).get({ entry })
  writer.table(CONCEPTS).put({ ...row, entry, url: other?.['url'] ?? null })
  writer.announce(entry)
}

/** The documented counts; others only where there is something to count. */
function reportOf(
  { url }: Patch,
  { concepts, edges, staleEdges, stale }: PatchPlan,
  made: ReadonlyMap<PlannedConcept, ConceptAt>,
  explain: boolean,
): Report {
  const created = concepts.filter(({ known }) => known === null).length
  const orphaned = stale.filter(({ isOrphan }) => isOrphan).length
  return {
    file_url: url,
    concepts_created: created,
    concepts_reused: concepts.length - created,
    edges_created: edges.filter(({ id }) => id === null).length,
    provenance_created: created,
    ...counted('concepts_orphaned', orphaned),
    ...counted('edges_updated', edges.filter(({ id, isSame }) => id !== null && !isSame).length),
    ...counted('edges_removed', staleEdges.length),
    ...counted('provenance_removed', stale.length),
    ...(explain ? explained(concepts, edges, stale, made) : {}),
  }
}

function counted(name: keyof Report, count: number): Partial<Report> {
  return count === 0 ? {} : { [name]: count }
}

/** In a dry run what is yet to be created has no id. */
function explained(
  concepts: PatchPlan['concepts'],
  edges: PatchPlan['edges'],
  stale: PatchPlan['stale'],
  made: ReadonlyMap<PlannedConcept, ConceptAt>,
): Pick<Report, 'concepts' | 'edges'> {
  const idOf = (concept: PlannedConcept) => concept.known?.id ?? made.get(concept)?.id ?? null
  return {
    concepts: [
      ...concepts.map(concept => {
        const { name, type, known } = concept
        return { id: idOf(concept), name, type, effect: known === null ? ('created' as const) : ('reused' as const) }
      }),
      ...stale.map(({ concept: { id, name, type }, isOrphan }) => {
        return { id, name, type, effect: isOrphan ? ('deleted' as const) : ('unlinked' as const) }
      }),
    ],
    edges: edges.map(({ source, target, relation, weight, id, isSame }) => {
      const effect = id === null ? 'created' : isSame ? 'reused' : 'updated'
      return { source: idOf(source), target: idOf(target), relation, weight, effect }
    }),
  }
}
