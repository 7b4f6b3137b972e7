/** `/mind/provenance/…` (CX-052): which files a concept comes from. */
import { compareText } from '../../../base/compare.ts'
import type { Row } from '../../../model/table.ts'
import type { Handler } from '../call.ts'
import type { ParamReader } from '../params.ts'
import { readParams } from '../read-params.ts'
import { NUMBER, TEXT } from '../schemas.ts'
import { PROVENANCE } from '../tables.ts'
import { type Look, look, mustOwn } from './look.ts'
import { putProvenance } from './rows.ts'

const create: Handler = {
  path: '/mind/provenance/create',
  summary: 'Say that a concept comes from a file',
  effect: 'write',
  params: {
    concept_id: { ...NUMBER, description: 'Id of the concept' },
    file_url: { ...TEXT, description: 'Path of a registered file' },
  },
  async run(call, params) {
    const { concept, url } = readParams(call, ['mind'], params, reader => ({
      concept: reader.id('concept_id'),
      url: readUrl(reader),
    }))
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      putProvenance(writer, mustOwn(call, look(call), concept, ['concept_id']), url)
    })
    return { result: { concept_id: concept, file_url: url } }
  },
}

const list: Handler = {
  path: '/mind/provenance/list',
  summary: 'List links of concepts to files, of one concept or file if named',
  effect: 'read',
  params: {
    concept_id: { ...NUMBER, description: 'Id of the concept' },
    file_url: { ...TEXT, description: 'Path of a registered file' },
  },
  run(call, params) {
    const { concept, url } = readParams(call, ['mind'], params, reader => ({
      concept: reader.optionalId('concept_id'),
      url: reader.optionalText('file_url'),
    }))
    const where = { ...(concept === null ? {} : { concept }), ...(url === null ? {} : { url }) }
    const links = seenLinks(call.host.store.table(PROVENANCE).scan(where), look(call))
    return { result: { links, total: links.length } }
  },
}

const remove: Handler = {
  path: '/mind/provenance/delete',
  summary: 'Unlink a concept from a file, or (without concept_id) all concepts from it',
  effect: 'destroy',
  params: {
    concept_id: { ...NUMBER, description: 'Id of the concept' },
    file_url: { ...TEXT, description: 'Path of a registered file' },
  },
  async run(call, params) {
    const { concept, url } = readParams(call, ['mind'], params, reader => ({
      concept: reader.optionalId('concept_id'),
      url: readUrl(reader),
    }))
    const { store, clock } = call.host
    const deleted = await store.writeWhenFree(clock.now(), writer => {
      const seen = look(call)
      const table = writer.table(PROVENANCE)
      const ids =
        concept === null ? seenLinks(table.scan({ url }), seen).map(({ concept_id }) => concept_id) : [concept]
      return ids.reduce((sum, id) => {
        const { entry } = mustOwn(call, seen, id, ['concept_id'])
        return sum + table.delete({ entry, url })
      }, 0)
    })
    return { result: { deleted } }
  },
}

export const PROVENANCE_HANDLERS: readonly Handler[] = [create, list, remove]

/** `file_url`. */
export function readUrl(reader: ParamReader): string {
  const url = reader.text('file_url')
  if (url !== '' && !url.startsWith('file://')) {
    return reader.fail('file_url', 'invalid', 'file_url must begin with file://', url)
  }
  return url
}

/** By concept, then URL. */
function seenLinks(rows: readonly Row[], { concepts }: Look): { concept_id: number; file_url: string }[] {
  return rows
    .map(row => ({ concept_id: row['concept'] as number, file_url: row['url'] as string }))
    .filter(({ concept_id }) => concepts.byId(concept_id) !== undefined)
    .sort((a, b) => a.concept_id - b.concept_id || compareText(a.file_url, b.file_url))
}
