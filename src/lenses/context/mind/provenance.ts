/** `/mind/provenance/…` (CX-052): which files a concept comes from. */
import { z } from 'zod'
import { compareText } from '../../../base/compare.ts'
import type { Row } from '../../../model/table.ts'
import { handler, type Look, look, mustOwn } from '../call.ts'
import { fileUrl, id, text, total } from '../schemas.ts'
import { PROVENANCE } from '../tables.ts'
import { putProvenance } from './rows.ts'

const conceptId = id.describe('Number of a concept, from 1')
const link = z.lazy(() =>
  z.strictObject({
    concept_id: id.describe('Number of the concept'),
    file_url: z.string().describe('URL of the file it comes from'),
  }),
)

const create = handler({
  path: '/mind/provenance/create',
  summary: 'Say that a concept comes from a file',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ concept_id: conceptId, file_url: fileUrl }),
  result: () => link,
  async run(call, { concept_id: concept, file_url: url }) {
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      putProvenance(writer, mustOwn(call, look(call), concept, ['concept_id']), url)
    })
    return { result: { concept_id: concept, file_url: url } }
  },
})

const list = handler({
  path: '/mind/provenance/list',
  summary: 'List links of concepts to files, of one concept or file if named',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      concept_id: id.nullish().describe('Only of the concept of this number. Default: of all'),
      file_url: text.nullish().describe('Only to the file of exactly this URL. Default: to all'),
    }),
  result: () =>
    z.strictObject({ links: z.array(link).describe('By concept, then URL'), total: total.describe('Their number') }),
  run(call, { concept_id: concept, file_url: url }) {
    const where = { ...(concept ? { concept } : {}), ...(url ? { url } : {}) }
    const links = seenLinks(call.host.store.table(PROVENANCE).scan(where), look(call))
    return { result: { links, total: links.length } }
  },
})

const remove = handler({
  path: '/mind/provenance/delete',
  summary: 'Unlink a concept from a file, or (without concept_id) all concepts from it',
  effect: 'destroy',
  needs: ['mind'],
  params: () =>
    z.object({
      concept_id: id.nullish().describe('Only the concept of this number. Default: all concepts of the file'),
      file_url: fileUrl,
    }),
  result: () => z.strictObject({ deleted: total.describe('Links that were deleted') }),
  async run(call, { concept_id, file_url: url }) {
    const concept = concept_id ?? null
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
})

export const PROVENANCE_HANDLERS = [create, list, remove] as const

/** By concept, then URL. */
function seenLinks(rows: readonly Row[], { concepts }: Look): { concept_id: number; file_url: string }[] {
  return rows
    .map(row => ({ concept_id: row['concept'] as number, file_url: row['url'] as string }))
    .filter(({ concept_id }) => concepts.byId(concept_id) !== undefined)
    .sort((a, b) => a.concept_id - b.concept_id || compareText(a.file_url, b.file_url))
}
