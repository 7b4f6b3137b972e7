/** Writing and reading trust edges. Each is signed by its owner's key. This node signs for agents that have no key of their own. */
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

/** An edge that does not count, and the reason. Shown by the doctor and in the log, never to requesters. */
export interface EdgeWarning {
  readonly owner: string
  readonly target: string
  /** `row`: the row is unreadable. `key`: the key of the owner is unknown. */
  readonly reason: EdgeFault | 'row' | 'key' | 'signature'
}

type CheckedEdge = { readonly edge: TrustEdge } | { readonly warning: EdgeWarning }

const SECRET = 'beliefs.edge_seal'
const SECRET_BYTES = 32

/**
 * Checks that a stored edge is what its owner signed. Checking a signature takes a tenth of a millisecond, so 200,000 edges would take
 * twenty seconds. Therefore the store adds a seal to each row whose signature it has checked; checking a seal takes microseconds. The seal
 * covers the row and the key used for the check: if either changes, the signature is checked again.
 */
export class EdgeChecker {
  readonly #reader: StoreReader
  readonly #secret: string | undefined
  readonly #dids = new Map<string, string | null>()
  readonly #verifiers = new Map<string, Verifier | null>()

  /** The checker is valid while the reader is open. With `trustSeals` false, every signature is checked; the doctor does this. */
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

/** Adds the seal to a row. The signature by this key must just have been made or checked. */
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

/**
 * Checks the signature of every edge again, and returns the edges that do not count. Each edge is one step, and takes a tenth of a
 * millisecond.
 */
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

/** Rows of all edges, ordered by owner and target. */
export function* edgeRows(reader: StoreReader): Generator<Row> {
  for (const rows of tablePages(reader, TRUST, EDGE_COLUMNS)) yield* rows
}

const EDGE_COLUMNS = TRUST.columns.map(({ name }) => name)

/** Minimum time between two recorded uses of an edge (BQ-072). A write for each question would cost more than the question. */
export const TOUCH_EVERY_MS = 60_000

/**
 * Time for which earlier uses are kept: one minute longer than cursors are valid. So the ranking behind a cursor can be computed again,
 * whatever was used since.
 */
const USES_KEPT_MS = 16 * 60_000

/** An edge as its owner states it. */
export interface EdgeDraft {
  readonly target: string
  readonly level: number
  /** Levels of trust by normalised domain. */
  readonly domains: TrustEdge['domains']
  readonly basis: TrustEdge['basis']
  readonly persistent: boolean
  readonly exposure: TrustEdge['exposure']
  /** Signature by the owner itself. Null: this node signs the edge, which is possible only for agents without a key of their own. */
  readonly signed: OwnSignature | null
}

/** Signature over `edgeStatement` by an agent that has its own key. */
interface OwnSignature {
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly signature: string
}

interface EdgeWriting {
  readonly now: Instant
  readonly random: (bytes: number) => Uint8Array
}

/**
 * Makes or replaces the owner's edge to the target. Throws `INVALID_QUERY` if the statement is invalid, or its signature is not by the
 * owner.
 */
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

/** Removes an edge. False: there was none. */
export function removeEdge(writer: StoreWriter, owner: string, target: string): boolean {
  const removed = writer.table(TRUST).delete({ owner, target }) > 0
  if (removed) noteEdges(writer, [{ owner, target }])
  return removed
}

/** Reads an edge without checking its signature. Null: there is no edge, or its row is unreadable. */
export function readEdge(reader: StoreReader, owner: string, target: string): TrustEdge | null {
  const row = reader.table(TRUST).get({ owner, target })
  return row === undefined ? null : edgeOf(row)
}

/**
 * Records that the owner was just given something by these agents. Edges used within the last minute are left unchanged. Returns the number
 * of changed edges.
 */
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

/** Earlier uses that are still needed: those within `USES_KEPT_MS`, and the last one before. */
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
  // An older statement must not replace a newer one, so nobody can send an old one again.
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
