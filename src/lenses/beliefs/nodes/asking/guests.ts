/** Verified items as guests: named as this node names their holders, with vectors of its own model. */
import { sha256 } from '../../../../base/canonical.ts'
import { embeddedText } from '../../../../model/entry.ts'
import { inTime } from '../../../../pipeline/time-limit.ts'
import type { LensHost } from '../../../lens.ts'
import { pseudonymOf } from '../../access/show.ts'
import { modelOf } from '../../embedding.ts'
import type { Belief, BeliefSource } from '../../model.ts'
import { chunkOf } from '../../record/version.ts'
import type { BeliefsState } from '../../state.ts'
import type { TimeLimit } from '../../time-limit.ts'
import type { AskedSource, Guest } from '../guest.ts'
import type { WireItem } from '../wire/protocol.ts'
import { nameOfDid } from './keys.ts'
import { nodeBookOf } from './node-book.ts'
import type { Verified, VerifiedItem } from './verify.ts'

/** Texts that are embedded here for one answer of one node. */
const MOST_EMBEDDED = 64
/** Of the time that is left. */
const EMBEDDING_SHARE = 0.5

export interface Welcome {
  readonly state: BeliefsState
  readonly requester: string
  readonly source: AskedSource
  readonly time: TimeLimit
}

export async function guestsOf(
  welcome: Welcome,
  { items, vectorModel }: Pick<Verified, 'items' | 'vectorModel'>,
): Promise<readonly Guest[]> {
  const model = modelOf(welcome.state.host)
  const vectors = items.map(({ vector }) => (vectorModel === model ? vector : null))
  const made = await embedded(welcome, items, vectors)
  return items.map(({ item }, at) => guestOf(welcome, item, made[at] ?? null, model))
}

function guestOf(welcome: Welcome, item: WireItem, vector: Float32Array | null, model: string | null): Guest {
  const { source } = welcome
  const { is_embedded: _, signature: __, member_count: memberCount, chain, ...said } = item
  const from: BeliefSource = { kind: source.kind, id: source.id }
  const belief: Belief = {
    ...said,
    version: 1,
    holder_id: holderName(welcome, item),
    supersedes: null,
    superseded_by: null,
    embedding_model: vector === null ? null : model,
    deleted_at: null,
  }
  return { node: source.peer.id, source: from, belief, chain, vector, memberCount }
}

/**
 * What a federation's node calls a holder is made a pseudonym, so that no node can use one that another has given, and none can
 * say of anything that the requester holds it: no holder has signed that.
 */
function holderName({ state, requester, source }: Welcome, { holder_id: holder }: WireItem): string | null {
  if (holder === null) return null
  if (source.kind === 'network') return nameOfDid(state.host.store, holder)
  return pseudonymOf(state.secret(), source.id, requester, `${source.peer.did} ${holder}`)
}

/** What came without a vector of this node's model is embedded here, as far as there is time (BQ-031). */
async function embedded(
  { state: { host }, time }: Welcome,
  items: readonly VerifiedItem[],
  vectors: readonly (Float32Array | null)[],
): Promise<readonly (Float32Array | null)[]> {
  const missing = items.flatMap((one, at) => (vectors[at] === null ? [{ at, text: textOf(one.item) }] : []))
  if (missing.length === 0 || host.embedder === null) return vectors
  const kept = nodeBookOf(host).vectors
  const known = missing.map(({ text }) => kept.find(sha256(text))?.vector ?? null)
  const wanted = missing.filter((_, at) => known[at] === null).slice(0, MOST_EMBEDDED)
  const made = await embedTexts(
    host,
    wanted.map(({ text }) => text),
    time,
  )
  const found = [...vectors]
  for (const [at, { at: place }] of missing.entries()) found[place] = known[at] ?? null
  for (const [at, { at: place, text }] of wanted.entries()) {
    const vector = made[at] ?? null
    found[place] = vector
    if (vector !== null) kept.get(sha256(text), () => ({ vector }))
  }
  return found
}

/** Nothing where there is no time, or it fails: the guests then rank as beliefs that are not embedded yet. */
async function embedTexts(
  { embedder }: LensHost,
  texts: readonly string[],
  { leftMs, signal }: TimeLimit,
): Promise<readonly Float32Array[]> {
  if (embedder === null || texts.length === 0) return []
  const embed = (late: AbortSignal) => embedder.embed(texts, 'passage', AbortSignal.any([signal, late]))
  return (await inTime(embed, { signal, leftMs: leftMs * EMBEDDING_SHARE }).catch(() => null)) ?? []
}

function textOf(item: WireItem): string {
  return embeddedText({ id: item.id, title: '', content: item.content }, chunkOf(item))
}
