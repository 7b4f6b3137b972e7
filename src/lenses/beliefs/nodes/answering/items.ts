/** Beliefs as they leave this node: as whoever asks may see them, and public ones signed by who holds them (BQ-123). */
import { canonicalJson, sha256 } from '../../../../base/canonical.ts'
import { Recent } from '../../../../base/recent.ts'
import { signStatement } from '../../../../identity/statement.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import { memberCount } from '../../access/member-count.ts'
import type { ShownBelief, ShowView } from '../../access/show.ts'
import { vectorsOf } from '../../record/vectors.ts'
import type { BeliefsState } from '../../state.ts'
import { didOfAgent, ensureKeys, signingKeys } from '../../trust/agent-keys.ts'
import { beliefStatement, type WireItem, type WireScope } from '../wire/protocol.ts'
import { vectorToText } from '../wire/vectors.ts'

/** Holders of public beliefs that have no key yet get one. A write: not within a read. */
export function makeHolderKeys({ host, columns }: BeliefsState, keys: readonly EntryKey[]): void {
  const { store, random, clock } = host
  const rows = keys.map(key => columns.rowOf(key)).filter(row => row !== -1)
  const holders = [...new Set(rows.map(row => columns.holderOf(row)))]
  const lacking = store.read(reader => holders.filter(holder => didOfAgent(reader, holder) === null))
  if (lacking.length === 0) return
  store.write(clock.now(), writer => {
    for (const holder of lacking) ensureKeys(writer, holder, bytes => random(bytes))
  })
}

/** `sender`: did:key of who asks. What nobody here can sign for is left out: it could not be believed. */
export function itemsOf(
  state: BeliefsState,
  view: ShowView,
  shown: readonly ShownBelief[],
  scope: WireScope,
  sender: string,
): readonly WireItem[] {
  const vectors = vectorsOf(view, shown)
  return shown.flatMap((one, at) => {
    const item = { ...said(one), embedding: embeddingOf(view, vectors[at]) }
    if (scope.kind === 'federated') return [throughFederation(view, one, item, scope.federation, sender)]
    return signedByHolder(state, view, one, item) ?? []
  })
}

type Said = Omit<WireItem, 'visibility' | 'federation_ids' | 'holder_id' | 'member_count' | 'signature'>

function said({ belief }: ShownBelief): Omit<Said, 'embedding'> {
  const { id, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at } = belief
  return { id, content, content_hash, confidence, valid_from, valid_until, derivation, domains, created_at }
}

function embeddingOf({ model }: ShowView, vector: Float32Array | undefined): WireItem['embedding'] {
  return vector === undefined || model === null ? null : { model, values: vectorToText(vector) }
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
