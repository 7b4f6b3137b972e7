/**
 * The call `/context/extract` (CX-057): stores a patch, which is what a language model has read out of one file, completely or not at all.
 * A patch replaces all earlier patches of that file: what only they contained is deleted, and what the indexer and other calls wrote is
 * kept.
 */
import { z } from 'zod'
import type { EntryKey } from '../../../model/entry.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { type Call, embedNow, handler, type Look, look, requireOwn, transact } from '../call.ts'
import { type ErrorMap, errorAt, fileUrl, joined, Refusal, refusal, text, total, weight } from '../envelope.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'
import { type ConceptAt, deleteConcept, deleteEdge, NOTE, putConcept, putEdge, putProvenance } from './rows.ts'

const patchShape = z.lazy(() =>
  z.object({
    file_url: fileUrl,
    concepts: z
      .array(
        z.object({
          name: text.describe('Name of the concept; the links of this patch use it'),
          type: text.describe('Type, such as Class, Function or Idea'),
        }),
      )
      .describe('Concepts that the file is about; existing ones are reused'),
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
      .describe('How concepts are linked. Default: no links'),
  }),
)
type Patch = z.output<typeof patchShape>

export const EXTRACT_HANDLER = handler({
  path: '/context/extract',
  summary: 'Add concepts and links that a language model found in one file, all or none',
  effect: 'write',
  needs: ['body', 'mind'],
  params: () => patchShape.unwrap(),
  result: () =>
    z.strictObject({
      file_url: z.string().describe('The file of the patch'),
      concepts_created: total.describe('Concepts that are new'),
      concepts_reused: total.describe('Concepts that the file had already'),
      edges_created: total.describe('Links that are new'),
      provenance_created: total.describe('Concepts that now come from the file'),
    }),
  async run(call, patch) {
    const { concepts, edgesCreated } = await transact(call, writer => applyPatch(call, writer, patch))
    const created = concepts.filter(({ isNew }) => isNew)
    await embedNow(
      call,
      created.map(({ entry }) => entry),
    )
    return {
      result: {
        file_url: patch.file_url,
        concepts_created: created.length,
        concepts_reused: concepts.length - created.length,
        edges_created: edgesCreated,
        provenance_created: created.length,
      },
    }
  },
})

interface NamedConcept extends ConceptAt {
  readonly name: string
  readonly type: string
  readonly isNew: boolean
}

/** Stores a patch. Throws `Refusal` where a name in it matches no concept, or several. */
function applyPatch(call: Call, writer: StoreWriter, { file_url: url, concepts: named, edges }: Patch) {
  const seen = look(call)
  if (call.state.files.visible(seen.accessScope.partitions).byUrl(url) === undefined) {
    throw refusal('file_url', 'not_found', 'file not found in body')
  }
  const there = conceptsOf(writer, seen, url)
  const placing = { audience: audience('private', call.viewer.id), now: call.host.clock.now() }
  const concepts = new Map<string, NamedConcept>()
  for (const { name, type } of named) {
    const key = JSON.stringify([type, name])
    if (concepts.has(key)) continue
    const known = there.find(concept => concept.name === name && concept.type === type)
    const concept = known ?? { ...putConcept(writer, { name, type, url }, placing), name, type, isNew: true }
    putProvenance(writer, concept, url)
    concepts.set(key, concept)
  }
  const own = [...concepts.values()]
  const { ids, edgesCreated } = putEdges(call, writer, seen, { url, edges }, name => {
    // A name is searched first among the concepts of the patch, then among those of the file, then among all.
    return [own, there, seen.concepts.all.map(known)]
      .map(all => all.filter(concept => concept.name === name))
      .find(found => found.length > 0)
  })
  const kept = new Set(own.map(({ entry }) => entry))
  takeBack(call, writer, seen, { url, ids, candidates: there.filter(({ entry }) => !kept.has(entry)) })
  return { concepts: own, edgesCreated }
}

function known({ id, entry, name, type }: Omit<NamedConcept, 'isNew'>): NamedConcept {
  return { id, entry, name, type, isNew: false }
}

/** The concepts of a file that the viewer sees, by id. */
function conceptsOf(writer: StoreWriter, { concepts }: Look, url: string): readonly NamedConcept[] {
  const rows = writer.table(PROVENANCE).scan({ url }, { columns: ['entry', 'url'] })
  const found = rows.flatMap(row => concepts.byEntry(row['entry'] as EntryKey) ?? [])
  return found.sort((a, b) => a.id - b.id).map(known)
}

/**
 * Writes the links of a patch (what a language model read out of a file) and returns their ids. A link that the indexer or another call
 * made keeps its weight.
 */
function putEdges(
  call: Call,
  writer: StoreWriter,
  seen: Look,
  { url, edges }: { readonly url: string; readonly edges: Patch['edges'] },
  find: (name: string) => readonly NamedConcept[] | undefined,
): { readonly ids: ReadonlySet<number>; readonly edgesCreated: number } {
  const errors: ErrorMap[] = []
  const wanted = edges.flatMap(({ source_name, target_name, relation, weight }, at) => {
    const place = ['edges', String(at)]
    const source = collecting(errors, () => {
      const source = theOne(find(source_name), [...place, 'source_name'])
      if (!source.isNew) requireOwn(call, seen, source.id, [...place, 'source_name'])
      return source
    })
    const target = collecting(errors, () => theOne(find(target_name), [...place, 'target_name']))
    return source === null || target === null ? [] : [{ source, target, relation, weight, origin: url }]
  })
  if (errors.length > 0) throw new Refusal(joined(errors))
  const entries = [...new Set(wanted.map(({ source }) => source.entry))]
  const rows = entries.length === 0 ? [] : writer.table(EDGES).scan({}, { entries })
  const there = new Map<string, Row>(rows.map(row => [tripleOf(row['source'], row['target'], row['relation']), row]))
  const ids = new Map<string, number>()
  let edgesCreated = 0
  for (const edge of wanted) {
    const triple = tripleOf(edge.source.id, edge.target.id, edge.relation)
    if (ids.has(triple)) continue
    const row = there.get(triple)
    const isSame = row !== undefined && (row['origin'] !== url || row['weight'] === edge.weight)
    ids.set(triple, isSame ? (row['id'] as number) : putEdge(writer, edge, row?.['id'] as number | undefined))
    if (row === undefined) edgesCreated++
  }
  return { ids: new Set(ids.values()), edgesCreated }
}

function tripleOf(...triple: readonly unknown[]): string {
  return JSON.stringify(triple)
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

function theOne(found: readonly NamedConcept[] | undefined, place: readonly string[]): NamedConcept {
  const [first, second] = found ?? []
  if (first === undefined) throw new Refusal(errorAt(place, 'not_found', 'concept not found'))
  if (second === undefined) return first
  const types = (found ?? []).map(({ id, type, isNew }) => (isNew ? type : `${id} (${type})`)).join(', ')
  throw new Refusal(errorAt(place, 'ambiguous', `${found?.length} concepts have this name: ${types}`))
}

interface Stale {
  readonly url: string
  /** Ids of the links in the new patch (what a language model read out of the file); these links must not be deleted. */
  readonly ids: ReadonlySet<number>
  /** Concepts of the file that the new patch does not name; they may have to be deleted. */
  readonly candidates: readonly NamedConcept[]
}

/** Deletes the concepts and links that came only from earlier patches of the file, as far as the viewer may change them. */
function takeBack(call: Call, writer: StoreWriter, seen: Look, { url, ids, candidates }: Stale): void {
  const mayChange = (id: number) =>
    seen.concepts.byId(id) !== undefined && collecting([], () => requireOwn(call, seen, id)) !== null
  for (const row of writer.table(EDGES).scan({ origin: url }, { columns: ['id', 'entry', 'source'] })) {
    const isStale = !ids.has(row['id'] as number) && mayChange(row['source'] as number)
    if (isStale) deleteEdge(writer, row['id'] as number, row['entry'] as EntryKey)
  }
  for (const concept of candidates) {
    const { id, entry, type } = concept
    const row = writer.table(CONCEPTS).get({ entry })
    if (row?.['symbol'] !== null || row['url'] !== url || !mayChange(id)) continue
    writer.table(PROVENANCE).delete({ entry, url })
    const [other] = writer.table(PROVENANCE).scan({ entry })
    if (other === undefined && type !== NOTE) deleteConcept(writer, concept)
    else {
      // The concept is kept. It is assigned to another file from which it also comes; a user's note that comes from no other file remains
      // without a file.
      writer.table(CONCEPTS).put({ ...row, url: other?.['url'] ?? null })
      writer.announce(entry)
    }
  }
}
