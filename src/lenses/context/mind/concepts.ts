/** `/mind/init` and `/mind/concepts/…` (CX-047, CX-050, CX-055). */
import { audience } from '../../../model/partition.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Call, Handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import type { Outcome } from '../envelope.ts'
import { deleteByCall } from '../indexing/drop-file.ts'
import { ParamReader } from '../params.ts'
import { initialise, isInitialised, storePath } from '../parts.ts'
import { readParams } from '../read-params.ts'
import { FLAG, listOf, NUMBER, TEXT } from '../schemas.ts'
import { CONCEPTS } from '../tables.ts'
import { embedNow } from '../vectors.ts'
import { brief, look, mustOwn, mustSee } from './look.ts'
import { type ConceptAt, type ConceptDraft, putConcept } from './rows.ts'

/** Of the tables here. */
const SCHEMA_VERSION = '1.0.0'

const VISIBILITIES = ['private', 'public'] as const

const NEW = {
  name: { ...TEXT, description: 'As others name it' },
  type: { ...TEXT, description: 'Such as class or idea' },
  visibility: { enum: ['private', 'public'], description: 'Who may see it' },
}

const init: Handler = {
  path: '/mind/init',
  summary: 'Make the part for concepts and links; with force, empty it',
  effect: 'destroy',
  params: { force: { ...FLAG, description: 'Empty what is there' } },
  async run(call, params) {
    const reader = new ParamReader(params)
    const force = reader.flag('force')
    reader.done()
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
}

interface NewConcept {
  readonly name: string
  readonly type: string
  readonly visibility: (typeof VISIBILITIES)[number]
}

const create: Handler = {
  path: '/mind/concepts/create',
  summary: 'Add a concept',
  effect: 'write',
  params: NEW,
  async run(call, params) {
    const draft = readParams(call, ['mind'], params, readNew)
    const [result = {}] = await createAll(call, [draft])
    return { result }
  },
}

const createMany: Handler = {
  path: '/mind/concepts/create-many',
  summary: 'Add concepts, all of them or none',
  effect: 'write',
  params: { concepts: { ...listOf(NEW), description: 'All of them are added, or none' } },
  async run(call, params) {
    const drafts = readParams(call, ['mind'], params, reader => reader.list('concepts', readNew))
    const concepts = await createAll(call, drafts)
    return { result: { concepts, total: concepts.length } }
  },
}

const get: Handler = {
  path: '/mind/concepts/get',
  summary: 'Read a concept',
  effect: 'read',
  params: { id: { ...NUMBER, description: 'Id of the concept' } },
  run(call, params) {
    const id = readParams(call, ['mind'], params, reader => reader.id('id'))
    return { result: brief(mustSee(look(call), id)) }
  },
}

const list: Handler = {
  path: '/mind/concepts/list',
  summary: 'List concepts by id, of one type if named',
  effect: 'read',
  params: { type: { ...TEXT, description: 'Only concepts of this type' } },
  run(call, params) {
    const type = readParams(call, ['mind'], params, reader => reader.optionalText('type'))
    const concepts = look(call).concepts.all.filter(concept => type === null || concept.type === type)
    return { result: { concepts: concepts.map(brief), total: concepts.length } }
  },
}

const update: Handler = {
  path: '/mind/concepts/update',
  summary: 'Change the name or the type of a concept',
  effect: 'write',
  params: {
    id: { ...NUMBER, description: 'Id of the concept' },
    name: { ...TEXT, description: 'A new name' },
    type: { ...TEXT, description: 'A new type' },
  },
  async run(call, params) {
    const { id, name, type } = readParams(call, ['mind'], params, reader => ({
      id: reader.id('id'),
      name: reader.optionalText('name'),
      type: reader.optionalText('type'),
    }))
    const { store, clock } = call.host
    const { key, result } = await store.writeWhenFree(clock.now(), writer => {
      const concept = mustOwn(call, look(call), id)
      const of = writer.entry(concept.entry)?.audience ?? audience('private', call.viewer.id)
      const draft = { ...draftOf(writer, concept), ...(name !== null && { name }), ...(type !== null && { type }) }
      putConcept(writer, draft, { audience: of, now: clock.now(), before: concept })
      return { key: concept.entry, result: { id, name: draft.name, type: draft.type } }
    })
    await embedNow(call, [key])
    return { result }
  },
}

const remove: Handler = {
  path: '/mind/concepts/delete',
  summary: 'Delete a concept with its links and its provenance',
  effect: 'destroy',
  params: { id: { ...NUMBER, description: 'Id of the concept' } },
  async run(call, params): Promise<Outcome> {
    const id = readParams(call, ['mind'], params, reader => reader.id('id'))
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => deleteByCall(writer, mustOwn(call, look(call), id)))
    return { result: { id, deleted: true } }
  },
}

export const CONCEPT_HANDLERS: readonly Handler[] = [init, create, createMany, get, list, update, remove]

function readNew(reader: ParamReader): NewConcept {
  return {
    name: reader.text('name'),
    type: reader.text('type'),
    visibility: reader.choice('visibility', VISIBILITIES, 'private'),
  }
}

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
  const made: readonly ConceptAt[] = await store.writeWhenFree(clock.now(), writer =>
    drafts.map(({ name, type, visibility }) =>
      putConcept(writer, { name, type }, { audience: audience(visibility, call.viewer.id), now: clock.now() }),
    ),
  )
  await embedNow(
    call,
    made.map(({ entry }) => entry),
  )
  return drafts.map(({ name, type }, at) => ({ id: made[at]?.id ?? 0, name, type }))
}
