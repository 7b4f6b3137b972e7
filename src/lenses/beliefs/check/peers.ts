/** Checks what the operations on other nodes are given. */
import { publicKeyOf } from '../../../identity/did-key.ts'
import { isFederationName } from '../../../model/partition.ts'
import { checked, type Place } from './faults.ts'
import { listOf, members, uniqueItems } from './shapes.ts'
import { boolean, textUpTo } from './values.ts'

export interface PeerInput {
  /** Undefined: made of its address. */
  readonly id: string | undefined
  /** `http://` or `https://`, a host and perhaps a port. */
  readonly address: string
  /** Undefined: what it says itself. */
  readonly did: string | undefined
  readonly network: boolean
  /** Each once, ascending. */
  readonly federations: readonly string[]
}

/** `peers.add`. Throws INVALID_QUERY with all faults. */
export function checkPeer(input: unknown): PeerInput {
  return checked(input, (value, at) => {
    const given = members(value, at, PEER, { required: ['address'] })
    if (given?.address === undefined) return undefined
    const federations = uniqueItems(given.federations ?? []).toSorted()
    // A node that is asked for nothing else is asked for what is public.
    return {
      ...given,
      address: given.address,
      id: given.id,
      did: given.did,
      network: given.network ?? federations.length === 0,
      federations,
    }
  })
}

/** `peers.probe`. */
export function checkProbe(input: unknown): string | null {
  return checked(input, (value, at) => {
    const given = members(value, at, { id: name })
    return given && { id: given.id ?? null }
  }).id
}

const MOST_FEDERATIONS = 100
const LONGEST_ADDRESS = 300

const PEER = {
  id: name,
  address,
  did: didKey,
  network: boolean,
  federations: listOf(federation, MOST_FEDERATIONS, 'federations'),
}

const NAME = 'a name of 1 to 200 characters without blanks, colons and commas'

function name(value: unknown, at: Place): string | undefined {
  if (typeof value !== 'string') return at.fault('type', NAME, value)
  return isFederationName(value) ? value : at.fault('malformed', NAME, value)
}

function federation(value: unknown, at: Place): string | undefined {
  return name(value, at)
}

const ADDRESS = 'an address such as https://node.example:8787, without a path and without a name or password'

function address(value: unknown, at: Place): string | undefined {
  const text = textUpTo(LONGEST_ADDRESS)(value, at)
  if (text === undefined) return undefined
  if (!URL.canParse(text)) return at.fault('malformed', ADDRESS, value)
  const url = new URL(text)
  const isPlain = /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!isPlain || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return at.fault('malformed', ADDRESS, value)
  return url.origin
}

const DID = 'a did:key of an Ed25519 key, such as did:key:z6Mk…'

function didKey(value: unknown, at: Place): string | undefined {
  if (typeof value !== 'string') return at.fault('type', DID, value)
  return publicKeyOf(value) === null ? at.fault('malformed', DID, value) : value
}
