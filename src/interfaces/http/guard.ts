/**
 * Checks what comes before the body of a request, to keep web pages out. On loopback the local owner needs no token, so a page in a browser
 * on this machine must not get through: neither by a host name of its own that resolves to this machine (DNS rebinding), nor from its own
 * origin. The port is part of an origin, so a page that another program on this machine serves belongs to another site.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'

/** Host names under which this server answers, and the origins of pages that may call it. */
export interface Names {
  /** Whether the server can be reached from this machine only. */
  readonly loopback: boolean
  /** Allowed host names without port, in lower case. If there are none, a server for other machines accepts any name. */
  readonly hosts: readonly string[]
  /** Origins of other sites whose pages may call this server. */
  readonly origins: readonly string[]
}

/** Whether a host name is an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Checks the values of `--allow-host` and `--cors`. Throws `invalid_argument`. */
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

/**
 * Checks the head of a request. Throws `denied` for host names that are not allowed, `invalid_argument` for a request that could be
 * understood in two ways.
 */
export function checkHead(request: Request, names: Names): void {
  checkNames(request, names)
  checkAddress(request.url)
  checkForm(request.headers)
}

/** Checks that the host name and the origin in the request are this server's own or were allowed. */
function checkNames({ url, method, headers }: Request, names: Names): void {
  const host = headers.get('host') ?? ''
  // The request line may also contain a host, which takes precedence over the header (RFC 9112, 3.2.2). Two Host headers are joined by a
  // comma.
  if (host.includes(',') || ![`http://${host}`, url].every(name => isAllowedHost(hostname(name), names))) {
    throw new QuerentError('denied', 'host: it must be a name of this machine, or a host of --allow-host', {
      field: 'host',
    })
  }
  const origin = headers.get('origin')
  if (origin === null ? !isFromOtherOrigin(method, headers) : isAllowedOrigin(origin, host, names)) return
  throw new QuerentError('denied', 'origin: pages of other sites may not call the server, except those of --cors', {
    field: 'origin',
  })
}

/**
 * Whether a page of another origin caused the request. Browsers send no `Origin` for resources that a page loads without reading them, such
 * as images, but say in `sec-fetch-site` how its origin relates to this server's: `same-site` means another port. A link that the user
 * opens in a tab is allowed, because the page that contains it gets nothing of the answer.
 */
function isFromOtherOrigin(method: string, headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return false
  const isLink = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return method !== 'GET' || !isLink
}

/** Throws for escapes (such as %FF) that are not UTF-8; without this check they would be taken literally. */
function checkAddress(url: string): void {
  if (!url.includes('%')) return
  const { pathname, search } = new URL(url)
  for (const [field, text] of [['path', pathname] as const, ['query', search] as const]) {
    try {
      decodeURIComponent(text)
    } catch {
      throw invalidArgument(field, text, 'UTF-8 with escapes of two hexadecimal digits')
    }
  }
}

/** Throws for compressed bodies, which are not decompressed, and for transfer encodings other than `chunked`. */
function checkForm(headers: Headers): void {
  const sent = headers.get('transfer-encoding')
  if (sent !== null && sent.toLowerCase() !== 'chunked') {
    throw invalidArgument('transfer-encoding', sent, 'chunked, or none')
  }
  const packed = headers.get('content-encoding')
  if (packed !== null && packed.toLowerCase() !== 'identity') {
    throw invalidArgument('content-encoding', packed, 'a body that is not compressed')
  }
}

function isAllowedHost(name: string, { loopback, hosts }: Names): boolean {
  if (isLoopback(name) || hosts.includes(name)) return true
  return !loopback && hosts.length === 0
}

/** `https` is accepted for the own host too, because a proxy may have removed the encryption. */
function isAllowedOrigin(origin: string, host: string, { origins }: Names): boolean {
  const own = ['http', 'https'].map(scheme => `${scheme}://${host}`).filter(url => URL.canParse(url))
  return origins.includes(origin) || own.some(url => new URL(url).origin === origin)
}

function hostname(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
