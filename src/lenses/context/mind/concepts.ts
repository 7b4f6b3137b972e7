/** `/mind/init` and `/mind/concepts/…` (CX-047, CX-050, CX-055). */
import { z } from 'zod'
import { must } from '../../../base/assert.ts'
import { type Steps, Turns } from '../../../base/turns.ts'
import { audience } from '../../../model/partition.ts'
import { writeMany } from '../../../pipeline/write-many.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { brief, type Call, embedNow, handler, look, mustNotBeCancelled, mustOwn, mustSee } from '../call.ts'
import { initialise, isInitialised, storePath } from '../counters.ts'
import { deleteByCall } from '../indexing/write-file.ts'
import { concept as conceptShape, deleted, flag, id, text, total } from '../schemas.ts'
import type { Concept } from '../state.ts'
import { CONCEPTS } from '../tables.ts'
import { type ConceptAt, type ConceptDraft, putConcept } from './rows.ts'

/** Of the tables here. */
const SCHEMA_VERSION = '1.0.0'

const VISIBILITIES = ['private', 'public'] as const

const newConcept = z.lazy(() =>
  z.object({
    name: text.describe('What people call it, such as LoginService or retry policy'),
    type: text.describe('A word for what it is, such as Class, Function or Idea; Caveat for a note that stays'),
    visibility: z.enum(VISIBILITIES).nullish().describe('Who may see it: you alone, or everybody. Default: private'),
  }),
)
type NewConcept = z.infer<typeof newConcept>

const init = handler({
  path: '/mind/init',
  summary: 'Make the part for concepts and links; with force, empty it',
  effect: 'destroy',
  params: () => z.object({ force: flag.describe('Delete the concepts that are there. Default: false') }),
  result: () =>
    z.strictObject({
      path: z.string().nullable().describe('The file of the store, for its owner; null for others'),
      created: z.boolean().describe('false: it was there already and is as it was'),
      schema_version: z.string().describe('Version of the tables'),
    }),
  async run(call, { force }) {
    const { store, clock } = call.host
    const created = await store.writeWhenFree(clock.now(), writer => {
      const wasThere = isInitialised(writer, 'mind')
      if (force && wasThere) {
        const seen = look(call)
        for (const { id } of seen.concepts.all) deleteByCall(writer, mustOwn(call, seen, id))
      }
      initialise(writer, 'mind', call.host.random)
      return force || !wasThere
    })
    return { result: { path: storePath(call), created, schema_version: SCHEMA_VERSION } }
  },
})

const listed = z.lazy(() =>
  z.strictObject({
    concepts: z.array(conceptShape).describe('One item a concept'),
    total: total.describe('Their number'),
  }),
)
const conceptId = id.describe('Number of a concept, from 1')

const create = handler({
  path: '/mind/concepts/create',
  summary: 'Add a concept',
  effect: 'write',
  needs: ['mind'],
  params: () => newConcept.unwrap(),
  result: () => conceptShape,
  async run(call, draft) {
    const [result] = await createAll(call, [draft])
    return { result: must(result, 'the concept') }
  },
})

const createMany = handler({
  path: '/mind/concepts/create-many',
  summary: 'Add concepts, all of them or none',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ concepts: z.array(newConcept).describe('All of them are added, in this order, or none') }),
  result: () => listed,
  async run(call, { concepts: drafts }) {
    const concepts = await createAll(call, drafts)
    return { result: { concepts, total: concepts.length } }
  },
})

const get = handler({
  path: '/mind/concepts/get',
  summary: 'Read a concept',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ id: conceptId }),
  result: () => conceptShape,
  run: (call, { id }) => ({ result: brief(mustSee(look(call), id)) }),
})

const list = handler({
  path: '/mind/concepts/list',
  summary: 'List concepts by id, of one type if named',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ type: text.nullish().describe('Only concepts of exactly this type. Default: all') }),
  result: () => listed,
  run(call, { type = null }) {
    const concepts = look(call).concepts.all.filter(concept => type === null || concept.type === type)
    return { result: { concepts: concepts.map(brief), total: concepts.length } }
  },
})

const update = handler({
  path: '/mind/concepts/update',
  summary: 'Change the name or the type of a concept',
  effect: 'write',
  needs: ['mind'],
  params: () =>
    z.object({
      id: conceptId,
      name: text.nullish().describe('What it is called from now on. Default: unchanged'),
      type: text.nullish().describe('What it is from now on. Default: unchanged'),
    }),
  result: () => conceptShape,
  async run(call, { id, name, type }) {
    const { store, clock } = call.host
    const { key, result } = await store.writeWhenFree(clock.now(), writer => {
      const concept = mustOwn(call, look(call), id)
      const of = writer.entry(concept.entry)?.audience ?? audience('private', call.viewer.id)
      const draft = { ...draftOf(writer, concept), ...(name && { name }), ...(type && { type }) }
      putConcept(writer, draft, { audience: of, now: clock.now(), before: concept })
      return { key: concept.entry, result: { id, name: draft.name, type: draft.type } }
    })
    await embedNow(call, [key])
    return { result }
  },
})

const remove = handler({
  path: '/mind/concepts/delete',
  summary: 'Delete a concept with its links and its provenance',
  effect: 'destroy',
  needs: ['mind'],
  params: () => z.object({ id: conceptId }),
  result: () => deleted,
  async run(call, { id }) {
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => deleteByCall(writer, mustOwn(call, look(call), id)))
    return { result: { id, deleted: true as const } }
  },
})

export const CONCEPT_HANDLERS = [init, create, createMany, get, list, update, remove] as const

/** As it is. */
function draftOf(reader: StoreReader, { entry, name, type, url, startLine, endLine }: Concept): ConceptDraft {
  const row = reader.table(CONCEPTS).get({ entry })
  const text = (column: string) => (row?.[column] as string | null | undefined) ?? null
  const [signature, doc, symbol] = [text('signature'), text('doc'), text('symbol')]
  return { name, type, url, startLine, endLine, signature, doc, symbol }
}

async function createAll(
  call: Call,
  drafts: readonly NewConcept[],
): Promise<readonly { id: number; name: string; type: string }[]> {
  const { store, clock } = call.host
  const now = clock.now()
  const put = function* (writer: StoreWriter): Steps<readonly ConceptAt[]> {
    const made: ConceptAt[] = []
    for (const { name, type, visibility } of drafts) {
      made.push(
        putConcept(writer, { name, type }, { audience: audience(visibility ?? 'private', call.viewer.id), now }),
      )
      yield
    }
    return made
  }
  const made = await writeMany(store, now, drafts.length, put, new Turns(() => mustNotBeCancelled(call)))
  await embedNow(
    call,
    made.map(({ entry }) => entry),
  )
  return drafts.map(({ name, type }, at) => ({ id: made[at]?.id ?? 0, name, type }))
}
