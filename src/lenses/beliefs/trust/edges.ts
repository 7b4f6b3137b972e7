/** Writes and reads trust edges. Each edge is signed by its owner's key; this node signs for agents that have no key of their own. */
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

/** A stored trust edge that is ignored, with the reason. Shown in the log and by the command `doctor`, never to requesters. */
export interface EdgeWarning {
  readonly owner: string
  readonly target: string
  /**
   * Why the edge is ignored: a fault of its statement; `row`: its row is unreadable; `key`: no key of its owner is known; `signature`: its
   * signature is invalid.
   */
  readonly reason: EdgeFault | 'row' | 'key' | 'signature'
}

type CheckedEdge = { readonly edge: TrustEdge } | { readonly warning: EdgeWarning }

const SECRET = 'beliefs.edge_seal'
const SECRET_BYTES = 32

/**
 * Checks that a stored edge is the statement that its owner signed. Checking a signature takes a tenth of a millisecond, so 200,000 edges
 * would take twenty seconds. Therefore the store marks each row whose signature it has checked with a seal, which is checked in
 * microseconds. The seal covers the row and the key: if either changes, the signature is checked again.
 */
export class EdgeChecker {
  readonly #reader: StoreReader
  readonly #secret: string | undefined
  readonly #dids = new Map<string, string | null>()
  readonly #verifiers = new Map<string, Verifier | null>()

  /**
   * The checker may be used while the reader is open. With `trustSeals` false it checks every signature instead of the seals, as the
   * command `doctor` does.
   */
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

/**
 * Adds a seal to an edge's row, which marks its signature as valid. The caller must have just made or checked the signature with this key.
 */
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
 * Checks the signature of every edge, also of those that the store has marked as checked, and returns the edges that do not count because
 * their signature is invalid. It pauses after each edge, a tenth of a millisecond of work, so that other work can run.
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

/** Rows of all trust edges, ordered by owner and target. */
export function* edgeRows(reader: StoreReader): Generator<Row> {
  for (const rows of tablePages(reader, TRUST, EDGE_COLUMNS)) yield* rows
}

const EDGE_COLUMNS = TRUST.columns.map(({ name }) => name)

/**
 * Minimum time in milliseconds between two recorded uses of an edge (BQ-072), because recording each use would take longer than answering
 * the query.
 */
export const TOUCH_EVERY_MS = 60_000

/**
 * Milliseconds for which earlier uses of an edge are kept: one minute longer than cursors are valid, so that the ranking to which a cursor
 * belongs can be computed again, whatever edges were used since.
 */
const USES_KEPT_MS = 16 * 60_000

/** A trust edge as its owner states it, before it is signed and stored. */
export interface EdgeDraft {
  readonly target: string
  readonly level: number
  /** Levels of trust for single domains, by domain in normal form; 0 to 1. */
  readonly domains: TrustEdge['domains']
  readonly basis: TrustEdge['basis']
  readonly persistent: boolean
  readonly exposure: TrustEdge['exposure']
  /** Signature by the owner itself. Null: this node has to sign the edge, which is possible only for an agent without a key of its own. */
  readonly signed: OwnSignature | null
}

/** Signature over `edgeStatement` made by an agent that has a key of its own, with the times that the agent has signed. */
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
 * Creates or replaces the owner's trust edge to the target. Throws `INVALID_QUERY` if the statement is invalid or the signature is not by
 * the owner.
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

/** Removes a trust edge. False: the owner had no edge to the target. */
export function removeEdge(writer: StoreWriter, owner: string, target: string): boolean {
  const removed = writer.table(TRUST).delete({ owner, target }) > 0
  if (removed) noteEdges(writer, [{ owner, target }])
  return removed
}

/** Reads a trust edge without checking its signature. Null: there is no edge, or its row is unreadable. */
export function readEdge(reader: StoreReader, owner: string, target: string): TrustEdge | null {
  const row = reader.table(TRUST).get({ owner, target })
  return row === undefined ? null : edgeOf(row)
}

/**
 * Records that an answer to the owner contained beliefs of these agents, as a use of the owner's edges to them. Edges used within the last
 * minute are left unchanged. Returns the number of changed edges.
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

/** The earlier uses of an edge that must be kept: those within the last `USES_KEPT_MS`, and the last one before that time. */
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
  // A statement must be newer than the one that it replaces, so that nobody can undo a change by sending an old statement once more.
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
