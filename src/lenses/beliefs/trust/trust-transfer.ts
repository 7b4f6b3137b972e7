/**
 * Exports and imports trust edges. Private keys never leave the store that made them, so statements that a store signed for its agents are
 * exported without a signature, and the importing store signs them with its own keys. It cannot sign for an agent that has a key of its
 * own; edges of that agent are valid only with the agent's own signature.
 */
import { signStatement } from '../../../identity/messages.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { Row } from '../../../model/table.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { ImportContext, LensImport, LensTransfer } from '../../lens.ts'
import { TRUST } from '../tables.ts'
import { didOfAgent, type EdgeName, ensureKeys, noteEdges, raiseRevision, signingKeys } from './agent-facts.ts'
import { edgeOf, edgeStatement, faultOf } from './edge.ts'
import { EdgeChecker, seal } from './edges.ts'

/** Value in place of a signature, by which an exported edge asks the importing store to sign it. */
const TO_SIGN = ''

export const BELIEFS_TRANSFER: LensTransfer = {
  exportRow: (reader, table, row) => {
    if (table === AGENTS.name) return signingKeys(reader, row['id'] as string) === null ? row : { ...row, did: null }
    return table === TRUST.name ? exportedEdge(reader, row) : row
  },
  beginImport: (writer, context) => new BeliefsImport(writer, context),
}

/**
 * The row of a trust edge as it is exported. An invalid edge keeps its signature, so that it stays invalid in the importing store. The seal
 * is removed, because it is valid only in the store that made it.
 */
function exportedEdge(reader: StoreReader, row: Row): Row {
  const isSignedHere =
    signingKeys(reader, row['owner'] as string) !== null && 'edge' in new EdgeChecker(reader).check(row)
  return { ...row, checked: null, ...(isSignedHere && { signature: TO_SIGN }) }
}

class BeliefsImport implements LensImport {
  readonly #writer: StoreWriter
  readonly #context: ImportContext
  readonly #edges: EdgeName[] = []
  readonly #agents: string[] = []
  #unused = 0

  constructor(writer: StoreWriter, context: ImportContext) {
    this.#writer = writer
    this.#context = context
  }

  row(table: string, row: Row): Row {
    if (table === AGENTS.name) {
      this.#agents.push(row['id'] as string)
      return { ...row, did: this.#didOfAgent(row) }
    }
    return table === TRUST.name ? this.#edge(row) : row
  }

  /** An import never replaces the key of an existing agent; otherwise signatures by somebody else's key would count as the agent's. */
  #didOfAgent(row: Row): string | null {
    const known = didOfAgent(this.#writer, row['id'] as string)
    const given = (row['did'] ?? null) as string | null
    const id = JSON.stringify(row['id'])
    if (given !== null && known !== null && given !== known)
      throw invalidArgument(
        'did',
        given,
        `the key ${known}, which the agent ${id} has here; import it into another home`,
      )
    const did = given ?? known
    const others = did === null ? [] : this.#writer.table(AGENTS).scan({ did }, { columns: ['id'] })
    const other = others.find(({ id }) => id !== row['id'])
    if (other === undefined) return did
    throw invalidArgument('did', did, `a key that no other agent here has, and ${JSON.stringify(other['id'])} has it`)
  }

  #edge(row: Row): Row {
    const { owner, target } = row as { owner: string; target: string }
    this.#edges.push({ owner, target })
    const unsealed = { ...row, checked: null }
    const edge = edgeOf(unsealed)
    const keys =
      edge?.signature === TO_SIGN ? ensureKeys(this.#writer, owner, bytes => this.#context.random(bytes)) : null
    const signed =
      edge === null || keys === null ? unsealed : { ...unsealed, signature: signStatement(keys, edgeStatement(edge)) }
    const did = didOfAgent(this.#writer, owner)
    const isUsed = edge !== null && faultOf(edge) === null && 'edge' in new EdgeChecker(this.#writer).check(signed)
    if (isUsed && did !== null) return seal(this.#writer, signed, did, bytes => this.#context.random(bytes))
    this.#unused += 1
    return signed
  }

  end(): readonly string[] {
    for (const agent of this.#agents) {
      if (didOfAgent(this.#writer, agent) === null)
        ensureKeys(this.#writer, agent, bytes => this.#context.random(bytes))
    }
    // The log of changed edges and the change counters are not imported. The changes made by the import are recorded here instead, so that
    // other processes notice them.
    raiseRevision(this.#writer, 'agents')
    raiseRevision(this.#writer, 'members')
    if (this.#edges.length > 0) noteEdges(this.#writer, this.#edges)
    if (this.#unused === 0) return []
    const count = this.#unused === 1 ? '1 statement of trust is' : `${this.#unused} statements of trust are`
    return [
      `${count} not used, because a signature by the agent's key is missing; \`querent doctor\` shows whose, and what to do`,
    ]
  }
}
