/** Moves a hashtag to another anchor, and every node that carries it to its new place, in one transaction. */
import { z } from 'zod'
import { Recent } from '../../../base/recent.ts'
import { centreOfGravity } from '../../../math/gravity.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { UnknownHashtagError, ValidationError } from '../errors.ts'
import type { Binding, Color } from '../model.ts'
import { NODES } from '../tables.ts'
import {
  type BindingDraft,
  type Bindings,
  checkTarget,
  hashtagsOf,
  isAt,
  type NeighboursOf,
  nodesCarrying,
  type Target,
} from './bindings.ts'
import { countZones, nodeIdOf, violationsOf } from './coordinates.ts'
import { normaliseHashtag } from './hashtag.ts'

export const migration = z.lazy(() =>
  z.strictObject({
    hashtag: z.string().describe('Normalised: #lower-case'),
    from_anchor_id: z.int().min(1).describe('Anchor it left'),
    to_anchor_id: z.int().min(1).describe('Anchor it is bound to now'),
    nodes_updated: z.int().min(0).describe('Nodes that carry it, of all holders, whose colour changed'),
  }),
)
export type Migration = Readonly<z.infer<typeof migration>>

/**
 * To a free anchor of a zone, or to a chosen one; nothing happens when it already sits there. A node's text, times, memory
 * and plug-in columns stay. Throws `migration_invalid` (details.entry_ids) when a node would break the zone rules. Only for
 * the owner: it counts and names nodes of all holders.
 */
export function migrateHashtag(
  host: LensHost,
  bindings: Bindings,
  hashtag: string,
  to: Target,
  neighboursOf?: NeighboursOf,
): Migration {
  const tag = normaliseHashtag(hashtag, 'hashtag')
  const target = checkTarget(to)
  // Near another hashtag may be another anchor of the same zone.
  const isThere = (held: Binding) => target.near === undefined && isAt(held, target)
  const still = bindings.current.resolve(tag)
  if (still !== null && isThere(still)) return moved(still, still, 0)
  return bindings.change((draft, writer) => {
    const from = draft.resolve(tag)
    if (from === null) throw new UnknownHashtagError([tag])
    if (isThere(from)) return moved(from, from, 0)
    // Its own anchor is free to it, where it is to be near another.
    if (target.near !== undefined) draft.free(from)
    const place = draft.placeFor(tag, target)
    if (target.near === undefined) draft.free(from)
    const binding = draft.bind(tag, place)
    if (place === from.anchor_id) return moved(from, from, 0)
    const nodes = nodesCarrying(host, writer, tag)
    mustStayValid(nodes, draft, writer)
    moveNodes(nodes, draft, writer)
    return moved(from, binding, nodes.length)
  }, neighboursOf)
}

function moved(from: Binding, to: Binding, nodes: number): Migration {
  return { hashtag: to.hashtag, from_anchor_id: from.anchor_id, to_anchor_id: to.anchor_id, nodes_updated: nodes }
}

function mustStayValid(nodes: readonly EntryKey[], draft: BindingDraft, writer: StoreWriter): void {
  const broken = nodes.filter(entry => {
    const tags = hashtagsOf(writer, entry)
    const bindings = tags.flatMap(tag => draft.resolve(tag) ?? [])
    return bindings.length < tags.length || violationsOf(countZones(bindings)).length > 0
  })
  if (broken.length === 0) return
  const ids = writer.identities(broken).map(({ id }) => id)
  throw new ValidationError(
    'migration_invalid',
    `hashtag: ${ids.length} nodes would break the zone rules, among them ${ids.slice(0, 3).join(', ')}`,
    { entry_ids: ids },
    undefined,
    { help: 'Choose an anchor of the same zone, or delete these nodes first.' },
  )
}

interface Place {
  readonly color: Color
  readonly node_id: string
  /** JSON, by ascending anchor. */
  readonly hashtags: string
}

/** Sets of hashtags whose place is kept while nodes are moved: many nodes share theirs. */
const KEPT_PLACES = 1000

function moveNodes(nodes: readonly EntryKey[], draft: BindingDraft, writer: StoreWriter): void {
  const table = writer.table(NODES)
  const places = new Recent<string, Place>(KEPT_PLACES)
  for (const entry of nodes) {
    const row = table.get({ entry })
    if (row === undefined) continue
    const before = String(row['hashtags'])
    const { color, node_id, hashtags } = places.get(before, () => placeOf(JSON.parse(before) as string[], draft))
    const [l, a, b] = color
    table.put({ ...row, l, a, b, node_id, hashtags, version: Number(row['version']) + 1 })
    writer.announce(entry)
  }
}

function placeOf(tags: readonly string[], draft: BindingDraft): Place {
  const bindings = tags.flatMap(tag => draft.resolve(tag) ?? []).sort((one, other) => one.anchor_id - other.anchor_id)
  const color = centreOfGravity(bindings)
  return { color, node_id: nodeIdOf(color), hashtags: JSON.stringify(bindings.map(({ hashtag }) => hashtag)) }
}
