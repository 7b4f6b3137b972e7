/**
 * `/context/extract` (CX-057): applies what a model has read out of one file. A patch stands for all that patches say of that
 * file: what the last one said and this one does not is taken back; what the indexer and other calls wrote is left alone.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import { audience } from '../../../model/partition.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { Call, Handler } from '../call.ts'
import { type Outcome, refusal } from '../envelope.ts'
import type { ParamReader } from '../params.ts'
import { readParams } from '../read-params.ts'
import { FLAG, listOf, NUMBER, TEXT } from '../schemas.ts'
import { CONCEPTS, PROVENANCE } from '../tables.ts'
import { embedNow } from '../vectors.ts'
import { type Look, look } from './look.ts'
import { type Patch, type PatchPlan, type PlannedConcept, planPatch } from './patch.ts'
import { readUrl } from './provenance.ts'
import { type ConceptAt, deleteConcept, deleteEdge, putConcept, putEdge, putProvenance } from './rows.ts'

export const EXTRACT_HANDLER: Handler = {
  path: '/context/extract',
  summary: 'Apply the concepts and links that a model has read out of one file, all of them or none',
  effect: 'write',
  params: {
    file_url: { type: 'string', description: 'A registered file' },
    concepts: {
      ...listOf({
        name: { ...TEXT, description: 'As others name it' },
        type: { ...TEXT, description: 'Such as class or idea' },
      }),
      description: 'What the file is about',
    },
    edges: {
      ...listOf({
        source_name: { ...TEXT, description: 'Name of a concept' },
        target_name: { ...TEXT, description: 'Name of another' },
        relation: { ...TEXT, description: 'Such as calls or part_of' },
        weight: { ...NUMBER, description: '0 or more' },
      }),
      description: 'How they hang together',
    },
    dry_run: { ...FLAG, description: 'Tell what would be done, and do nothing' },
    explain: { ...FLAG, description: 'Name each concept and link with what becomes of it' },
  },
  async run(call, params) {
    const { patch, isDry, explain } = readParams(call, ['body', 'mind'], params, reader => ({
      patch: readPatch(reader),
      isDry: reader.flag('dry_run'),
      explain: reader.flag('explain'),
    }))
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
}

function readPatch(reader: ParamReader): Patch {
  return {
    url: readUrl(reader),
    concepts: reader.list('concepts', item => ({ name: item.text('name'), type: item.text('type') })),
    edges: reader.has('edges')
      ? reader.list('edges', item => ({
          source: item.text('source_name'),
          target: item.text('target_name'),
          relation: item.text('relation'),
          weight: item.weight('weight', 1),
        }))
      : [],
  }
}

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
): Outcome['result'] {
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

function counted(name: string, count: number): JsonObject {
  return count === 0 ? {} : { [name]: count }
}

/** In a dry run what is yet to be created has no id. */
function explained(
  concepts: PatchPlan['concepts'],
  edges: PatchPlan['edges'],
  stale: PatchPlan['stale'],
  made: ReadonlyMap<PlannedConcept, ConceptAt>,
): JsonObject {
  const idOf = (concept: PlannedConcept) => concept.known?.id ?? made.get(concept)?.id ?? null
  return {
    concepts: [
      ...concepts.map(concept => {
        const { name, type, known } = concept
        return { id: idOf(concept), name, type, effect: known === null ? 'created' : 'reused' }
      }),
      ...stale.map(({ concept: { id, name, type }, isOrphan }) => {
        return { id, name, type, effect: isOrphan ? 'deleted' : 'unlinked' }
      }),
    ],
    edges: edges.map(({ source, target, relation, weight, id, isSame }) => {
      const effect = id === null ? 'created' : isSame ? 'reused' : 'updated'
      return { source: idOf(source), target: idOf(target), relation, weight, effect }
    }),
  }
}
