/**
 * Whether a stored edge is what its owner signed. A signature takes a tenth of a millisecond to check, which for 200,000
 * edges is twenty seconds; so the store seals each row whose signature it has checked, and a seal takes microseconds. A
 * seal is over the row and the key it was checked with: change either, and the signature is looked at again.
 */
import { isSigned, sign } from '../../../base/signature.ts'
import type { Steps } from '../../../base/turns.ts'
import { type Verifier, verifierOf } from '../../../identity/keys.ts'
import { isStatementOf } from '../../../identity/statement.ts'
import type { Row } from '../../../model/table.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { TRUST } from '../tables.ts'
import { didOfAgent } from './agent-keys.ts'
import { type EdgeFault, edgeOf, edgeStatement, faultOf, type TrustEdge } from './edge.ts'

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

/** Some milliseconds of work. */
const PAGE = 500

/** All, by owner and target. */
export function* edgeRows(reader: StoreReader): Generator<Row> {
  const table = reader.table(TRUST)
  for (let after: Row | undefined; ; ) {
    const rows = table.scan({}, { limit: PAGE, after })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { owner: last['owner'] as string, target: last['target'] as string }
  }
}
