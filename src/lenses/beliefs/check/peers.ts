/** Checks what the operations on other nodes are given. */
import { checked, type Place } from './faults.ts'
import { listOf, members, uniqueItems } from './shapes.ts'
import { boolean, did, federationName, textUpTo } from './values.ts'

/** What is undefined was not said: a peer that is known keeps what it has. */
export interface PeerInput {
  /** Default: made from the address. */
  readonly id?: string | undefined
  /** Scheme, host and port alone. */
  readonly address: string
  readonly did?: string | undefined
  readonly network?: boolean | undefined
  /** Ascending. */
  readonly federations?: readonly string[] | undefined
  readonly listed?: boolean | undefined
}

const LONGEST_ADDRESS = 300
const MOST_FEDERATIONS = 100

/** `peers.add`. Throws INVALID_QUERY with all faults. */
export function checkPeer(input: unknown): PeerInput {
  return checked(input, (value, at) => {
    const given = members(value, at, PEER, { required: ['address'] })
    return given?.address === undefined ? undefined : { ...given, address: given.address }
  })
}

/** Of operations on one peer; `optional`: on all of them where it is left out. */
export function checkPeerId(input: unknown): string
export function checkPeerId(input: unknown, needed: 'optional'): string | null
export function checkPeerId(input: unknown, needed?: 'optional'): string | null {
  const required = needed === 'optional' ? [] : ['id']
  return checked(input, (value, at) => members(value, at, { id: federationName }, { required })?.id ?? null)
}

/** `http://` or `https://` with host and port; null: it is no such address. */
export function addressOf(text: string): string | null {
  if (text.length > LONGEST_ADDRESS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const { origin, username, password, pathname, search, hash } = new URL(text)
  const isBare = username === '' && password === '' && pathname === '/' && search === '' && hash === ''
  return isBare && !/[?#]/.test(text) ? origin : null
}

const PEER = { id: federationName, address, did, network: boolean, federations, listed: boolean }

function address(value: unknown, at: Place): string | undefined {
  const given = textUpTo(LONGEST_ADDRESS)(value, at)
  if (given === undefined) return undefined
  const expected = 'an address such as https://node.example:7411, without user name, path and query'
  return addressOf(given) ?? at.fault('malformed', expected, withoutSecrets(given))
}

/** A password in an address is shown nowhere. */
function withoutSecrets(given: string): string {
  return given.replace(/\/\/[^/]*@/, '//…@')
}

function federations(value: unknown, at: Place): readonly string[] | undefined {
  const given = listOf(federationName, MOST_FEDERATIONS, 'federations')(value, at)
  return given && [...uniqueItems(given)].sort()
}
