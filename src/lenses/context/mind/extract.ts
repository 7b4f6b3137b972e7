/**
 * `/context/extract` (CX-057): applies what a model has read out of one file. A patch stands for all that patches say of that
 * file: what the last one said and this one does not is taken back; what the indexer and other calls wrote is left alone.
 */
import { z } from 'zod'
import { audience } from '../../../model/partition.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { type Call, handler } from '../call.ts'
import { refusal } from '../envelope.ts'
import { conceptRef, fileUrl, flag, id, text, total, weight } from '../schemas.ts'
import { CONCEPTS, PROVENANCE } from '../tables.ts'
import { embedNow } from '../vectors.ts'
import { type Look, look } from './look.ts'
import { type Patch, type PatchPlan, type PlannedConcept, planPatch } from './patch.ts'
import { type ConceptAt, deleteConcept, deleteEdge, putConcept, putEdge, putProvenance } from './rows.ts'

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
    const { store, clock } = call.host
    if (isDry) {
      const plan = store.read(seer => planned(call, seer, patch))
      return { result: told(patch, plan, new Map(), explain) }
    }
    const { plan, made } = await store.writeWhenFree(clock.now(), writer => {
      const of = planned(call, writer, patch)
      return { plan: of, made: applied(call, writer, patch, of) }
    })
    const created = plan.concepts
      .filter(({ known }) => known === null)
      .flatMap(concept => made.get(concept)?.entry ?? [])
    await embedNow(call, created)
    return { result: told(patch, plan, made, explain) }
  },
})

function planned(call: Call, reader: StoreReader, patch: Patch): PatchPlan {
  const seen = look(call)
  mustBeRegistered(call, seen, patch.url)
  return planPatch(call, reader, seen, patch)
}

function mustBeRegistered({ state }: Call, { sight }: Look, url: string): void {
  if (state.files.visible(sight.partitions).byUrl(url) === undefined) {
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
function told(
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
