/**
 * Beliefs as they leave this node: as whoever asks may see them, and public ones signed by who holds them (BQ-123). No more than
 * who asked reads of one answer, and always the best (BQ-118).
 */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import { Recent } from '../../../../base/recent.ts'
import { sign } from '../../../../base/signature.ts'
import { signStatement } from '../../../../identity/statement.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import { memberCount } from '../../access/member-count.ts'
import type { ShownBelief, ShowView } from '../../access/show.ts'
import { vectorsOf } from '../../record/vectors.ts'
import type { BeliefsState } from '../../state.ts'
import { didOfAgent, ensureKeys, signingKeys } from '../../trust/agent-facts.ts'
import {
  beliefStatement,
  mostAnswerBytes,
  type WireAnswer,
  type WireItem,
  type WireScope,
  type WireVectors,
} from '../wire/protocol.ts'
import { vectorsToText } from '../wire/vectors.ts'

/** Holders of public beliefs that have no key yet get one. A write: not within a read. */
export async function makeHolderKeys({ host, columns }: BeliefsState, keys: readonly EntryKey[]): Promise<void> {
  const { store, random, clock } = host
  const rows = keys.map(key => columns.rowOf(key)).filter(row => row !== -1)
  const holders = [...new Set(rows.map(row => columns.holderOf(row)))]
  const lacking = store.read(reader => holders.filter(holder => didOfAgent(reader, holder) === null))
  if (lacking.length === 0) return
  await store.writeWhenFree(clock.now(), writer => {
    for (const holder of lacking) ensureKeys(writer, holder, bytes => random(bytes))
  })
}

interface Asking {
  readonly scope: WireScope
  /** did:key of who asks. */
  readonly sender: string
  /** Items that are asked for. */
  readonly limit: number
}

/** What nobody here can sign for is left out: it could not be believed. `isCut`: not all fit into one answer. */
export function itemsOf(
  state: BeliefsState,
  view: ShowView,
  shown: readonly ShownBelief[],
  { scope, sender, limit }: Asking,
): Pick<WireAnswer, 'items' | 'vectors'> & { readonly isCut: boolean } {
  const vectors = vectorsOf(view, shown)
  const told = shown.flatMap((one, at) => {
    const item = said(one, chainName(view, one, scope), vectors[at] !== undefined)
    const whole =
      scope.kind === 'federated'
        ? throughFederation(view, one, item, scope.federation, sender)
        : signedByHolder(state, view, one, item)
    return whole === null ? [] : [{ text: JSON.stringify(whole), vector: vectors[at] }]
  })
  const kept = fitting(told, limit)
  return {
    items: `[${kept.map(({ text }) => text).join()}]`,
    vectors: wireVectors(
      view.model,
      kept.flatMap(({ vector }) => vector ?? []),
    ),
    isCut: kept.length < told.length,
  }
}

function wireVectors(model: string | null, vectors: readonly Float32Array[]): WireVectors | null {
  const dimensions = vectors[0]?.length
  if (model === null || dimensions === undefined) return null
  return { model, dimensions, values: vectorsToText(vectors) }
}

type Said = Omit<WireItem, 'visibility' | 'federation_ids' | 'holder_id' | 'member_count' | 'signature'>

function said({ belief }: ShownBelief, chain: string, isEmbedded: boolean): Said {
  const { id, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at } = belief
  return {
    ...{ id, chain, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at },
    is_embedded: isEmbedded,
  }
}

/** Keyed, so that neither holder nor first version can be told from it. */
function chainName(view: ShowView, { version: { holder, chain } }: ShownBelief, { federation }: WireScope): string {
  return sign(view.secret(), canonicalJson(['chain', federation, view.requester.id, holder, chain]))
}

function throughFederation(
  { columns, requester }: ShowView,
  { entry, belief }: ShownBelief,
  item: Said,
  federation: string,
  sender: string,
): WireItem {
  return {
    ...item,
    visibility: 'federated',
    federation_ids: [federation],
    holder_id: belief.holder_id === requester.id ? sender : belief.holder_id,
    member_count: memberCount(columns, requester, columns.rowOf(entry), federation),
    signature: null,
  }
}

function signedByHolder(
  state: BeliefsState,
  { reader }: ShowView,
  { version }: ShownBelief,
  item: Said,
): WireItem | null {
  const { holder } = version
  const did = didOfAgent(reader, holder)
  if (did === null) return null
  const open: WireItem = {
    ...item,
    visibility: 'public',
    federation_ids: [],
    holder_id: did,
    member_count: null,
    signature: null,
  }
  const statement = beliefStatement(open)
  const kept = signaturesOf(state)
  const name = sha256(canonicalJson(statement))
  const known = kept.find(name)
  if (known !== undefined) return { ...open, signature: known }
  const keys = signingKeys(reader, holder)
  if (keys === null) return null
  return { ...open, signature: kept.get(name, () => signStatement(keys, statement)) }
}

/** Signatures that were made, by what they are over: the key is named in it. */
const SIGNATURES = new WeakMap<BeliefsState, Recent<string, string>>()
const MOST_SIGNATURES = 50_000

function signaturesOf(state: BeliefsState): Recent<string, string> {
  const known = SIGNATURES.get(state)
  if (known !== undefined) return known
  const made = new Recent<string, string>(MOST_SIGNATURES)
  SIGNATURES.set(state, made)
  return made
}

/** Of an answer beside its items and vectors. */
const FRAME_BYTES = 65_536
/** Of one UTF-16 unit of JSON that is written as JSON once more. */
const MOST_BYTES_A_UNIT = 3

interface Part {
  /** JSON of an item. */
  readonly text: string
  readonly vector: Float32Array | undefined
}

/** `limit`: items that were asked for. */
function fitting<T extends Part>(parts: readonly T[], limit: number): readonly T[] {
  const most = mostAnswerBytes(limit) - FRAME_BYTES
  const atMost = parts.reduce((sum, part) => sum + MOST_BYTES_A_UNIT * part.text.length + vectorBytes(part), 0)
  if (atMost <= most) return parts
  let left = most
  const end = parts.findIndex(part => {
    left -= Buffer.byteLength(JSON.stringify(part.text)) + vectorBytes(part)
    return left < 0
  })
  return end === -1 ? parts : parts.slice(0, end)
}

/** In base64. */
function vectorBytes({ vector }: Part): number {
  return vector === undefined ? 0 : Math.ceil(vector.byteLength / 3) * 4
}
