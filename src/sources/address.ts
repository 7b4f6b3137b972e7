import { invalidArgument, QuerentError } from '../model/errors.ts'

export interface ServerAddress {
  readonly protocol: 'http:' | 'https:'
  readonly hostname: string
  readonly port: number
  /** Path prefix of a server's address: empty, or `/prefix` without a slash at the end. */
  readonly path: string
}

/**
 * Parses the address of a server. Throws `invalid_argument` for an invalid address, and for one that contains a user name, password or key,
 * since messages show addresses.
 */
export function serverAddress(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidArgument('url', text, 'an address such as http://localhost:8000')
  }
  if (url.username !== '' || url.password !== '') {
    const problem = 'url: expected an address without user and password; use the token or key'
    throw new QuerentError('invalid_argument', problem, { field: 'url' })
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalidArgument('url', text, 'an address that ends with its path, without ? or #')
  }
  const protocol = url.protocol as ServerAddress['protocol']
  const port = url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { protocol, hostname: url.hostname, port, path: url.pathname.replace(/\/+$/, '') }
}
