/** Writes and reads of edges. Each is signed by its owner's key: by this node for agents that have none of their own. */
import type { Instant } from '../../../base/clock.ts'
import { isSigned, sign } from '../../../base/sealed.ts'
import type { Steps } from '../../../base/turns.ts'
import { type Verifier, verifierOf } from '../../../identity/keys.ts'
import { CLOCK_TOLERANCE_MS, isStatementOf, signStatement } from '../../../identity/messages.ts'
import type { Row } from '../../../model/table.ts'
import { tablePages } from '../../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { wrong } from '../errors.ts'
import { TRUST } from '../tables.ts'
import { didOfAgent, ensureKeys, noteEdges } from './agent-facts.ts'
import {
  type EdgeFault,
  edgeOf,
  edgeStatement,
  faultOf,
  rowOf,
  type TrustEdge,
  type UnsignedEdge,
  usesIn,
} from './edge.ts'

/** An edge that is not used, and why: for the doctor and the log, never for requesters. */
export interface EdgeWarning {
  readonly owner: string
  readonly target: string
  /** `row`: unreadable. `key`: its owner's key is not known. */
  readonly reason: EdgeFault | 'row' | 'key' | 'signature'
}

type CheckedEdge = { readonly edge: TrustEdge } | { readonly warning: EdgeWarning }

const SECRET = 'beliefs.edge_seal'
const SECRET_BYTES = 32

/**
 * Whether a stored edge is what its owner signed. A signature takes a tenth of a millisecond to check, which for 200,000
 * edges is twenty seconds; so the store seals each row whose signature it has checked, and a seal takes microseconds. A
 * seal is over the row and the key it was checked with: change either, and the signature is looked at again.
 */
export class EdgeChecker {
  readonly #reader: StoreReader
  readonly #secret: string | undefined
  readonly #dids = new Map<string, string | null>()
  readonly #verifiers = new Map<string, Verifier | null>()

  /** `trustSeals` false: every signature is checked, as the doctor does. For as long as the reader is open. */
  constructor(reader: StoreReader, { trustSeals = true }: { readonly trustSeals?: boolean } = {}) {
    this.#reader = reader
    this.#secret = trustSeals ? reader.meta(SECRET) : undefined
  }

  check(row: Row): CheckedEdge {
    const edge = edgeOf(row)
    const reason = edge === null ? 'row' : (faultOf(edge) ?? this.#signatureFault(edge, row))
    if (edge !== null && reason === null) return { edge }
    return { warning: { owner: row['owner'] as string, target: row['target'] as string, reason: reason ?? 'row' } }
  }

  #signatureFault(edge: TrustEdge, row: Row): 'key' | 'signature' | null {
    const did = this.#didOf(edge.owner)
    if (did === null) return 'key'
    const seal = row['checked']
    if (this.#secret !== undefined && typeof seal === 'string' && isSigned(this.#secret, sealed(row, did), seal)) {
      return null
    }
    let verifier = this.#verifiers.get(did)
    if (verifier === undefined) {
      verifier = verifierOf(did)
      this.#verifiers.set(did, verifier)
    }
    if (verifier === null) return 'key'
    return isStatementOf(verifier, edgeStatement(edge), edge.signature) ? null : 'signature'
  }

  #didOf(owner: string): string | null {
    const known = this.#dids.get(owner)
    if (known !== undefined) return known
    const did = didOfAgent(this.#reader, owner)
    this.#dids.set(owner, did)
    return did
  }
}

/** The row with the seal on it: for a row whose signature by this key was just made or checked. */
export function seal(writer: StoreWriter, row: Row, did: string, random: (bytes: number) => Uint8Array): Row {
  let secret = writer.meta(SECRET)
  if (secret === undefined) {
    secret = Buffer.from(random(SECRET_BYTES)).toString('base64url')
    writer.setMeta(SECRET, secret)
  }
  return { ...row, checked: sign(secret, sealed(row, did)) }
}

function sealed(row: Row, did: string): string {
  const { owner, target, level, domains, basis, signature } = row
  const { created_at: created, updated_at: updated, persistent, exposure } = row
  return JSON.stringify([owner, target, level, domains, basis, created, updated, persistent, exposure, signature, did])
}

/** Every edge that is not used, each signature checked again: a tenth of a millisecond an edge, a step for each. */
export function* checkAllEdges(reader: StoreReader): Steps<readonly EdgeWarning[]> {
  const checker = new EdgeChecker(reader, { trustSeals: false })
  const warnings: EdgeWarning[] = []
  for (const row of edgeRows(reader)) {
    const checked = checker.check(row)
    if ('warning' in checked) warnings.push(checked.warning)
    yield
  }
  return warnings
}

/** All, by owner and target. */
export function* edgeRows(reader: StoreReader): Generator<Row> {
  for (const rows of tablePages(reader, TRUST, EDGE_COLUMNS)) yield* rows
}

const EDGE_COLUMNS = TRUST.columns.map(({ name }) => name)

/** Use is written down at most so often (BQ-072): a write a question would cost more than the question. */
export const TOUCH_EVERY_MS = 60_000

/** A minute longer than cursors live: what their orders rest on can be worked out again, whatever was used since. */
const USES_KEPT_MS = 16 * 60_000

/** What an agent says of another. */
export interface EdgeDraft {
  readonly target: string
  readonly level: number
  /** By normalised domain. */
  readonly domains: TrustEdge['domains']
  readonly basis: TrustEdge['basis']
  readonly persistent: boolean
  readonly exposure: TrustEdge['exposure']
  /** Null: this node signs, which it can for agents without a key of their own. */
  readonly signed: OwnSignature | null
}

/** Of an agent with a key of its own, over `edgeStatement`. */
interface OwnSignature {
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly signature: string
}

interface EdgeWriting {
  readonly now: Instant
  readonly random: (bytes: number) => Uint8Array
}

/** Makes or replaces the owner's edge to the target. Throws `INVALID_QUERY` for what no owner could say, or did not. */
export function putEdge(writer: StoreWriter, owner: string, draft: EdgeDraft, { now, random }: EdgeWriting): TrustEdge {
  const before = readEdge(writer, owner, draft.target)
  const { signed, ...said } = draft
  const times = signed ?? { createdAt: before?.createdAt ?? now, updatedAt: now }
  const unsigned: UnsignedEdge = { ...said, owner, createdAt: times.createdAt, updatedAt: times.updatedAt }
  const fault = faultOf(unsigned)
  if (fault !== null) throw wrong(...FAULTS[fault])
  const keys = ensureKeys(writer, owner, random)
  if (keys === null && signed === null)
    throw wrong('signature', 'a signature by the key of the agent, which this node does not keep', 'required')
  const did = didOfAgent(writer, owner) as string
  if (signed !== null) checkSigned(unsigned, signed, did, before, now)
  const signature = signed?.signature ?? (keys === null ? '' : signStatement(keys, edgeStatement(unsigned)))
  const edge: TrustEdge = { ...unsigned, signature, lastUsed: now, usedBefore: [] }
  writer.table(TRUST).put(seal(writer, rowOf(edge), did, random))
  noteEdges(writer, [edge])
  return edge
}

/** False when there was none. */
export function removeEdge(writer: StoreWriter, owner: string, target: string): boolean {
  const removed = writer.table(TRUST).delete({ owner, target }) > 0
  if (removed) noteEdges(writer, [{ owner, target }])
  return removed
}

/** Null: there is none, or none that can be read. Its signature is not looked at. */
export function readEdge(reader: StoreReader, owner: string, target: string): TrustEdge | null {
  const row = reader.table(TRUST).get({ owner, target })
  return row === undefined ? null : edgeOf(row)
}

/** The owner was just given something by these agents. Those used a moment ago are left as they are; says how many were not. */
export function touchEdges(writer: StoreWriter, owner: string, targets: readonly string[], now: Instant): number {
  const table = writer.table(TRUST)
  const touched = targets.flatMap(target => {
    const row = table.get({ owner, target })
    if (row === undefined || (row['last_used'] as number) > now - TOUCH_EVERY_MS) return []
    const before = usesBefore([...usesIn(row), row['last_used'] as number], now)
    table.put({ ...row, last_used: now, used_before: JSON.stringify(before) })
    return [{ owner, target }]
  })
  if (touched.length > 0) noteEdges(writer, touched)
  return touched.length
}

/** Those that trust as of some moment not longer ago than that goes by. */
function usesBefore(uses: readonly Instant[], now: Instant): readonly Instant[] {
  const first = uses.findLastIndex(use => use < now - USES_KEPT_MS)
  return uses.slice(Math.max(0, first))
}

function checkSigned(
  edge: UnsignedEdge,
  { signature, updatedAt }: OwnSignature,
  did: string,
  before: TrustEdge | null,
  now: Instant,
): void {
  if (!isStatementOf(did, edgeStatement(edge), signature))
    throw wrong('signature', 'a signature of this statement by the key of the agent', 'signature')
  // An older statement that somebody kept does not replace a newer one.
  const stale = before !== null && updatedAt <= before.updatedAt
  if (stale || updatedAt > now + CLOCK_TOLERANCE_MS)
    throw wrong('updated', 'a time after that of the statement it replaces, and not in the future', 'range')
}

const FAULTS: Readonly<Record<EdgeFault, readonly [path: string, constraint: string, reason: string]>> = {
  self: ['target', 'another agent than its owner', 'self'],
  level: ['trust_level', 'a number from 0 to 1', 'range'],
  domains: ['domain_trust', 'numbers from 0 to 1 by domain', 'range'],
  basis: ['basis', 'a list of {type, confidence}', 'malformed'],
}
