/**
 * Keeps web pages out. On loopback the local owner needs no token, so a page in a browser on this machine must not get
 * through: neither with a name of its own that points here (DNS rebinding), nor from its own origin.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'

/** What a request may call this server, and from which pages it may come. */
export interface Names {
  /** Whether only this machine can connect. */
  readonly loopback: boolean
  /** Host names without a port, lower case. Without any, a server for other machines is called what it is called. */
  readonly hosts: readonly string[]
  /** Origins of other sites whose pages are answered. */
  readonly origins: readonly string[]
}

/** Addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Checks what `--allow-host` and `--cors` were given. Throws `invalid_argument`. */
export function namesOf(loopback: boolean, hosts: readonly string[], origins: readonly string[]): Names {
  for (const host of hosts) {
    if (host === '' || hostname(`http://${host}`) !== host.toLowerCase()) {
      throw invalidArgument('--allow-host', host, 'a host name without scheme, port and path')
    }
  }
  for (const origin of origins) {
    if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw invalidArgument('--cors', origin, 'an origin such as https://notes.example, without a path')
    }
  }
  return { loopback, hosts: hosts.map(host => host.toLowerCase()), origins }
}

/** Throws `denied` unless the names that the request gives, to us and to its page, are ours or were allowed. */
export function checkNames(headers: Headers, names: Names): void {
  const host = headers.get('host') ?? ''
  if (!isAllowedHost(hostname(`http://${host}`), names)) {
    throw new QuerentError('denied', 'host: only names of this machine are answered, and those of --allow-host', {
      field: 'host',
    })
  }
  const origin = headers.get('origin')
  if (origin === null || isAllowedOrigin(origin, host, names)) return
  throw new QuerentError('denied', 'origin: pages of other sites are not answered, but those of --cors', {
    field: 'origin',
  })
}

function isAllowedHost(name: string, { loopback, hosts }: Names): boolean {
  if (isLoopback(name) || hosts.includes(name)) return true
  return !loopback && hosts.length === 0
}

function isAllowedOrigin(origin: string, host: string, { loopback, origins }: Names): boolean {
  if (origins.includes(origin) || origin === `http://${host}` || origin === `https://${host}`) return true
  return loopback && isLoopback(hostname(origin))
}

function hostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
