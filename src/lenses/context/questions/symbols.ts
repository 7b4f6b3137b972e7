/** `/context/definition`, `/context/references` and `/context/callers`: where a name is, and who uses it. */
import type { EntryKey } from '../../../model/entry.ts'
import { LineStarts } from '../../../text/lines.ts'
import type { Handler } from '../call.ts'
import { brief } from '../mind/look.ts'
import { textsOf } from '../query/previews.ts'
import { NUMBER, TEXT } from '../schemas.ts'
import { CONCEPTS } from '../tables.ts'
import { NAMED, place, readNamed } from './named.ts'
import { reach } from './reach.ts'

const MOST = 1000

const definition: Handler = {
  path: '/context/definition',
  summary: 'Show where a name is defined: place, signature, documentation and text',
  effect: 'read',
  params: { ...NAMED, limit: { ...NUMBER, description: 'Default 10' } },
  async run(call, params) {
    const { seen, concepts, more: limit } = readNamed(call, params, reader => reader.clamped('limit', 10, 1, MOST))
    const shown = concepts.slice(0, limit)
    const entries = shown.map(({ entry }) => entry)
    const rows = call.host.store.table(CONCEPTS).scan({}, { entries, columns: ['entry', 'signature', 'doc'] })
    const told = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
    const texts = await textsOf(call, seen, [...new Set(shown.flatMap(({ url }) => url ?? []))])
    const definitions = shown.map(concept => {
      const { url, startLine, endLine } = concept
      const text = url === null || startLine === null ? undefined : texts.get(url)
      return {
        ...brief(concept),
        ...place(concept),
        signature: (told.get(concept.entry)?.['signature'] ?? null) as string | null,
        doc: (told.get(concept.entry)?.['doc'] ?? null) as string | null,
        text: text === undefined ? null : new LineStarts(text).between(startLine ?? 1, endLine ?? 1),
      }
    })
    return { result: { definitions, total: concepts.length } }
  },
}

const references: Handler = {
  path: '/context/references',
  summary: 'List what refers to a concept, and how',
  effect: 'read',
  params: {
    ...NAMED,
    relation: { ...TEXT, description: 'Only links of this kind' },
    limit: { ...NUMBER, description: 'Default 100' },
  },
  run(call, params) {
    const { seen, links, concepts, more } = readNamed(call, params, reader => ({
      relation: reader.optionalText('relation'),
      limit: reader.clamped('limit', 100, 1, MOST),
    }))
    const scope = { partitions: seen.sight.partitions }
    const found = concepts.flatMap(of =>
      links.in(of.id, scope).flatMap(({ node, relation: number }) => {
        const relation = links.relationName(number)
        const concept = seen.concepts.byId(node)
        if (concept === undefined || !(more.relation === null || more.relation === relation)) return []
        return [{ ...brief(concept), relation, of: of.id, ...place(concept) }]
      }),
    )
    return { result: { of: concepts.map(brief), references: found.slice(0, more.limit), total: found.length } }
  },
}

const callers: Handler = {
  path: '/context/callers',
  summary: 'List what calls a function, directly or through others',
  effect: 'read',
  params: {
    ...NAMED,
    depth: { ...NUMBER, description: 'Calls in a row, 1 to 5; default 1' },
    limit: { ...NUMBER, description: 'Default 100' },
  },
  run(call, params) {
    const { seen, links, concepts, more } = readNamed(call, params, reader => ({
      depth: reader.clamped('depth', 1, 1, 5),
      limit: reader.clamped('limit', 100, 1, MOST),
    }))
    const found = reach(seen, links, concepts, { depth: more.depth, relations: new Set(['CALLS']) })
    const told = found.map(({ concept, hops, via }) => ({ ...brief(concept), hops, via, ...place(concept) }))
    return { result: { of: concepts.map(brief), callers: told.slice(0, more.limit), total: told.length } }
  },
}

export const SYMBOL_HANDLERS: readonly Handler[] = [definition, references, callers]
